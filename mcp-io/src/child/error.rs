//! Why a process could not be started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::lookup;

/// A process could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    NotFound {
        /// As it was named.
        program: OsString,
        /// The folders that were searched: those of the child's PATH. Empty if the program was named by a path.
        searched: Vec<PathBuf>,
    },
    /// The program is there and cannot be run: it is a script whose interpreter is not there, or it wants a loader that
    /// is not.
    NoInterpreter {
        /// The program's path.
        program: PathBuf,
    },
    /// The program may not be run.
    PermissionDenied {
        /// The program's path, or its name.
        program: PathBuf,
    },
    /// The folder to start in is not there, or is no folder, or may not be entered.
    CurrentDir {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Anything else: too many processes or open files, no memory.
    Other {
        /// As it was named.
        program: OsString,
        /// What the system said.
        error: io::Error,
    },
}

impl SpawnError {
    /// Finds out what the system meant when it refused to start `program`.
    pub(super) fn explain(
        error: io::Error,
        program: &OsStr,
        dir: Option<&Path>,
        path: Option<&OsStr>,
    ) -> Self {
        let other = |error| Self::Other {
            program: program.into(),
            error,
        };
        if !matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::NotADirectory
        ) {
            return other(error);
        }
        // `.` in it: a file is no folder, and a folder has to be entered to be started in.
        if let Some(dir) = dir
            && let Err(error) = dir.join(".").metadata()
        {
            let dir = dir.into();
            return Self::CurrentDir { dir, error };
        }
        let found = lookup::find(program, dir, path);
        if error.kind() == io::ErrorKind::PermissionDenied {
            let program = found.unwrap_or_else(|| program.into());
            return Self::PermissionDenied { program };
        }
        match found {
            Some(program) => Self::NoInterpreter { program },
            None => Self::NotFound {
                program: program.into(),
                searched: if lookup::is_path(program) {
                    Vec::new()
                } else {
                    path.map(|path| std::env::split_paths(path).collect())
                        .unwrap_or_default()
                },
            },
        }
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { program, searched } => {
                write!(f, "there is no program {}", program.display())?;
                for (index, dir) in searched.iter().enumerate() {
                    let before = if index == 0 { " in " } else { ", " };
                    write!(f, "{before}{}", dir.display())?;
                }
                Ok(())
            }
            Self::NoInterpreter { program } => write!(
                f,
                "{} is there, but the interpreter or loader that it names is not",
                program.display()
            ),
            Self::PermissionDenied { program } => {
                write!(f, "{} may not be run", program.display())
            }
            Self::CurrentDir { dir, error } => {
                write!(f, "cannot start in the folder {}: {error}", dir.display())
            }
            Self::Other { program, error } => {
                write!(f, "cannot start {}: {error}", program.display())
            }
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::CurrentDir { error, .. } | Self::Other { error, .. } => Some(error),
            Self::NotFound { .. } | Self::NoInterpreter { .. } | Self::PermissionDenied { .. } => {
                None
            }
        }
    }
}

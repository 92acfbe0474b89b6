//! Skills on the disk.

use core::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    FrontmatterError, MAX_BYTES, MAX_FILES, SKILL_MD, Skill, SkillFault, SkillFile, SkillFiles,
    digest, frontmatter,
};

/// As many bytes as all skills of a server may have together.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// As many files and directories.
const MOST_FILES: usize = 65_536;

/// And nest so deep.
const DEEPEST: usize = 32;

/// Skills that a server serves: read once, when they are loaded, so that what is said of them stays true and nothing that
/// happens on the disk later can be read through the server.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    pub(super) skills: Vec<Skill>,
    pub(super) files: Vec<File>,
    /// The paths of directories, below the root.
    pub(super) directories: Vec<String>,
}

/// A file of some skill.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// From the root, with slashes.
    pub(super) path: String,
    pub(super) bytes: Arc<[u8]>,
}

/// Why skills cannot be served.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkillsError {
    /// Something could not be read.
    #[non_exhaustive]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A symbolic link, a device or the like: only files and directories are served.
    Kind(PathBuf),
    /// A name that is no plain text, or begins with a dot.
    Name(PathBuf),
    /// More files, more bytes or deeper than is served.
    TooLarge(PathBuf),
    /// A `SKILL.md` whose frontmatter cannot be read.
    Frontmatter(PathBuf, FrontmatterError),
    /// A skill that breaks a rule.
    Skill(PathBuf, SkillFault),
}

impl fmt::Display for SkillsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Kind(path) => write!(f, "{} is neither a file nor a directory", path.display()),
            Self::Name(path) => write!(f, "{} has a name that is not served", path.display()),
            Self::TooLarge(path) => write!(f, "{} is too large to be served", path.display()),
            Self::Frontmatter(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Skill(path, fault) => write!(f, "{}: {fault}", path.display()),
        }
    }
}

impl core::error::Error for SkillsError {}

impl Skills {
    /// The skills below a directory, each a directory with a `SKILL.md`; what is in no skill is not served. Links are not
    /// followed: one that is found is an error, as is anything else that could make this serve what it was not meant to.
    ///
    /// # Errors
    ///
    /// Something cannot be read or is not served, or a skill breaks a rule: [`SkillsError`] says which.
    pub fn from_directory(root: impl AsRef<Path>) -> Result<Self, SkillsError> {
        let mut found = Found::default();
        found.walk(root.as_ref(), "", 0)?;
        Self::of(found, root.as_ref())
    }

    /// The same of files that are in the program: each with its path, such as `greeting/SKILL.md`.
    ///
    /// # Errors
    ///
    /// A path or a file is not served, or a skill breaks a rule.
    pub fn from_files<P: Into<String>, B: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Result<Self, SkillsError> {
        let mut found = Found::default();
        for (path, bytes) in files {
            let (path, bytes): (String, Vec<u8>) = (path.into(), bytes.into());
            let place = || PathBuf::from(&path);
            if !path.split('/').all(is_plain) {
                return Err(SkillsError::Name(place()));
            }
            found.bytes += bytes.len() as u64;
            let full = found.files.len() >= MOST_FILES || found.bytes > MOST_BYTES;
            if full || path.split('/').count() > DEEPEST {
                return Err(SkillsError::TooLarge(place()));
            }
            for (at, _) in path.match_indices('/') {
                let directory = &path[..at];
                if !found.directories.iter().any(|known| known == directory) {
                    found.directories.push(directory.to_owned());
                }
            }
            found.files.push(File {
                path,
                bytes: bytes.into(),
            });
        }
        Self::of(found, Path::new(""))
    }

    fn of(mut found: Found, root: &Path) -> Result<Self, SkillsError> {
        let mut skills = Self::default();
        found.files.sort_by(|one, other| one.path.cmp(&other.path));
        for file in &found.files {
            let Some(directory) = file.path.strip_suffix(SKILL_MD) else {
                continue;
            };
            let Some(directory) = directory.strip_suffix('/').filter(|it| !it.is_empty()) else {
                continue;
            };
            let place = root.join(&file.path);
            let skill = skill(directory, file, &found.files, &place)?;
            skills.skills.push(skill);
        }
        let roots: Vec<String> = skills.skills.iter().filter_map(path_of_skill).collect();
        let in_skill = |path: &str| {
            roots.iter().any(|root| {
                path.strip_prefix(root.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        found.files.retain(|file| in_skill(&file.path));
        found.directories.retain(|path| in_skill(path));
        found.directories.sort();
        skills.files = found.files;
        skills.directories = found.directories;
        Ok(skills)
    }

    /// What is said of each.
    #[must_use]
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }
}

fn path_of_skill(skill: &Skill) -> Option<String> {
    let root = skill.root()?.strip_prefix("skill://")?;
    Some(decoded(root))
}

/// What is below the root.
#[derive(Default)]
struct Found {
    files: Vec<File>,
    directories: Vec<String>,
    bytes: u64,
}

impl Found {
    fn walk(&mut self, directory: &Path, path: &str, depth: usize) -> Result<(), SkillsError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| SkillsError::Io { path, error }
        };
        if depth > DEEPEST {
            return Err(SkillsError::TooLarge(directory.to_owned()));
        }
        for entry in fs::read_dir(directory).map_err(failed(directory))? {
            let entry = entry.map_err(failed(directory))?;
            let place = entry.path();
            let name = entry.file_name();
            let name = name.to_str().filter(|name| is_plain(name));
            let name = name.ok_or_else(|| SkillsError::Name(place.clone()))?;
            let below = match path {
                "" => name.to_owned(),
                path => format!("{path}/{name}"),
            };
            if self.files.len() + self.directories.len() >= MOST_FILES {
                return Err(SkillsError::TooLarge(place));
            }
            // Of the entry itself: a link is not followed.
            let kind = entry.file_type().map_err(failed(&place))?;
            if kind.is_dir() {
                self.directories.push(below.clone());
                self.walk(&place, &below, depth + 1)?;
            } else if kind.is_file() {
                let bytes = read(&place)?;
                self.bytes += bytes.len() as u64;
                if self.bytes > MOST_BYTES {
                    return Err(SkillsError::TooLarge(place));
                }
                self.files.push(File {
                    path: below,
                    bytes: bytes.into(),
                });
            } else {
                return Err(SkillsError::Kind(place));
            }
        }
        Ok(())
    }
}

/// Names that cannot lead elsewhere, or be read in two ways.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name
            .chars()
            .any(|char| char.is_control() || "/\\:".contains(char))
}

/// Reads a file that is no link, and not more of it than is served.
fn read(path: &Path) -> Result<Vec<u8>, SkillsError> {
    let failed = |error| SkillsError::Io {
        path: path.to_owned(),
        error,
    };
    let mut options = fs::OpenOptions::new();
    options.read(true);
    let file = options.open(path).map_err(failed)?;
    // Should it have become a link since it was looked at, what is open is another file than what stands there.
    let (open, there) = (
        file.metadata().map_err(failed)?,
        fs::symlink_metadata(path).map_err(failed)?,
    );
    if !there.is_file() || !is_same(&open, &there) {
        return Err(SkillsError::Kind(path.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(SkillsError::TooLarge(path.to_owned())),
        false => Ok(bytes),
    }
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &fs::Metadata, _: &fs::Metadata) -> bool {
    one.is_file()
}

fn skill(directory: &str, file: &File, files: &[File], place: &Path) -> Result<Skill, SkillsError> {
    let text = core::str::from_utf8(&file.bytes).unwrap_or_default();
    let frontmatter =
        frontmatter(text).map_err(|error| SkillsError::Frontmatter(place.to_owned(), error))?;
    let within = |file: &&File| {
        let path = file.path.strip_prefix(directory);
        path.is_some_and(|path| path.starts_with('/'))
    };
    let files: Vec<_> = files.iter().filter(within).collect();
    if files.len() > MAX_FILES {
        return Err(SkillsError::TooLarge(place.to_owned()));
    }
    let files = files.into_iter().map(|file| SkillFile {
        uri: uri(&file.path),
        digest: digest(&file.bytes),
        size: file.bytes.len() as u64,
    });
    let skill = Skill {
        uri: uri(&file.path),
        frontmatter,
        resources: SkillFiles::Listed(files.collect()),
    };
    let checked = skill.check();
    checked.map_err(|fault| SkillsError::Skill(place.to_owned(), fault))?;
    Ok(skill)
}

/// The URI of something by its path from the root: what a URI cannot have in it is written in hexadecimal.
pub(super) fn uri(path: &str) -> String {
    use core::fmt::Write as _;
    let mut uri = "skill://".to_owned();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// The path that a part of one of our own URIs stands for.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => match (digit(rest.next()), digit(rest.next())) {
                (Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => byte,
            },
            byte => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

//! Where tokens and registrations are kept.

use core::fmt;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::{Secret, encode};

/// Keeps secrets under names: tokens under the URL of their server, with the authorization server that gave them inside;
/// registrations under the issuer of theirs. What is inside is JSON, which only this crate has to understand.
///
/// Calls may block: they are made on a thread where that does no harm. The keyring of the user's system is behind the feature
/// `keyring`, as `KeyringStore`; whatever else keeps secrets, such as a vault, is a type of the program's that implements
/// this.
pub trait TokenStore: Send + Sync {
    /// What is kept under a name.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn get(&self, name: &str) -> io::Result<Option<Secret>>;

    /// Keeps something under a name, or no longer.
    ///
    /// # Errors
    ///
    /// It cannot be written. What was kept before is then still there.
    fn set(&self, name: &str, value: Option<&Secret>) -> io::Result<()>;
}

/// Keeps them for as long as the program runs.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, Secret>>);

impl MemoryStore {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl TokenStore for MemoryStore {
    fn get(&self, name: &str) -> io::Result<Option<Secret>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(name).cloned())
    }

    fn set(&self, name: &str, value: Option<&Secret>) -> io::Result<()> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match value {
            Some(value) => kept.insert(name.to_owned(), value.clone()),
            None => kept.remove(name),
        };
        Ok(())
    }
}

/// Keeps them in a folder, each in a file of its own that only its owner may read or write, and that is replaced as a whole:
/// programs that run at once see the old or the new one, and do not undo each other's.
///
/// They are not encrypted. On Windows the permissions are those of the folder.
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
}

/// The longest file that is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

impl FileStore {
    /// In this folder. It is made when it is needed, for its owner alone.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// In the user's own folder for such things: `mcp/credentials` in `XDG_DATA_HOME`, or in `~/.local/share`; on Windows in
    /// `LOCALAPPDATA`; and there in one for this program, since what a user has permitted one program is not for the next.
    /// `None`: the environment names no such place.
    #[must_use]
    pub fn of_user(program: &str) -> Option<Self> {
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let absolute = |path: &PathBuf| path.is_absolute();
        let data = if cfg!(windows) {
            named("LOCALAPPDATA").filter(absolute)
        } else {
            let home = || Some(named("HOME").filter(absolute)?.join(".local/share"));
            named("XDG_DATA_HOME").filter(absolute).or_else(home)
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let name = if !program.is_empty() && program.len() <= 64 && program.bytes().all(plain) {
            program.to_owned()
        } else {
            encode(&Sha256::digest(program.as_bytes()))
        };
        Some(Self::new(data?.join("mcp/credentials").join(name)))
    }

    fn path(&self, name: &str) -> PathBuf {
        // Names are URLs, and so may be anything.
        let digest = Sha256::digest(name.as_bytes());
        self.folder.join(format!("{}.json", encode(&digest)))
    }

    fn write(&self, path: &Path, value: &Secret) -> io::Result<()> {
        make_folder(&self.folder)?;
        let fresh = path.with_extension(Secret::random(8).expose());
        let written = (|| {
            let mut file = create(&fresh)?;
            file.write_all(value.expose().as_bytes())?;
            file.sync_all()?;
            fs::rename(&fresh, path)
        })();
        if written.is_err() {
            // Nothing is lost if it stays.
            let _ = fs::remove_file(&fresh);
        }
        written
    }
}

impl TokenStore for FileStore {
    fn get(&self, name: &str) -> io::Result<Option<Secret>> {
        let file = match File::open(self.path(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        Ok(Some(Secret::new(text)))
    }

    fn set(&self, name: &str, value: Option<&Secret>) -> io::Result<()> {
        let path = self.path(name);
        let Some(value) = value else {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        self.write(&path, value)
    }
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// A new file that only the owner may read.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

impl fmt::Debug for dyn TokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenStore")
    }
}

//! What a server says of one skill.

use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MAX_BYTES, MAX_FILES, SKILL_MD, digest, frontmatter, is_name};

/// What a server says of one skill: an entry of `skills/list`, and the result of `skills/get`.
///
/// Its uri says which skill of its server it is; the same uri at another server is another skill. Its name is a label.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Skill {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The frontmatter of that, whole.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub resources: SkillFiles,
}

/// The files of a skill.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the two forms of the specification"
)]
pub enum SkillFiles {
    /// All of them, `SKILL.md` among them.
    Listed(Vec<SkillFile>),
    /// They are made when they are read, and nothing can be said of them before. Always the word `dynamic`.
    Dynamic(Dynamic),
}

/// The word `dynamic`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(clippy::exhaustive_enums, reason = "it is one word")]
pub enum Dynamic {
    /// It.
    #[serde(rename = "dynamic")]
    Dynamic,
}

/// A file of a skill.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// Its URI.
    pub uri: String,
    /// The SHA-256 of its bytes: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
}

/// Why a skill, or a file of it, is not to be used.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SkillFault {
    /// The entry breaks a rule: which.
    Entry(&'static str),
    /// More files or bytes than a skill may have.
    TooLarge,
    /// Its files cannot be checked, for they are made when they are read.
    Dynamic,
    /// The file is not among those of the skill.
    Unlisted,
    /// The file does not have the length that was said.
    Size,
    /// Its bytes are not those that were said.
    Digest,
    /// `SKILL.md` is no text with frontmatter, or its frontmatter is not what was said.
    Frontmatter,
}

impl fmt::Display for SkillFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entry(problem) => return write!(f, "the server's entry of the skill {problem}"),
            Self::TooLarge => "the skill has more than 512 files, or more than 16 MiB",
            Self::Dynamic => "the files of the skill cannot be checked",
            Self::Unlisted => "the file is not one of the skill",
            Self::Size => "the file does not have the length that the server said",
            Self::Digest => "the file is not the one that the server said",
            Self::Frontmatter => "the frontmatter of SKILL.md is not what the server said",
        })
    }
}

impl core::error::Error for SkillFault {}

impl Skill {
    /// Its name, which is no identifier: others may have it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> &str {
        self.text("description")
    }

    fn text(&self, name: &str) -> &str {
        let text = self.frontmatter.get(name).and_then(Value::as_str);
        text.unwrap_or_default()
    }

    /// The URI of the directory that it is, without a slash at its end. `None`: the entry breaks a rule.
    #[must_use]
    pub fn root(&self) -> Option<&str> {
        self.uri.strip_suffix(SKILL_MD)?.strip_suffix('/')
    }

    /// Whether the entry is one. To be asked before anything of it is used.
    ///
    /// # Errors
    ///
    /// It breaks a rule, or is larger than skills may be.
    pub fn check(&self) -> Result<(), SkillFault> {
        let fault = |broken, problem| match broken {
            true => Err(SkillFault::Entry(problem)),
            false => Ok(()),
        };
        let root = self.root();
        let root = root.ok_or(SkillFault::Entry(
            "has a URI that does not end in /SKILL.md",
        ))?;
        fault(!is_name(self.name()), "has a name that none may have")?;
        let last = root.rsplit('/').next();
        fault(
            last != Some(self.name()),
            "has a URI that is not that of its name",
        )?;
        let description = self.description();
        fault(description.is_empty(), "has no description")?;
        let SkillFiles::Listed(files) = &self.resources else {
            return Ok(());
        };
        let bytes = files
            .iter()
            .try_fold(0, |sum: u64, file| sum.checked_add(file.size));
        if files.len() > MAX_FILES || bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
            return Err(SkillFault::TooLarge);
        }
        let mut uris: Vec<_> = files.iter().map(|file| file.uri.as_str()).collect();
        uris.sort_unstable();
        let twice = uris.windows(2).any(|pair| pair[0] == pair[1]);
        fault(twice, "names a file twice")?;
        fault(!uris.contains(&&*self.uri), "does not list its SKILL.md")?;
        let within = |uri: &&str| {
            let path = uri
                .strip_prefix(root)
                .and_then(|path| path.strip_prefix('/'));
            path.is_some_and(|path| {
                let up = |it: &str| it.is_empty() || it == "." || it == ".." || it.contains('\\');
                !path.split('/').any(up)
            })
        };
        fault(!uris.iter().all(within), "lists a file outside of it")?;
        let is_digest = |digest: &str| {
            let hex = digest.strip_prefix("sha256:");
            hex.is_some_and(|hex| {
                let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                hex.len() == 64 && hex.bytes().all(digit)
            })
        };
        fault(
            !files.iter().all(|file| is_digest(&file.digest)),
            "has a digest that is none",
        )
    }

    /// Whether what was read of this URI is what the entry says. For `SKILL.md` that includes its frontmatter.
    ///
    /// A match says that the server does not contradict itself; not that it can be trusted.
    ///
    /// # Errors
    ///
    /// It is not, or cannot be checked: it is not to be used.
    pub fn verify(&self, uri: &str, bytes: &[u8]) -> Result<(), SkillFault> {
        let SkillFiles::Listed(files) = &self.resources else {
            return Err(SkillFault::Dynamic);
        };
        let file = files.iter().find(|file| file.uri == uri);
        let file = file.ok_or(SkillFault::Unlisted)?;
        if bytes.len() as u64 != file.size {
            return Err(SkillFault::Size);
        }
        if digest(bytes) != file.digest {
            return Err(SkillFault::Digest);
        }
        if uri != self.uri {
            return Ok(());
        }
        let text = core::str::from_utf8(bytes).ok();
        let found = text.and_then(|text| frontmatter(text).ok());
        match found.as_ref() == Some(&self.frontmatter) {
            true => Ok(()),
            false => Err(SkillFault::Frontmatter),
        }
    }

    /// One value for all of its files and what is said of it: another one means that it has changed.
    pub(super) fn fingerprint(&self) -> String {
        let mut files = match &self.resources {
            SkillFiles::Listed(files) => files.clone(),
            SkillFiles::Dynamic(_) => Vec::new(),
        };
        files.sort_by(|one, other| one.uri.cmp(&other.uri));
        let said = serde_json::json!([self.uri, self.frontmatter, files]);
        digest(said.to_string().as_bytes())
    }
}

//! Skills as a host uses them: nothing is read before it is needed, and nothing is used that is not what was said.

use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_core::model::ResourceContents;
use serde_json::{Value, json};

use super::{Skill, SkillFault};
use crate::client::{CallError, CallOptions, Client};

/// As many pages of a list are read, and as many bytes of them; as many skills are kept.
const PAGES: usize = 1024;
const LIST_BYTES: usize = 16 << 20;
const SKILLS: usize = 4096;

/// A skill whose `SKILL.md` has been read and checked. As long as a host acts on it, it reads through this: files that the
/// entry does not list, or that have changed since, are not to be had.
#[derive(Clone, Debug)]
pub struct HeldSkill {
    client: Client,
    skill: Skill,
    instructions: String,
}

/// Why a skill cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkillError {
    /// The server did not answer, or refused.
    Call(CallError),
    /// Its answer is none.
    Answer(String),
    /// What it serves is not to be used.
    Fault(SkillFault),
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::Answer(problem) => write!(f, "the server's answer is none: {problem}"),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl core::error::Error for SkillError {}

impl From<CallError> for SkillError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<SkillFault> for SkillError {
    fn from(fault: SkillFault) -> Self {
        Self::Fault(fault)
    }
}

fn endless() -> SkillError {
    SkillError::Answer("a list without an end".to_owned())
}

/// Skills of the server, which has to declare [`SKILLS`](super::SKILLS).
impl Client {
    /// What the server says of its skills; it may have more than it lists. No file is read. Entries that break a rule are
    /// left out.
    ///
    /// # Errors
    ///
    /// The server did not answer, or there is no end to it: more than 1024 pages, 4096 skills or 16 MiB.
    pub async fn list_skills(&self) -> Result<Vec<Skill>, SkillError> {
        let mut skills = Vec::new();
        let mut params = json!({});
        let mut left = LIST_BYTES;
        for _ in 0..PAGES {
            let (page, bytes) = self.answer("skills/list", &params).await?;
            left = left.checked_sub(bytes).ok_or_else(endless)?;
            let entries = page["skills"].as_array();
            let entries = entries.ok_or_else(|| SkillError::Answer("no `skills`".to_owned()))?;
            for entry in entries {
                let skill = serde_json::from_value::<Skill>(entry.clone()).ok();
                match skill.filter(|skill| skill.check().is_ok()) {
                    Some(_) if skills.len() == SKILLS => return Err(endless()),
                    Some(skill) => skills.push(skill),
                    None => tracing::debug!("an entry of a skill breaks a rule"),
                }
            }
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(skills),
            }
        }
        Err(endless())
    }

    /// What the server says of one skill, by the URI of its `SKILL.md`.
    ///
    /// # Errors
    ///
    /// There is none, the server did not answer, or what it says breaks a rule.
    pub async fn get_skill(&self, uri: &str) -> Result<Skill, SkillError> {
        let mut answer = self.value("skills/get", &json!({ "uri": uri })).await?;
        let skill = serde_json::from_value::<Skill>(answer["skill"].take())
            .map_err(|error| SkillError::Answer(error.to_string()))?;
        skill.check()?;
        match skill.uri == uri {
            true => Ok(skill),
            false => Err(SkillError::Answer("another skill".to_owned())),
        }
    }

    /// Loads a skill: reads its `SKILL.md` and checks it. A host asks its user before.
    ///
    /// # Errors
    ///
    /// The server did not answer, or what it serves is not what it said.
    pub async fn load_skill(&self, skill: &Skill) -> Result<HeldSkill, SkillError> {
        skill.check()?;
        let bytes = self.skill_file(&skill.uri).await?;
        skill.verify(&skill.uri, &bytes)?;
        let instructions = String::from_utf8(bytes).map_err(|_| SkillFault::Frontmatter)?;
        Ok(HeldSkill {
            client: self.clone(),
            skill: skill.clone(),
            instructions,
        })
    }

    async fn skill_file(&self, uri: &str) -> Result<Vec<u8>, SkillError> {
        let read = self.read_resource(uri).await?;
        let contents = read.contents.iter().next();
        match contents {
            Some(ResourceContents::Text(text)) => Ok(text.text.as_bytes().to_vec()),
            Some(ResourceContents::Blob(blob)) => STANDARD
                .decode(blob.blob.as_bytes())
                .map_err(|error| SkillError::Answer(error.to_string())),
            _ => Err(SkillError::Answer("no contents".to_owned())),
        }
    }

    async fn value(&self, method: &'static str, params: &Value) -> Result<Value, SkillError> {
        let (answer, _) = self.answer(method, params).await?;
        Ok(answer)
    }

    /// An answer, and how many bytes it has.
    async fn answer(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<(Value, usize), SkillError> {
        let answer = self.request_by_name(method, params, CallOptions::new());
        let answer = answer.await?;
        let value = serde_json::from_str(answer.as_str())
            .map_err(|error| SkillError::Answer(error.to_string()))?;
        Ok((value, answer.as_str().len()))
    }
}

impl HeldSkill {
    /// What was said of it when it was loaded.
    #[must_use]
    pub const fn skill(&self) -> &Skill {
        &self.skill
    }

    /// Its `SKILL.md`, for the model: text of a stranger, to be marked with the server that it is from.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// A file of it, by its path from the skill's directory, or its URI.
    ///
    /// # Errors
    ///
    /// It is none of the skill, it has changed since, or the server did not answer.
    pub async fn read(&self, file: &str) -> Result<Vec<u8>, SkillError> {
        let uri = match file.contains("://") {
            true => file.to_owned(),
            false => format!("{}/{file}", self.skill.root().unwrap_or_default()),
        };
        // Asked before, so that nothing is read that the user has not seen listed.
        if let super::SkillFiles::Listed(files) = &self.skill.resources
            && !files.iter().any(|file| file.uri == uri)
        {
            return Err(SkillFault::Unlisted.into());
        }
        let bytes = self.client.skill_file(&uri).await?;
        self.skill.verify(&uri, &bytes)?;
        Ok(bytes)
    }
}

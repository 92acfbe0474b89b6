//! Skills: directories of instructions that a server serves along with its tools (`io.modelcontextprotocol/skills`), and what
//! a host has to look at before it believes one.
//!
//! A server serves a directory of them:
//!
//! ```no_run
//! use mcp_std::Server;
//! use mcp_std::skills::Skills;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder("handbook", "1.0.0")
//!     .with_skills(Skills::from_directory("skills")?)
//!     .build()?;
//! # Ok(()) }
//! ```
//!
//! It is an extension like any other: nothing here is known to the rest of this crate.

mod approvals;
mod directory;
mod entry;
mod frontmatter;
#[cfg(feature = "client")]
mod host;
mod server;
#[cfg(test)]
mod tests;

pub use approvals::Approvals;
pub use directory::{Skills, SkillsError};
pub use entry::{Dynamic, Skill, SkillFault, SkillFile, SkillFiles};
pub use frontmatter::{FrontmatterError, frontmatter};
#[cfg(feature = "client")]
pub use host::{HeldSkill, SkillError};

/// The identifier of the extension.
pub const SKILLS: &str = "io.modelcontextprotocol/skills";

/// As many files as a skill may have.
pub const MAX_FILES: usize = 512;

/// As many bytes as they may have together.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The file that makes a directory a skill.
const SKILL_MD: &str = "SKILL.md";

/// `sha256:` and 64 hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    use core::fmt::Write as _;
    use sha2::{Digest as _, Sha256};
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether a skill may be called this: up to 64 lower-case letters, digits and single hyphens between them.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.split('-').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

//! Models, and how they are asked.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_std::host::adapters::{Prompt, Toolset, Turn};
//! use mcp_std::host::model::{HttpModel, Model};
//!
//! // The key is in ANTHROPIC_API_KEY.
//! let model = HttpModel::anthropic("claude-sonnet-4-5").build()?;
//! let tools = Toolset::new(model.provider(), &[]);
//! let turns = [Turn::user("What is the capital of Norway?")];
//! let reply = model.reply(Prompt::new(&turns, &tools), &mut |_| {}).await?;
//! println!("{}", reply.text);
//! # Ok(()) }
//! ```
//!
//! [`HttpModel`] asks OpenAI, whatever offers the same interface, Anthropic or Gemini. [`ScriptedModel`] says what it was
//! told to say, for tests.

mod error;
mod http;
mod key;
mod script;
mod sse;

use core::future::Future;
use core::pin::Pin;

use super::adapters::{Delta, Options, Prompt, Provider, Reply};

pub use error::ModelError;
pub use http::{HttpModel, HttpModelBuilder};
pub use key::ApiKey;
pub use script::{Answer, ScriptedModel};

/// A reply that is under way.
pub type Replying<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + 'a>>;

/// Something that answers.
pub trait Model: Send + Sync {
    /// In whose interface it is asked: the [`Toolset`](super::adapters::Toolset) of a prompt has to be for that.
    fn provider(&self) -> Provider;

    /// How tools are shown to it.
    fn options(&self) -> Options {
        Options::default()
    }

    /// What it answers. `each` is given the pieces of the answer as they come: none, where it only comes as a whole. Dropping
    /// the future ends the request.
    fn reply<'a>(
        &'a self,
        prompt: Prompt<'a>,
        each: &'a mut (dyn FnMut(Delta) + Send),
    ) -> Replying<'a>;
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn provider(&self) -> Provider {
        (**self).provider()
    }

    fn options(&self) -> Options {
        (**self).options()
    }

    fn reply<'a>(
        &'a self,
        prompt: Prompt<'a>,
        each: &'a mut (dyn FnMut(Delta) + Send),
    ) -> Replying<'a> {
        (**self).reply(prompt, each)
    }
}

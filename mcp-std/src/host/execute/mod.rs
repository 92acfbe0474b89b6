//! Calls of a model, on their way to servers and back.

mod approval;
mod audit;
mod call;
mod hooks;
mod limits;
mod middleware;
mod run;
mod search_tools;
mod texts;
mod trace;

pub(super) use approval::Approver;
pub use approval::{ApprovalRequest, AskAbout, Decision};
pub use audit::AuditLog;
pub use call::{ExecuteError, ToolCall, ToolReply};
pub use hooks::CallHooks;
pub use limits::CircuitBreaker;
pub(super) use limits::Lane;
pub use middleware::{Doing, Flow, Invocation, LimitTexts, Middleware, RedactResults, ResultCache};
pub(super) use search_tools::definition as search_definition;
pub use trace::Trace;

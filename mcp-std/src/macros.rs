//! Functions as tools.

/// Makes a documented function a tool: `f::tool()` is the [`Tool`](crate::Tool) of `f`, which stays a function.
///
/// ```
/// use mcp_std::{Server, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i64,
///     /// The second number.
///     #[default(1)]
///     b: i64,
/// ) -> String {
///     (a + b).to_string()
/// }
///
/// assert_eq!(add(2, 3), "5");
/// let server = Server::builder("sums", "1.0.0").with_tool(add::tool()).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
///
/// The function is `async` or not; one that is not holds up other calls while it runs. It returns anything that is
/// [`IntoToolResult`](crate::IntoToolResult). The client is told the function's name and documentation, and a JSON Schema of its arguments with
/// the documentation of each.
///
/// | Argument | Is |
/// | --- | --- |
/// | `text: String` | given by the client; any type that serde decodes and schemars describes |
/// | `text: Option<String>` | given, or `None` |
/// | `#[default(3)] days: u8` | given, or 3; the client is told |
/// | `#[default] tags: Vec<String>` | given, or the default of its type |
/// | `context: Context` or `&Context` | the call's [`Context`](crate::Context), told by the name of the type |
/// | `#[state] notes: &Notes` | what calls share: given to `tool`, as `Notes` or `Arc<Notes>` |
/// | `#[state] notes: Notes` | the same, cloned for each call |
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use mcp_std::{Server, tool};
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// /// Writes a note.
/// #[tool]
/// async fn remember(#[state] notes: &Notes, text: String) {
///     notes.0.lock().expect("no tool panics while it is locked").push(text);
/// }
///
/// /// Reads all notes.
/// #[tool(read_only)]
/// async fn recall(#[state] notes: &Notes) -> String {
///     notes.0.lock().expect("no tool panics while it is locked").join("\n")
/// }
///
/// let notes = Arc::new(Notes::default());
/// let server = Server::builder("notebook", "1.0.0")
///     .with_tool(remember::tool(notes.clone()))
///     .with_tool(recall::tool(notes))
///     .build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
///
/// Attributes of serde and schemars on an argument are those of its field: `#[serde(rename = "maxLength")]`,
/// `#[schemars(range(min = 1, max = 14))]`.
///
/// # Options
///
/// | `#[tool(…)]` | |
/// | --- | --- |
/// | `name = "…"`, `description = …` | instead of the function's |
/// | `title = …` | its name for people |
/// | `read_only`, `destructive = false`, `idempotent`, `open_world` | the hints of [`Tool`](crate::Tool) |
/// | `local` | for [`Server::local`](crate::Server::local): its future need not be `Send` |
/// | `crate = mcp` | where this crate is, if `::mcp_std` is not it |
///
/// Whatever else [`Tool`](crate::Tool) can be told is told to what `tool` returns.
///
/// # What is refused
///
/// Methods, for which there is `#[state]`:
///
/// ```compile_fail
/// struct Notes;
/// impl Notes {
///     #[mcp_std::tool]
///     fn recall(&self) -> String { String::new() }
/// }
/// ```
///
/// Generic functions, since a client is told types:
///
/// ```compile_fail
/// #[mcp_std::tool]
/// fn shout<T: ToString>(text: T) -> String { text.to_string() }
/// ```
///
/// Arguments without a name, and borrowed ones:
///
/// ```compile_fail
/// #[mcp_std::tool]
/// fn area((width, height): (u32, u32)) -> String { (width * height).to_string() }
/// ```
/// ```compile_fail
/// #[mcp_std::tool]
/// fn shout(text: &str) -> String { text.to_uppercase() }
/// ```
///
/// Results that are none:
///
/// ```compile_fail
/// #[mcp_std::tool]
/// fn add(a: i64, b: i64) -> i64 { a + b }
/// # add::tool();
/// ```
///
/// The tool is an associated function of an empty enum with the function's name: types and functions have names of their
/// own, so both are there, and both come with one `use`.
pub use mcp_macros::tool;

/// What the code that [`macro@tool`] writes refers to.
#[doc(hidden)]
pub mod support {
    pub use schemars;
    pub use serde;

    pub use crate::server::Context;
}

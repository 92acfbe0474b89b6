//! The attribute [`macro@tool`] of mcp-std. Use it from there: `#[mcp_std::tool]`.
//!
//! What it takes and what it makes is told where it is re-exported.

use proc_macro::TokenStream;

mod argument;
mod options;
mod tool;

/// Makes a function a tool.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).into()
}

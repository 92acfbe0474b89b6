//! `mcp host`.

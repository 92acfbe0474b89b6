//! Function-calling adapters over a corpus of tools, in the shapes that public servers use.
//!
//! `tools.jsonl` has one tool a line: the server it is like, its name, description and schema, and arguments that fit.

mod agent;
mod answers;
mod content;
mod corpus;
mod dialect;
mod hostile;
mod provider;
mod report;
mod roundtrip;
mod sample;
mod session;
mod toolset;

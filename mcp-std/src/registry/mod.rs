//! `server.json`: how a server is described to a registry, and how a host starts what is described there.
//!
//! ```
//! use mcp_std::registry::{Choice, Inputs, ServerJson, validate};
//!
//! let text = r#"{
//!     "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
//!     "name": "com.example/weather",
//!     "description": "Forecasts",
//!     "version": "1.2.0",
//!     "packages": [{
//!         "registryType": "npm",
//!         "identifier": "@example/weather",
//!         "version": "1.2.0",
//!         "transport": {"type": "stdio"},
//!         "packageArguments": [{"type": "named", "name": "--units", "choices": ["C", "F"], "default": "C"}],
//!         "environmentVariables": [{"name": "WEATHER_KEY", "isRequired": true, "isSecret": true}]
//!     }]
//! }"#;
//! assert!(validate(text).is_empty());
//!
//! let server = ServerJson::parse(text).expect("it is one");
//! let entry = server.configuration(Choice::Package(0), &Inputs::new().value("--units", "F")).expect("nothing is missing");
//! assert_eq!(
//!     entry.to_value(),
//!     serde_json::json!({
//!         "command": "npx",
//!         "args": ["-y", "@example/weather@1.2.0", "--units", "F"],
//!         "env": {"WEATHER_KEY": "${env:WEATHER_KEY}"}
//!     })
//! );
//! ```
//!
//! [`validate`](fn@validate) tells everything that is wrong with a file, by its path, as of the schema of 2025-12-11 and the rules of the
//! official registry that can be checked without asking anybody. Whether a package is there, and says that it belongs to the
//! server, is for that registry to find out.
//!
//! [`ServerJson::configuration`] turns one of the packages or remotes into what a host has in `mcpServers`. It starts nothing.
//! Whoever does starts a program of strangers: what it would run is to be shown to the user before.

mod configuration;
mod fill;
mod input;
mod launch;
mod model;
mod package;
mod problem;
mod validate;
mod version;
mod walk;

pub use configuration::{Choice, HostEntry, Inputs};
pub use model::{
    Argument, EntryTransport, Icon, Input, KeyValueInput, Package, Repository, ServerJson,
};
pub use problem::{Problem, Severity};
pub use validate::validate;

/// The schema that [`validate`](fn@validate) checks against, and that new files name in `$schema`.
pub const SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Files longer than this, in bytes, are not read.
pub const MAX_BYTES: usize = 1024 * 1024;

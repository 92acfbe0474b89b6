//! On standard input and output credentials come from the environment, and nobody logs in.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_std::auth::{Auth, AuthError, Secret};
use mcp_std::client::{Client, Command};
use serde_json::json;

#[test]
fn a_child_has_its_credentials_from_the_environment() {
    let file = std::env::temp_dir().join(format!("mcp-stdio-{}", std::process::id()));
    let script = format!(
        "printf '%s|%s|%s' \"$API_TOKEN\" \"$CARGO_PKG_NAME\" \"$CARGO_PKG_VERSION\" > '{}'; exec '{}' serve",
        file.display(),
        env!("CARGO_BIN_EXE_mcp")
    );
    // Of what Cargo sets here one thing is passed on, and another one is not.
    let command = Command::new("sh")
        .args(["-c", &script])
        .env("API_TOKEN", "hush")
        .pass_env("CARGO_PKG_NAME");
    assert!(std::env::var_os("CARGO_PKG_VERSION").is_some());
    let visits = Arc::new(AtomicUsize::new(0));
    let count = visits.clone();
    let auth = Auth::code().on_page(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let builder = Client::builder("test", "1").auth(auth);
    let client = smol::block_on(builder.connect_stdio(command)).expect("a connection");
    let said = smol::block_on(client.call_tool("echo", &json!({"text": "hi"})));
    assert_eq!(said.expect("an answer").text(), "hi");
    smol::block_on(client.close());
    let seen = fs::read_to_string(&file).expect("it was written");
    let _ = fs::remove_file(&file);
    assert_eq!(seen, "hush|mcp-std|");
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[test]
fn a_variable_becomes_a_secret() {
    let secret = Secret::from_env("CARGO_PKG_NAME").expect("Cargo sets it");
    assert_eq!(secret.expose(), "mcp-std");
    assert!(!format!("{secret:?}").contains("mcp-std"));
    let error = Secret::from_env("MCP_NOBODY_SETS_THIS").expect_err("it is not set");
    assert!(matches!(error, AuthError::Key(_)));
    assert!(
        error.to_string().contains("MCP_NOBODY_SETS_THIS"),
        "{error}"
    );
}

//! `mcp login`, `mcp logout`, and what the other commands make of a login.

use std::env::temp_dir;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::site::{Answer, field, get};
use crate::world::World;

struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = temp_dir().join(format!("mcp-home-{name}-{}", std::process::id()));
        // Of an earlier run, if at all.
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Exit code, standard output and standard error. The page to log in at is visited if there is one.
fn mcp(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(arguments)
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env("MCP_CLIENT_SECRET", "from-the-environment")
        .env("NO_PROXY", "localhost")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = String::new();
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    for line in stderr.lines() {
        let line = line.expect("text");
        if let Some(page) = line
            .trim()
            .strip_prefix("http")
            .filter(|it| it.contains("/authorize?"))
        {
            let back = field(&get(&format!("http{page}"), None), "location");
            get(&back.expect("a way back"), None);
        }
        said.push_str(&line);
        said.push('\n');
    }
    let mut printed = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut printed).expect("text");
    let code = child.wait().expect("it ends").code();
    (code.expect("it ends by itself"), printed, said)
}

#[test]
fn a_login_serves_the_other_commands_until_the_logout() {
    let (world, home) = (World::new(), Home::new("login"));
    let url = &*world.url();
    let call = || mcp(&home.0, &["call", "read", "--url", url]);
    // Nobody is there who could log in: no terminal.
    let (code, _, said) = call();
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("wants to know who asks") && said.contains("mcp login"),
        "{said}"
    );
    assert!(world.issuer.asked("/register").is_empty());
    let (code, printed, said) = mcp(&home.0, &["login", url]);
    assert_eq!((code, &*printed), (0, ""), "{said}");
    assert!(said.contains(&format!("logged in to {url}")), "{said}");
    let (code, printed, said) = call();
    assert_eq!((code, printed.trim()), (0, "read"), "{said}");
    assert_eq!(world.visits(), 1);
    // Without the right one a scope is missing, and nobody is there to agree to more.
    let (code, _, said) = mcp(&home.0, &["call", "write", "--url", url]);
    assert_eq!(code, 3, "{said}");
    let (code, _, said) = mcp(
        &home.0,
        &["login", url, "--scope", "read", "--scope", "write"],
    );
    assert_eq!(code, 0, "{said}");
    let (code, printed, said) = mcp(&home.0, &["call", "write", "--url", url]);
    assert_eq!((code, printed.trim()), (0, "write"), "{said}");
    let (code, _, said) = mcp(&home.0, &["logout", url]);
    assert!(code == 0 && said.contains("logged out of"), "{said}");
    let (code, _, said) = mcp(&home.0, &["logout", url]);
    assert!(code == 0 && said.contains("there was no login"), "{said}");
    assert_eq!(call().0, 3);
    assert_eq!(world.visits(), 2);
}

#[test]
fn a_client_that_is_registered_already_is_named() {
    let (world, home) = (World::new(), Home::new("named"));
    let mut metadata = world.metadata();
    metadata["token_endpoint_auth_methods_supported"] = serde_json::json!(["client_secret_post"]);
    world
        .issuer
        .replace(crate::world::SERVER, move |_| Answer::json(&metadata));
    let (code, _, said) = mcp(&home.0, &["login", &world.url(), "--client-id", "mine"]);
    assert_eq!(code, 0, "{said}");
    let asked = &world.issuer.asked("/token")[0];
    assert_eq!(asked.parameter("client_id").as_deref(), Some("mine"));
    let secret = asked.parameter("client_secret");
    assert_eq!(secret.as_deref(), Some("from-the-environment"));
    assert!(!said.contains("from-the-environment"));
}

/// Authorities that are none are told, so those that are some are trusted.
#[test]
fn a_logout_trusts_more_authorities() {
    let (world, home) = (World::new(), Home::new("logout-ca"));
    let url = &*world.url();
    let (code, _, said) = mcp(&home.0, &["login", url]);
    assert_eq!(code, 0, "{said}");
    let (code, _, said) = mcp(&home.0, &["logout", url, "--ca", "not/there.pem"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("--ca not/there.pem"), "{said}");
    let file = home.0.join("none.pem");
    fs::write(&file, "no certificate").expect("a folder of this test");
    let file = file.to_str().expect("UTF-8");
    let (code, _, said) = mcp(&home.0, &["logout", url, "--ca", file]);
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("no certificate among the authorities"),
        "{said}"
    );
}

#[test]
fn a_logout_says_what_may_still_be_good() {
    let (world, home) = (World::new(), Home::new("logout"));
    let url = &*world.url();
    let endpoint = format!("{}/revoke", world.issuer.origin());
    world.with_metadata(|it| it["revocation_endpoint"] = serde_json::json!(endpoint));
    for (status, expected) in [(200, 0), (503, 3)] {
        world
            .issuer
            .replace("/revoke", move |_| Answer::status(status));
        let (code, _, said) = mcp(&home.0, &["login", url]);
        assert_eq!(code, 0, "{said}");
        let (code, printed, said) = mcp(&home.0, &["logout", url]);
        assert_eq!((code, &*printed), (expected, ""), "{said}");
        let told = said.contains("not revoked") && said.contains("503");
        assert_eq!(told, expected != 0, "{said}");
        let (_, _, said) = mcp(&home.0, &["logout", url]);
        assert!(said.contains("there was no login"), "{said}");
    }
    assert_eq!(world.issuer.asked("/revoke").len(), 3);
}

#[test]
fn a_login_that_fails_says_why() {
    let (world, home) = (World::new(), Home::new("fails"));
    world.issuer.replace("/token", |_| {
        Answer::status(400).body("{\"error\":\"invalid_grant\"}")
    });
    let (code, _, said) = mcp(&home.0, &["login", &world.url()]);
    assert!(code == 3 && said.contains("invalid_grant"), "{said}");
    world.server.replace("/mcp", |asked| {
        let body = asked.json();
        Answer::json(
            &serde_json::json!({"jsonrpc": "2.0", "id": body["id"], "result":
            {"resultType": "complete", "ttlMs": 0, "supportedVersions": ["2026-07-28"],
             "capabilities": {}, "cacheScope": "private"}}),
        )
    });
    let (code, _, said) = mcp(&home.0, &["login", &world.url()]);
    assert!(code == 0 && said.contains("no login is needed"), "{said}");
}

#[test]
fn a_program_that_is_not_registered_is_told_how_to_be_named() {
    let (world, home) = (World::new(), Home::new("unregistered"));
    world.issuer.replace("/register", |_| Answer::status(403));
    let (code, _, said) = mcp(&home.0, &["login", &world.url()]);
    assert!(code == 3 && said.contains("--client-id ID"), "{said}");
    assert!(!said.contains("logs in"), "{said}");
}

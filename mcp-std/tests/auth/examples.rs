//! The examples do what they show.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use crate::site::{field, get};
use crate::world::World;

/// What `client_auth` prints. The page to log in at is visited if there is one.
fn client_auth(world: &World, secret: Option<&str>) -> String {
    let test = std::env::current_exe().expect("the path of this test");
    let directory = test.parent().and_then(|deps| deps.parent());
    let path = directory
        .expect("target/…/deps")
        .join("examples/client_auth");
    let mut command = Command::new(path);
    command.arg(world.url()).env("NO_PROXY", "localhost");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("CLIENT_SECRET").env("CLIENT_ID", "id");
    if let Some(secret) = secret {
        command.env("CLIENT_SECRET", secret);
    }
    let child = command.spawn();
    let mut child =
        child.expect("it is built: `cargo build --example client_auth`, or `cargo test`");
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().expect("a pipe")).lines() {
        let line = line.expect("text");
        if line.starts_with("http") {
            let back = field(&get(&line, None), "location");
            get(&back.expect("a way back"), None);
        }
        said.push_str(&line);
    }
    let mut printed = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut printed).expect("text");
    assert!(child.wait().expect("it ran").success(), "{said}");
    printed
}

#[test]
fn client_auth_is_itself_or_somebody() {
    for (secret, grant) in [
        (Some("s3cret"), "client_credentials"),
        (None, "authorization_code"),
    ] {
        let world = World::new();
        assert_eq!(client_auth(&world, secret), "0 tools\n");
        assert_eq!(world.grants(), [grant]);
    }
}

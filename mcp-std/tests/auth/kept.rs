//! What is kept of a login.

use std::env::temp_dir;
use std::fs;
use std::path::PathBuf;

use mcp_std::auth::{FileStore, MemoryStore, Secret, TokenStore};

use crate::site::Answer;
use crate::world::{World, call, user};

/// A folder that is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = temp_dir().join(format!("mcp-auth-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_next_client_does_not_ask_the_user() {
    let (world, folder) = (World::new(), Folder::new("next"));
    let auth = || user().store(FileStore::new(&folder.0));
    assert!(!auth().is_known(&world.url()).expect("a store"));
    world.connect(auth()).expect("a connection");
    assert!(auth().is_known(&world.url()).expect("a store"));
    let client = world.connect(auth().unattended()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    // Over, but with a refresh token.
    world.revoke();
    let client = world.connect(auth().unattended()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    // The rotated one was kept.
    world.revoke();
    world.connect(auth().unattended()).expect("a connection");
    assert_eq!(world.visits(), 1);
    // Without the token the registration is still there.
    auth().forget(&world.url()).expect("a store");
    world.connect(auth()).expect("a connection");
    assert_eq!(world.issuer.asked("/register").len(), 1);
    assert_eq!(world.visits(), 2);
}

#[test]
fn what_another_program_has_renewed_is_used() {
    let (world, folder) = (World::new(), Folder::new("other"));
    let auth = || user().store(FileStore::new(&folder.0));
    let one = world.connect(auth()).expect("a connection");
    let other = world.connect(auth()).expect("a connection");
    world.revoke();
    call(&one, "read").expect("an answer");
    // Its refresh token is used up by now.
    call(&other, "read").expect("an answer");
    assert_eq!(world.visits(), 1);
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
}

#[test]
fn oa_16_a_client_that_is_not_known_any_more_registers_again() {
    let (world, folder) = (World::new(), Folder::new("again"));
    let auth = || user().store(FileStore::new(&folder.0));
    world.connect(auth()).expect("a connection");
    auth().forget(&world.url()).expect("a store");
    world.issuer.replace("/token", |_| {
        Answer::status(401).body("{\"error\":\"invalid_client\"}")
    });
    world.connect(auth()).expect_err("not known any more");
    let before = world.issuer.asked("/register").len();
    world.connect(auth()).expect_err("nor now");
    assert_eq!(world.issuer.asked("/register").len(), before + 1);
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("mode");
    let store = FileStore::new(&folder.0);
    for value in ["one", "two"] {
        store
            .set("tokens x", Some(&Secret::new(value)))
            .expect("kept");
        let kept = store.get("tokens x").expect("read").expect("kept");
        assert_eq!(kept.expose(), value);
    }
    let mode = |path: &PathBuf| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.0), 0o700);
    let files: Vec<_> = fs::read_dir(&folder.0).expect("a folder").collect();
    assert_eq!(files.len(), 1, "nothing is left of what was replaced");
    for file in files {
        assert_eq!(mode(&file.expect("a file").path()), 0o600);
    }
    store.set("tokens x", None).expect("forgotten");
    store.set("tokens x", None).expect("forgotten again");
    assert_eq!(store.get("tokens x").expect("read"), None);
}

#[test]
fn names_are_kept_apart_whatever_they_are() {
    let folder = Folder::new("names");
    let stores: [Box<dyn TokenStore>; 2] = [
        Box::new(FileStore::new(&folder.0)),
        Box::new(MemoryStore::new()),
    ];
    let long = "x".repeat(10_000);
    for store in stores {
        let names = ["a", "A", "../a", "tokens https://h/a?b", "", &long];
        for name in names {
            store.set(name, Some(&Secret::new(name))).expect("kept");
        }
        for name in names {
            let kept = store.get(name).expect("read").expect("kept");
            assert_eq!(kept.expose(), name);
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_used() {
    let (world, folder) = (World::new(), Folder::new("broken"));
    let auth = || user().store(FileStore::new(&folder.0));
    world.connect(auth()).expect("a connection");
    for file in fs::read_dir(&folder.0).expect("a folder") {
        fs::write(file.expect("a file").path(), "{\"access\":1").expect("written");
    }
    let client = world.connect(auth()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    assert_eq!(world.visits(), 2);
}

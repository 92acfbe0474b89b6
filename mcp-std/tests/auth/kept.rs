//! What is kept of a login.

use std::collections::BTreeMap;
use std::env::temp_dir;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, io, thread};

use mcp_std::auth::{Auth, Credentials, FileStore, MemoryStore, Secret, TokenStore};
use mcp_std::client::{Client, Proxy};

use crate::site::{Answer, field, get};
use crate::world::{BACK, World, call, user};

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
fn oa_16_a_client_that_is_never_known_registers_once_a_time() {
    let (world, folder) = (World::new(), Folder::new("again"));
    let auth = || user().store(FileStore::new(&folder.0));
    world.connect(auth()).expect("a connection");
    auth().forget(&world.url()).expect("a store");
    world.issuer.replace("/token", |_| {
        Answer::status(401).body("{\"error\":\"invalid_client\"}")
    });
    for times in [2, 3] {
        world.connect(auth()).expect_err("not known");
        assert_eq!(world.issuer.asked("/register").len(), times);
    }
}

/// A store that others write to, and that fails.
#[derive(Clone, Default)]
struct Shaky {
    kept: Arc<Mutex<BTreeMap<String, Secret>>>,
    /// So many reads of tokens see what stood there before.
    late: Arc<AtomicUsize>,
    before: Arc<Mutex<BTreeMap<String, Secret>>>,
    full: Arc<AtomicBool>,
}

impl TokenStore for Shaky {
    fn get(&self, name: &str) -> io::Result<Option<Secret>> {
        let late = name.starts_with("tokens ")
            && self
                .late
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                })
                .is_ok();
        let from = if late { &self.before } else { &self.kept };
        Ok(from.lock().expect("no panic").get(name).cloned())
    }

    fn set(&self, name: &str, value: Option<&Secret>) -> io::Result<()> {
        if self.full.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is full"));
        }
        let mut kept = self.kept.lock().expect("no panic");
        let old = match value {
            Some(value) => kept.insert(name.to_owned(), value.clone()),
            None => kept.remove(name),
        };
        if let Some(old) = old {
            let mut before = self.before.lock().expect("no panic");
            before.insert(name.to_owned(), old);
        }
        Ok(())
    }
}

#[test]
fn clients_of_one_store_use_a_refresh_token_once() {
    let world = World::new();
    let auth = user();
    let clients = [(); 2].map(|()| world.connect(auth.clone()).expect("a connection"));
    world.revoke();
    let calls = clients.map(|client| thread::spawn(move || call(&client, "read")));
    for one in calls {
        assert_eq!(one.join().expect("no panic").expect("an answer"), "read");
    }
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
    assert_eq!(world.visits(), 1);
}

#[test]
fn whoever_waits_for_the_user_of_another_client_loses_no_time() {
    let world = World::new();
    let auth = Auth::code().redirect(BACK, |page| async move {
        smol::Timer::after(Duration::from_millis(1500)).await;
        let answer = smol::unblock(move || get(&page, None)).await;
        field(&answer, "location").ok_or_else(|| "no way back".to_owned())
    });
    let url = world.url();
    let connects = [(); 2].map(|()| {
        let (auth, url) = (auth.clone(), url.clone());
        thread::spawn(move || {
            let builder = Client::builder("test", "1")
                .proxy(Proxy::None)
                .connect_timeout(Duration::from_secs(1))
                .auth(auth);
            smol::block_on(builder.connect_http(&url)).map(drop)
        })
    });
    for one in connects {
        one.join().expect("no panic").expect("a connection");
    }
    assert_eq!(world.visits(), 1);
}

#[test]
fn a_refresh_token_that_another_program_has_used_leads_to_the_next_one() {
    // What the other one has written is read after the refusal, or still not there when that comes.
    for late in [1, 2] {
        let (world, store) = (World::new(), Shaky::default());
        let auth = || user().store(store.clone());
        let one = world.connect(auth()).expect("a connection");
        let other = world.connect(auth()).expect("a connection");
        world.revoke();
        call(&one, "read").expect("an answer");
        store.late.store(late, Ordering::SeqCst);
        assert_eq!(call(&other, "read").expect("an answer"), "read");
        let all = ["authorization_code", "refresh_token", "refresh_token"];
        assert_eq!(world.grants(), all);
        assert_eq!(world.visits(), 1);
        // It goes on with what it has found.
        world.revoke();
        assert_eq!(call(&other, "read").expect("an answer"), "read");
        assert_eq!(world.visits(), 1);
    }
}

#[test]
fn what_could_not_be_kept_is_used_nevertheless() {
    let (world, store) = (World::new(), Shaky::default());
    let client = world
        .connect(user().store(store.clone()))
        .expect("a connection");
    store.full.store(true, Ordering::SeqCst);
    // What is in the store is older, and its refresh token used up.
    for _ in 0..3 {
        world.revoke();
        assert_eq!(call(&client, "read").expect("an answer"), "read");
    }
    assert_eq!(world.visits(), 1);
    let refreshed = world
        .grants()
        .iter()
        .filter(|it| *it == "refresh_token")
        .count();
    assert_eq!(refreshed, 3);
}

#[test]
fn a_program_and_its_user_have_tokens_of_their_own() {
    let (world, folder) = (World::new(), Folder::new("own"));
    let store = || FileStore::new(&folder.0);
    let itself = |id: &str| Auth::client_credentials(Credentials::secret(id, "s")).store(store());
    world.connect(itself("one")).expect("a connection");
    let known = |auth: Auth| auth.is_known(&world.url()).expect("a store");
    assert!(known(itself("one")));
    assert!(!known(itself("other")) && !known(user().store(store())));
    world.connect(user().store(store())).expect("a connection");
    assert_eq!(world.visits(), 1);
    user().store(store()).forget(&world.url()).expect("a store");
    assert!(known(itself("one")));
}

#[test]
fn programs_have_folders_of_their_own() {
    // Only where there is a place at all.
    let folder = |program: &str| FileStore::of_user(program).map(|it| format!("{it:?}"));
    let Some(one) = folder("one") else {
        return;
    };
    assert!(one.contains("one"));
    let all = ["one", "two", "", "../one", "a/b", "One two"].map(folder);
    for (index, folder) in all.iter().enumerate() {
        assert!(!all[..index].contains(folder), "{folder:?}");
        assert!(
            !folder.as_ref().is_some_and(|it| it.contains("..")),
            "{folder:?}"
        );
    }
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

/// What every store has to do.
fn contract(store: &dyn TokenStore) {
    let get = |name: &str| {
        store
            .get(name)
            .expect("read")
            .map(|it| it.expose().to_owned())
    };
    let set = |name: &str, value: Option<&str>| {
        let value = value.map(Secret::new);
        store.set(name, value.as_ref()).expect("kept");
    };
    let long = format!("tokens https://h.example/{}", "x".repeat(2000));
    let names = [
        "a",
        "A",
        "../a",
        "tokens https://h/a?b",
        "client https://h",
        &long,
    ];
    for name in names {
        assert_eq!(get(name), None, "{name}");
    }
    for name in names {
        set(name, Some(name));
    }
    // Whatever they are, none is taken for another one, and the last one counts.
    let big = "{\"access\":\"ä\"}".repeat(100);
    set(names[0], Some(&big));
    assert_eq!(get(names[0]), Some(big));
    for name in &names[1..] {
        assert_eq!(get(name).as_deref(), Some(*name));
    }
    for name in names {
        set(name, None);
        assert_eq!(get(name), None, "{name}");
        // It is no error that nothing is there.
        set(name, None);
    }
}

#[test]
fn stores_keep_what_they_are_given() {
    let folder = Folder::new("contract");
    contract(&MemoryStore::new());
    contract(&FileStore::new(&folder.0));
}

/// The keyring of whoever runs this, which has to be there and open: `cargo test -p mcp-std --features keyring --test auth
/// -- --ignored keyring`; without a desktop inside of `dbus-run-session`, with a `gnome-keyring-daemon --unlock`.
#[cfg(feature = "keyring")]
#[test]
#[ignore = "it takes the keyring of a user"]
fn the_keyring_keeps_what_it_is_given() {
    contract(&mcp_std::auth::KeyringStore::new("mcp-std test"));
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

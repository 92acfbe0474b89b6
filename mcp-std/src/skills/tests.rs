//! Skills on the disk, over the protocol, and as a suspicious host sees them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;

/// A directory that is removed again.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("skills-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
        self
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn skill_md(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n\n# {name}\n")
}

fn two(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch
        .write("acme/refunds/SKILL.md", skill_md("refunds"))
        .write("acme/refunds/examples/an email.md", "Dear")
        .write("acme/refunds/logo.png", [0xff, 0xd8])
        .write("acme/refunds/inner/SKILL.md", skill_md("inner"))
        .write("greeting/SKILL.md", skill_md("greeting"))
        .write("stray.txt", "in no skill");
    scratch
}

#[test]
fn frontmatter_is_json() {
    let text = "---\r\nname: a\ndescription: 'It: is'\nversion: 1.5\nlist: [1, \"2\", ~, true]\nmeta:\n  k: |\n    two\n    lines\nwhen: 2026-07-28\n---\nbody";
    let found = frontmatter(text).expect("it is there");
    assert_eq!(
        Value::Object(found),
        json!({
            "name": "a", "description": "It: is", "version": 1.5, "list": [1, "2", null, true],
            "meta": { "k": "two\nlines\n" }, "when": "2026-07-28",
        })
    );
}

/// It comes from a stranger.
#[test]
fn frontmatter_that_is_refused() {
    let wrapped = |yaml: &str| frontmatter(&format!("---\n{yaml}\n---\n"));
    assert_eq!(frontmatter("name: a"), Err(FrontmatterError::Missing));
    assert_eq!(
        frontmatter("---\nname: a\n"),
        Err(FrontmatterError::Missing)
    );
    let deep = "[".repeat(100) + &"]".repeat(100);
    assert!(wrapped(&format!("a: {deep}")).is_err());
    let dashes = "- ".repeat(10_000);
    assert!(wrapped(&format!("a:\n  {dashes}x")).is_err());
    let long = "a: ".to_owned() + &"x".repeat(70_000);
    assert_eq!(wrapped(&long), Err(FrontmatterError::TooLarge));
    for yaml in [
        "a: &x 1\nb: *x",
        "a: 1\na: 2",
        "a: !!binary x",
        "- a",
        "text",
        "[a]: b",
        "a: .nan",
        "a: [",
    ] {
        assert!(wrapped(yaml).is_err(), "{yaml}: {:?}", wrapped(yaml));
    }
}

#[test]
fn skills_are_read_from_a_directory() {
    let scratch = two("read");
    let skills = Skills::from_directory(scratch.path()).expect("they can be read");
    let uris: Vec<_> = skills.skills().iter().map(|skill| &*skill.uri).collect();
    assert_eq!(
        uris,
        [
            "skill://acme/refunds/SKILL.md",
            "skill://acme/refunds/inner/SKILL.md",
            "skill://greeting/SKILL.md",
        ]
    );
    let SkillFiles::Listed(files) = &skills.skills()[0].resources else {
        panic!("they are listed");
    };
    let uris: Vec<_> = files.iter().map(|file| &*file.uri).collect();
    assert_eq!(
        uris,
        [
            "skill://acme/refunds/SKILL.md",
            "skill://acme/refunds/examples/an%20email.md",
            "skill://acme/refunds/inner/SKILL.md",
            "skill://acme/refunds/logo.png",
        ],
        "those of nested ones too"
    );
    assert!(!skills.files.iter().any(|file| file.path == "stray.txt"));
}

#[test]
fn what_is_not_served() {
    let refused = |name: &str, prepare: &dyn Fn(&Scratch)| {
        let scratch = Scratch::new(name);
        scratch.write("ok/SKILL.md", skill_md("ok"));
        prepare(&scratch);
        Skills::from_directory(scratch.path()).expect_err(name)
    };
    #[cfg(unix)]
    for target in ["/etc/passwd", "SKILL.md", "..", "nowhere"] {
        let error = refused("link", &|scratch| {
            let link = scratch.path().join("ok/link");
            std::os::unix::fs::symlink(target, link).expect("a link");
        });
        assert!(matches!(error, SkillsError::Kind(_)), "{target}: {error}");
    }
    let error = refused("other-name", &|it| {
        _ = it.write("b/SKILL.md", skill_md("a"));
    });
    assert!(matches!(error, SkillsError::Skill(..)), "{error}");
    let error = refused("bad-name", &|it| {
        _ = it.write("B_/SKILL.md", skill_md("B_"));
    });
    assert!(matches!(error, SkillsError::Skill(..)), "{error}");
    let error = refused("none", &|it| _ = it.write("b/SKILL.md", "# b"));
    assert!(matches!(error, SkillsError::Frontmatter(..)), "{error}");
    let error = refused("hidden", &|it| _ = it.write("ok/.git/config", ""));
    assert!(matches!(error, SkillsError::Name(_)), "{error}");
    let error = refused("many", &|it| {
        for n in 0..MAX_FILES {
            it.write(&format!("ok/{n}"), "");
        }
    });
    assert!(matches!(error, SkillsError::TooLarge(_)), "{error}");
    let error = refused("long", &|it| _ = it.write("ok/long", vec![0; 17 << 20]));
    assert!(matches!(error, SkillsError::TooLarge(_)), "{error}");
    assert!(Skills::from_directory("/nowhere/at/all").is_err());
}

#[test]
fn an_entry_is_checked() {
    let scratch = two("entry");
    let skills = Skills::from_directory(scratch.path()).expect("they can be read");
    let good = &skills.skills()[0];
    good.check().expect("it is one");
    let spoilt = |spoil: &dyn Fn(&mut Value)| {
        let mut entry = serde_json::to_value(good).expect("JSON");
        spoil(&mut entry);
        let entry = serde_json::from_value::<Skill>(entry.clone());
        entry
            .map_err(|_| ())
            .and_then(|it| it.check().map_err(|_| ()))
    };
    assert_eq!(spoilt(&|_| {}), Ok(()));
    let spoils: [&dyn Fn(&mut Value); 12] = [
        &|it| it["uri"] = "skill://acme/refunds".into(),
        &|it| it["uri"] = "skill://acme/other/SKILL.md".into(),
        &|it| it["frontmatter"]["name"] = "Refunds".into(),
        &|it| it["frontmatter"]["description"] = Value::Null,
        &|it| it["resources"] = json!([]),
        &|it| it["resources"] = json!("static"),
        &|it| drop(it.as_object_mut().expect("an object").remove("resources")),
        &|it| it["resources"][1]["uri"] = "skill://acme/refunds/../x".into(),
        &|it| it["resources"][1]["uri"] = "skill://acme/refundsx/y".into(),
        &|it| it["resources"][1] = it["resources"][0].clone(),
        &|it| it["resources"][1]["digest"] = "sha256:00".into(),
        &|it| it["resources"][1]["size"] = (17 << 20).into(),
    ];
    for (at, spoil) in spoils.iter().enumerate() {
        assert_eq!(spoilt(spoil), Err(()), "{at}");
    }
}

#[test]
fn approvals_are_of_one_server_and_of_one_content() {
    let scratch = two("approve");
    let skills = Skills::from_directory(scratch.path()).expect("they can be read");
    let skill = &skills.skills()[0];
    let mut approvals = Approvals::new();
    assert!(!approvals.is_approved("docs", skill));
    assert!(approvals.approve("docs", skill));
    assert!(approvals.is_approved("docs", skill));
    assert!(!approvals.is_approved("other", skill));
    assert!(
        !approvals.is_approved("docs", &skills.skills()[1]),
        "nested"
    );
    let kept = serde_json::to_string(&approvals).expect("JSON");
    let kept: Approvals = serde_json::from_str(&kept).expect("it was written");
    assert_eq!(kept, approvals);
    scratch.write("acme/refunds/new.md", "another file");
    let changed = Skills::from_directory(scratch.path()).expect("they can be read");
    assert!(!approvals.is_approved("docs", &changed.skills()[0]));
    assert!(approvals.revoke("docs", &skill.uri) && !approvals.revoke("docs", &skill.uri));
    let mut dynamic = skill.clone();
    dynamic.resources = SkillFiles::Dynamic(Dynamic::Dynamic);
    assert!(!approvals.approve("docs", &dynamic), "it cannot be checked");
}

#[cfg(feature = "client")]
#[test]
fn a_host_loads_what_was_said_and_nothing_else() {
    use crate::client::Client;
    use crate::{Resource, Server};

    let scratch = two("host");
    let skills = Skills::from_directory(scratch.path()).expect("they can be read");
    let server = Server::builder("docs", "1").with_skills(skills).build();
    let server = server.expect("it can be built");
    smol::block_on(async {
        let client = Client::builder("host", "1")
            .connect_in_process(&server)
            .await;
        let client = client.expect("it connects");
        let listed = client.list_skills().await.expect("it answers");
        assert_eq!(listed.len(), 3);
        let got = client.get_skill(&listed[0].uri).await.expect("it is there");
        assert_eq!(got, listed[0]);
        assert!(client.get_skill("skill://no/SKILL.md").await.is_err());
        let held = client.load_skill(&got).await.expect("it is what was said");
        assert!(held.instructions().ends_with("# refunds\n"));
        assert_eq!(held.read("logo.png").await.expect("a file"), [0xff, 0xd8]);
        let email = held.read("examples/an%20email.md").await;
        assert_eq!(email.expect("a file"), b"Dear");
        for elsewhere in [
            "new.md",
            "../greeting/SKILL.md",
            "skill://greeting/SKILL.md",
        ] {
            let refused = held.read(elsewhere).await;
            let Err(SkillError::Fault(SkillFault::Unlisted)) = refused else {
                panic!("{elsewhere}: {refused:?}");
            };
        }
        client.close().await;
        // Another server under the same URI, which serves something else.
        let evil = skill_md("refunds").replace("Does", "Doez");
        let uri = "skill://acme/refunds/SKILL.md";
        let resource = Resource::new(uri, "refunds", move || {
            let evil = evil.clone();
            async move { evil }
        });
        let server = Server::builder("evil", "1").with_resource(resource).build();
        let client = Client::builder("host", "1")
            .connect_in_process(&server.expect("it can be built"))
            .await
            .expect("it connects");
        let refused = client.load_skill(&got).await;
        let Err(SkillError::Fault(SkillFault::Digest)) = refused else {
            panic!("{refused:?}");
        };
        client.close().await;
    });
}

/// A list that goes on for ever, of small pages or of large ones, is given up before it fills the memory.
#[cfg(feature = "client")]
#[test]
fn a_list_without_an_end_is_given_up() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::client::Client;
    use crate::{Extension, Server};

    #[derive(serde::Deserialize)]
    struct Page {
        cursor: Option<String>,
    }

    // How long the description of each skill is, and how many pages may be asked for.
    for (long, most_pages) in [(10, 41), (10_000, 17)] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let list = move |page: Page| {
            let at: usize = page.cursor.map_or(0, |it| it.parse().expect("ours"));
            count.fetch_add(1, Ordering::Relaxed);
            let skill = |n: usize| {
                let name = format!("s{}", at + n);
                json!({
                    "uri": format!("skill://{name}/SKILL.md"),
                    "frontmatter": { "name": name, "description": "x".repeat(long) },
                    "resources": "dynamic",
                })
            };
            let skills: Vec<_> = (0..100).map(skill).collect();
            async move { json!({ "skills": skills, "nextCursor": (at + 100).to_string() }) }
        };
        let hostile = Extension::new(SKILLS).method("skills/list", list);
        let server = Server::builder("docs", "1").with_extension(hostile).build();
        let server = server.expect("it can be built");
        smol::block_on(async {
            let client = Client::builder("host", "1").connect_in_process(&server);
            let client = client.await.expect("it connects");
            let listed = client.list_skills().await;
            let Err(SkillError::Answer(problem)) = listed else {
                panic!("{listed:?}");
            };
            assert_eq!(problem, "a list without an end");
            client.close().await;
        });
        let pages = asked.load(Ordering::Relaxed);
        assert!(pages <= most_pages, "{pages} pages of {long}");
    }
}

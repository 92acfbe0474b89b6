use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use mcp_io::child::{Command, Inherit, SpawnError};

use crate::processes::{read_all, run, sh};

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("start-{name}"));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn file(path: &PathBuf, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn pr_03_dx_07_what_cannot_be_started_says_why() {
    let dir = folder("why");
    let error = Command::new("no-such-server")
        .env("PATH", "/first:/second")
        .spawn()
        .expect_err("there is none");
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "there is no program no-such-server in /first, /second"
    );
    let error = Command::new("/no/such/server").spawn().expect_err("none");
    assert_eq!(error.to_string(), "there is no program /no/such/server");
    let error = Command::new("sh")
        .current_dir(dir.join("none"))
        .spawn()
        .expect_err("there is no such folder");
    assert!(matches!(error, SpawnError::CurrentDir { .. }), "{error:?}");
    assert!(
        error.to_string().contains("why/none: No such file"),
        "{error}"
    );
    let plain = dir.join("plain");
    file(&plain, "text", 0o600);
    let error = Command::new(&plain).spawn().expect_err("not executable");
    assert!(
        matches!(&error, SpawnError::PermissionDenied { program } if *program == plain),
        "{error:?}"
    );
    let error = Command::new("sh")
        .current_dir(&plain)
        .spawn()
        .expect_err("not a folder");
    assert!(matches!(error, SpawnError::CurrentDir { .. }), "{error:?}");
    let script = dir.join("script");
    file(&script, "#!/no/such/interpreter\n", 0o700);
    for command in [
        Command::new(&script),
        Command::new("script").env("PATH", &dir),
        Command::new("./script").current_dir(&dir),
    ] {
        let error = command.spawn().expect_err("it has no interpreter");
        assert!(
            matches!(&error, SpawnError::NoInterpreter { program } if program.ends_with("script")),
            "{error:?}"
        );
    }
}

#[test]
fn programs_are_found_in_the_childs_path_and_folder() {
    let dir = folder("found");
    let script = dir.join("mcp-io-test-program");
    // Busy: another thread of this program may be starting a child of its own while the file is open here.
    file(&script, "#!/bin/sh\necho \"$1 in $PWD\"\n", 0o700);
    let place = dir.canonicalize().expect("it is there");
    for command in [
        Command::new("mcp-io-test-program")
            .env("PATH", &dir)
            .current_dir(&dir),
        Command::new("./mcp-io-test-program").current_dir(&dir),
        Command::new(&script).current_dir(&dir),
    ] {
        let text = run(async {
            let mut child = loop {
                match command.clone().arg("*").spawn() {
                    Ok(child) => break child,
                    Err(SpawnError::Other { error, .. })
                        if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                    Err(error) => panic!("{error}"),
                }
            };
            read_all(&mut child.reader).await
        });
        assert_eq!(text, format!("* in {}\n", place.display()), "{command:?}");
    }
}

#[test]
fn dx_07_the_environment_is_what_was_asked_for() {
    let print = |command: Command| {
        run(async {
            let mut child = command.spawn().expect("there is a shell");
            read_all(&mut child.reader).await
        })
    };
    let names = |command: Command| -> Vec<String> {
        print(command)
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name.to_owned())
            // The shell's own.
            .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()))
            .collect()
    };
    let secret = "MCP_IO_TEST_SECRET";
    let command = Command::new(std::env::current_exe().expect("this test"));
    let nested = |inherit| {
        let command = command
            .clone()
            .args(["--exact", "start::prints_its_childs_environment"]);
        names(
            command
                .args(["--ignored", "--nocapture"])
                .env(secret, "s")
                .env("INHERIT", inherit),
        )
    };
    let safe = nested("safe");
    assert!(
        safe.contains(&"A".to_owned()) && safe.contains(&"PATH".to_owned()),
        "{safe:?}"
    );
    assert!(!safe.contains(&secret.to_owned()), "{safe:?}");
    let all = nested("all");
    assert!(
        all.contains(&secret.to_owned()) && all.contains(&"A".to_owned()),
        "{all:?}"
    );
    assert!(!nested("less").contains(&secret.to_owned()));
    let nothing = Command::new("/bin/sh")
        .args(["-c", "/usr/bin/env"])
        .env_clear()
        .env("B", "2");
    assert_eq!(names(nothing), ["B"]);
}

/// With a variable in this process's environment that no test can set there.
#[test]
#[ignore = "run by the test above"]
fn prints_its_childs_environment() {
    let command = sh("env").env("A", "1");
    let command = match std::env::var("INHERIT").as_deref() {
        Ok("all") => command.inherit_env(Inherit::All),
        Ok("less") => command
            .inherit_env(Inherit::All)
            .env_remove("MCP_IO_TEST_SECRET"),
        _ => command,
    };
    let mut child = command.spawn().expect("there is a shell");
    let text = run(read_all(&mut child.reader));
    std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()).expect("it is read");
}

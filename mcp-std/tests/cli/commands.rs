//! What each command prints, for people and for programs, in all revisions.

use serde_json::json;

use crate::program::{EVERYTHING, SMALL, run};

const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

#[test]
fn list_shows_all_that_a_server_offers() {
    let text = run(&["list"], EVERYTHING).good().stdout;
    for row in [
        "mcp-serve ",
        "Something of everything, to test a client with.",
        "\nTools (",
        "  Says the text again · (text: string)",
        "\nResources (",
        "  test://static-text ",
        "\nResource templates (1)\n  test://template/{id}/data  ",
        "\nPrompts (",
        " · (arg1, arg2)\n",
    ] {
        assert!(text.contains(row), "no {row:?} in\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    // A server that offers tools only is asked for nothing else.
    let text = run(&["list"], SMALL).good().stdout;
    assert!(
        text.contains("Tools (4)") && !text.contains("Prompts"),
        "{text}"
    );

    let json = run(&["list", "--json"], EVERYTHING).good().json();
    assert_eq!(json["protocolVersion"], "2026-07-28");
    assert_eq!(json["serverInfo"]["name"], "mcp-serve");
    for (list, name, expected) in [
        ("tools", "name", "echo"),
        ("resources", "uri", "test://static-text"),
        (
            "resourceTemplates",
            "uriTemplate",
            "test://template/{id}/data",
        ),
        ("prompts", "name", "test_simple_prompt"),
    ] {
        let all = json[list].as_array().expect(list);
        assert!(all.iter().any(|it| it[name] == expected), "{all:?}");
    }
    let small = run(&["list", "--json"], SMALL).good().json();
    assert_eq!(small["tools"].as_array().map(Vec::len), Some(4));
    assert_eq!(small.get("prompts"), None, "it offers none");
}

#[test]
fn lists_in_pages_are_read_to_their_end() {
    let whole = run(&["list", "--json"], EVERYTHING).good().json();
    let paged: Vec<_> = EVERYTHING
        .iter()
        .copied()
        .chain(["--page-size", "3"])
        .collect();
    let paged = run(&["list", "--json"], &paged).good().json();
    assert_eq!(whole["tools"], paged["tools"]);
    assert_eq!(whole["prompts"], paged["prompts"]);
}

#[test]
fn call_takes_arguments_by_name_and_as_json() {
    let said = |arguments: &[&str]| run(arguments, SMALL).good().stdout;
    assert_eq!(said(&["call", "echo", "text=hello there"]), "hello there\n");
    assert_eq!(
        said(&["call", "echo", "--args", r#"{"text":"a\nb"}"#]),
        "a\nb\n"
    );
    // A string that looks like a number is asked for with its quotes.
    assert_eq!(said(&["call", "echo", "text=\"1\""]), "1\n");
    assert_eq!(
        said(&["call", "add", "b=2", "--args", r#"{"a":40,"b":1}"#]),
        "{\n  \"sum\": 42\n}\n",
        "structured content, once"
    );
    let json = run(&["call", "add", "a=1", "b=2", "--json"], SMALL)
        .good()
        .json();
    assert_eq!(json["structuredContent"], json!({"sum": 3}));
}

#[test]
fn a_tool_that_fails_is_exit_status_1() {
    let ran = run(&["call", "fail", "message=no luck"], SMALL);
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(1), "no luck\n", "")
    );
    let ran = run(&["call", "fail", "--json"], SMALL);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json()["isError"], true);
}

#[test]
fn what_cannot_be_shown_is_told() {
    let said = |tool: &str| run(&["call", tool], EVERYTHING).good().stdout;
    let image = said("test_image_content");
    assert!(
        image.starts_with("[image image/png, ") && image.ends_with(" bytes]\n"),
        "{image}"
    );
    let audio = said("test_audio_content");
    assert!(audio.starts_with("[audio audio/wav, "), "{audio}");
    let link = said("test_resource_link");
    assert!(link.starts_with("[resource "), "{link}");
    assert_eq!(said("test_multiple_content_types").lines().count(), 3);
}

#[test]
fn read_gives_text_and_bytes_as_they_are() {
    let text = "This is the content of the static text resource.";
    let read = run(&["read", "test://static-text"], EVERYTHING).good();
    assert_eq!(read.stdout, format!("{text}\n"));
    let read = run(&["read", "test://static-text", "--json"], EVERYTHING).good();
    assert_eq!(read.json()["contents"][0]["text"], text);
    let output = crate::program::command(&["read", "test://static-binary"], EVERYTHING).output();
    let bytes = output.expect("it runs").stdout;
    assert!(bytes.starts_with(b"\x89PNG\r\n"), "{bytes:?}");
    let json = run(&["read", "test://template/7/data", "--json"], EVERYTHING)
        .good()
        .json();
    assert_eq!(json["contents"][0]["uri"], "test://template/7/data");
    assert_eq!(json["contents"][0]["mimeType"], "application/json");
    // As it was asked for, and not spelled anew from what it means.
    let encoded = "test://template/a%20b/data";
    let json = run(&["read", encoded, "--json"], EVERYTHING).good().json();
    assert_eq!(json["contents"][0]["uri"], encoded);
}

#[test]
fn prompt_says_who_says_what() {
    let arguments = [
        "prompt",
        "test_prompt_with_arguments",
        "arg1=1",
        "--args",
        r#"{"arg2":"b"}"#,
    ];
    let said = "Prompt with arguments: arg1='1', arg2='b'";
    let prompt = run(&arguments, EVERYTHING).good();
    assert_eq!(prompt.stdout, format!("user: {said}\n"));
    let json = run(&[&arguments[..], &["--json"]].concat(), EVERYTHING)
        .good()
        .json();
    assert_eq!(json["messages"][0]["content"]["text"], said);
}

#[test]
fn complete_gives_a_value_a_line() {
    let prompt = [
        "complete",
        "--prompt",
        "test_prompt_with_arguments",
        "arg1=par",
    ];
    assert_eq!(
        run(&prompt, EVERYTHING).good().stdout,
        "paris\npark\nparty\n"
    );
    let template = [
        "complete",
        "--resource",
        "test://template/{id}/data",
        "id=1",
        "other=2",
    ];
    assert_eq!(run(&template, EVERYTHING).good().stdout, "123\n124\n");
    let json = run(&[&template[..], &["--json"]].concat(), EVERYTHING)
        .good()
        .json();
    assert_eq!(json["completion"]["values"], json!(["123", "124"]));
}

#[test]
fn all_revisions_are_spoken_and_no_other_than_asked_for() {
    for revision in REVISIONS {
        let with = |command: &[&str]| {
            let arguments = [command, &["--revision", revision]].concat();
            run(&arguments, EVERYTHING).good().stdout
        };
        let ping = with(&["ping"]);
        assert!(ping.starts_with("mcp-serve "), "{ping}");
        assert!(ping.contains(&format!("revision {revision}: ")), "{ping}");
        assert_eq!(with(&["call", "echo", "text=hello"]), "hello\n");
        assert!(with(&["call", "add", "a=1", "b=2"]).contains("\"sum\""));
        assert!(with(&["read", "test://static-text"]).starts_with("This is the content"));
        assert!(with(&["prompt", "test_simple_prompt"]).starts_with("user: "));
        let complete = [
            "complete",
            "--prompt",
            "test_prompt_with_arguments",
            "arg1=r",
        ];
        assert_eq!(with(&complete), "rome\n");
        assert!(with(&["list"]).contains("Prompts ("));
    }
}

#[test]
fn eras_are_found_out_or_chosen() {
    for (era, revision) in [
        ("auto", "2026-07-28"),
        ("modern", "2026-07-28"),
        ("legacy", "2025-11-25"),
    ] {
        let json = run(&["ping", "--json", "--era", era], SMALL).good().json();
        assert_eq!(json["protocolVersion"], revision);
        assert!(json["microseconds"].is_u64(), "{json}");
    }
}

#[test]
fn ping_goes_on_as_often_as_asked() {
    let ping = run(&["ping", "--count", "2"], SMALL).good();
    assert_eq!(ping.stdout.lines().count(), 2, "{}", ping.stdout);
}

/// A tool ignores what it does not know; whoever misspelt a name is told.
#[test]
fn arguments_that_no_schema_names_are_told() {
    let ran = run(&["call", "echo", "text=hi", "txet=x", "--json"], SMALL);
    assert_eq!(ran.json()["content"][0]["text"], "hi");
    assert_eq!(
        ran.stderr,
        "mcp call: the tool names no argument txet; it has: text\n"
    );
    let ran = run(&["call", "fail", "a=1"], SMALL);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("names no argument a;"),
        "{}",
        ran.stderr
    );
    let ran = run(&["call", "echo", "text=hi", "txet=x", "--trace"], SMALL);
    assert!(!ran.stderr.contains("tools/list"), "{}", ran.stderr);
}

#[test]
fn a_trace_has_progress_in_it_whatever_is_printed() {
    for json in [&[][..], &["--json"]] {
        let call = ["call", "slow", "steps=2", "delay_ms=1", "--trace"];
        let ran = run(&[&call[..], json].concat(), SMALL);
        assert!(
            ran.stderr.contains("notifications/progress"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn serve_has_the_skills_of_a_directory() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli-skills");
    let skill = folder.join("tea");
    std::fs::create_dir_all(&skill).expect("it can be made");
    let text = "---\nname: tea\ndescription: Makes tea\n---\n\nBoil the water first.\n";
    std::fs::write(skill.join("SKILL.md"), text).expect("it can be written");
    let server = [SMALL, &["--skills", folder.to_str().expect("UTF-8")]].concat();
    let read = run(&["read", "skill://tea/SKILL.md"], &server).good();
    assert_eq!(read.stdout, text);
    let none = [SMALL, &["--skills", "no-such-folder"]].concat();
    let ran = run(&["list"], &none);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("no-such-folder: "), "{}", ran.stderr);
}

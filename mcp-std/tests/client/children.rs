//! Servers as child processes: how they begin, end, are killed and started again.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_std::ProtocolVersion;
use mcp_std::client::{
    CallError, CallOptions, Change, Client, Command, ConnectError, EraCache, Restart, Shutdown,
    SpawnError, Stderr, Step, SubscriptionEnd, Timeout,
};
use mcp_std::model::SubscriptionFilter;
use serde_json::json;

use crate::peer::{MOMENT, builder};

/// An example of this package, which `cargo test` puts beside the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let directory = test.parent().and_then(Path::parent);
    let path = directory
        .expect("target/…/deps")
        .join("examples")
        .join(name);
    assert!(
        path.exists(),
        "{} is not built: run `cargo test` without `--test`, or `cargo build --example {name}` before",
        path.display()
    );
    path
}

/// A server with the tool `nap`, and the numbers of its processes as they are started.
fn napping() -> (Command, mpsc::Receiver<u32>) {
    shell(&format!("exec {}", example("server_tokio").display()))
}

/// A server written in shell, and the numbers of its processes as they are started.
pub(crate) fn shell(script: &str) -> (Command, mpsc::Receiver<u32>) {
    let (sender, pids) = mpsc::channel();
    let sender = Mutex::new(sender);
    let lines = move |line: &str| {
        if let Some(pid) = line.strip_prefix("pid ") {
            let pid = pid.parse().expect("a number");
            let _ = sender.lock().expect("no panics").send(pid);
        }
    };
    let command = Command::new("sh")
        .arg("-c")
        .arg(format!("echo pid $$ >&2; {script}"))
        .stderr(Stderr::Lines(Arc::new(lines)));
    (command, pids)
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().expect("it fits")).expect("no zero");
    // It may have ended by itself.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

/// Whether there is such a process, zombies included.
fn is_there(pid: u32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid.try_into().expect("it fits")).expect("no zero");
    rustix::process::test_kill_process(pid).is_ok()
}

pub(crate) async fn is_gone_soon(pid: u32) {
    let started = Instant::now();
    while is_there(pid) {
        smol::Timer::after(MOMENT / 10).await;
        assert!(started.elapsed() < Duration::from_secs(10), "{pid} stays");
    }
}

#[test]
fn a_server_is_started_called_and_ended() {
    smol::block_on(async {
        let client = Client::stdio(Command::new(example("server_stdio")));
        let client = client.await.expect("it connects");
        let said = client.call_tool("echo", &json!({"text": "é"})).await;
        assert_eq!(said.expect("it answers").text(), "é");
        let closed = client.close().await;
        let exit = closed.exit().expect("it has ended");
        assert!(exit.status.is_some_and(|status| status.success()), "{exit}");
        let error = client.call_tool("echo", &json!({"text": ""})).await;
        assert!(matches!(error, Err(CallError::Closed(_))));
    });
}

#[test]
fn pr_03_what_cannot_be_started_or_ends_at_once_says_why() {
    smol::block_on(async {
        let error = builder()
            .connect_stdio(Command::new("no-such-program-here"))
            .await;
        let error = error.expect_err("there is none");
        assert!(
            matches!(error, ConnectError::Spawn(SpawnError::NotFound { .. })),
            "{error}"
        );
        let command = Command::new("sh").args(["-c", "echo missing API key >&2; exit 3"]);
        let started = Instant::now();
        let error = builder().connect_stdio(command).await.expect_err("it ends");
        assert!(started.elapsed() < Duration::from_secs(2));
        let ConnectError::Closed(closed) = &error else {
            panic!("{error}");
        };
        let status = closed.exit().and_then(|exit| exit.status);
        assert_eq!(status.and_then(|status| status.code()), Some(3));
        assert!(error.to_string().contains("missing API key"), "{error}");
    });
}

#[test]
fn or_06_dropping_the_last_client_or_the_connect_ends_the_process() {
    smol::block_on(async {
        let (command, pids) = napping();
        let client = builder().connect_stdio(command).await.expect("it connects");
        let pid = pids.recv().expect("it said so");
        let other = client.clone();
        drop(client);
        other.ping().await.expect("it is there");
        drop(other);
        is_gone_soon(pid).await;

        let (command, pids) = shell("cat > /dev/null");
        let connect = builder().connect_stdio(command);
        let late = async {
            smol::Timer::after(MOMENT).await;
            Err(ConnectError::Spawn(SpawnError::NotFound {
                program: "".into(),
                searched: Vec::new(),
            }))
        };
        smol::future::or(connect, late)
            .await
            .expect_err("it is mute");
        is_gone_soon(pids.recv().expect("it said so")).await;
    });
}

/// Kills a server in the middle of calls, so often, at moments that differ.
fn killed(times: u64) {
    smol::block_on(async {
        for round in 0..times {
            let (command, pids) = napping();
            let client = builder().connect_stdio(command).await.expect("it connects");
            let pid = pids.recv().expect("it said so");
            let calls: Vec<_> = (0..3)
                .map(|_| {
                    let client = client.clone();
                    smol::spawn(
                        async move { client.call_tool("nap", &json!({"ms": 60_000})).await },
                    )
                })
                .collect();
            // Before the calls are sent, while, and after.
            smol::Timer::after(Duration::from_micros(round * 7919 % 5000)).await;
            kill(pid);
            let killed = Instant::now();
            for call in calls {
                let error = call.await.expect_err("it was killed");
                let CallError::Closed(closed) = &error else {
                    panic!("{error}");
                };
                let exit = closed.exit().expect("it is known");
                assert!(
                    !exit.status.is_some_and(|status| status.success()),
                    "{exit}"
                );
            }
            assert!(killed.elapsed() < Duration::from_secs(2), "at once");
            client.close().await;
            assert!(!is_there(pid), "not even a zombie");
        }
    });
}

#[test]
fn pr_04_a_server_that_is_killed_fails_its_calls_at_once() {
    killed(50);
}

#[test]
#[ignore = "takes a minute: cargo test -p mcp-std --test client -- --ignored"]
fn a_server_that_is_killed_five_hundred_times_fails_its_calls_at_once() {
    killed(500);
}

#[test]
fn pr_04_a_server_that_ends_is_started_again_and_calls_that_may_are_made_again() {
    smol::block_on(async {
        let (command, pids) = napping();
        let restart = Restart::on_exit(5, Duration::from_millis(20));
        let builder = builder().restart(restart);
        let client = builder.connect_stdio(command).await.expect("it connects");
        let first = pids.recv().expect("it said so");
        let nap = json!({"ms": 500});
        let lost = client.call_tool("nap", &nap);
        let made_again = client.call_tool_with("nap", &nap, CallOptions::new().retry(true));
        let killing = async {
            smol::Timer::after(MOMENT).await;
            kill(first);
        };
        let calls = smol::future::zip(lost, made_again);
        let ((lost, made_again), ()) = smol::future::zip(calls, killing).await;
        assert!(matches!(lost, Err(CallError::Closed(_))), "{lost:?}");
        assert_eq!(made_again.expect("by the next").text(), "slept for 500 ms");
        let second = pids.recv().expect("it said so");
        kill(second);
        client.list_tools().await.expect("by the third");
        assert!(client.closed().is_none());
        client.close().await;
        for pid in [first, second, pids.recv().expect("it said so")] {
            assert!(!is_there(pid));
        }
    });
}

#[test]
fn or_06_pr_04_restarts_have_an_end() {
    smol::block_on(async {
        let (command, pids) = napping();
        let restart = Restart::on_exit(2, Duration::from_millis(5));
        let builder = builder().restart(restart);
        let client = builder.connect_stdio(command).await.expect("it connects");
        for _ in 0..3 {
            kill(pids.recv().expect("it said so"));
        }
        let error = client.list_tools().await.expect_err("enough");
        assert!(matches!(error, CallError::Closed(_)), "{error}");
        assert!(pids.try_recv().is_err(), "no fourth one");
    });
}

/// A server of 2025-06-18 that dies of what it does not know.
const FRAGILE: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"server/discover"'*) echo asked >&2; exit 7 ;;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"f","version":"1"}}}\n' "$id" ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
    esac
done
"#;

#[test]
fn a_server_that_dies_of_the_probe_is_asked_in_the_old_way_and_that_is_remembered() {
    smol::block_on(async {
        let (command, pids) = shell(FRAGILE);
        let eras = EraCache::new();
        for started in [2, 1] {
            let builder = builder().era_cache(&eras);
            let client = builder.connect_stdio(command.clone()).await;
            let client = client.expect("it connects");
            assert_eq!(client.version().as_str(), "2025-06-18");
            client.ping().await.expect("it is there");
            client.close().await;
            assert_eq!(pids.try_iter().count(), started);
        }
        assert!(eras.get(&command).is_some());
    });
}

#[test]
fn subscriptions_outlive_a_server() {
    smol::block_on(async {
        let (command, pids) = shell(FRAGILE);
        let builder = builder().restart(Restart::on_exit(5, Duration::from_millis(5)));
        let client = builder.connect_stdio(command).await.expect("it connects");
        let mut filter = SubscriptionFilter::default();
        filter.resource_subscriptions = Some(["a:b".into()].into());
        let mut changes = client.subscribe(filter).await.expect("it is taken");
        let last = pids.try_iter().last().expect("it said so");
        kill(last);
        let change = changes.next().await;
        let missed = Change::Resource("a:b".to_owned());
        assert_eq!(change, Some(missed), "nobody knows what changed meanwhile");
        client.close().await;
        assert_eq!(changes.next().await, None);
        assert!(matches!(changes.end(), Some(SubscriptionEnd::Closed(_))));
    });
}

/// What an example prints about the server that it is given.
fn run(name: &str) -> String {
    let output = std::process::Command::new(example(name))
        .arg(example("server_stdio"))
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn the_examples_do_what_they_show() {
    let expected = "parrot 1.0.0 speaks 2026-07-28\necho: Says the text again\nhello\n";
    assert_eq!(run("client"), expected);
    assert_eq!(run("client_blocking"), expected);
}

#[test]
fn or_05_a_call_has_one_limit_of_time_with_all_that_it_waits_for() {
    let silent = FRAGILE.replace("*'\"id\":'*)", "*'\"ping\"'*) ;;\n    *'\"id\":'*)");
    let total = 4 * MOMENT;
    let mut limits = mcp_std::Limits::DEFAULT;
    limits.max_pending = 1;
    smol::block_on(async {
        let (command, pids) = shell(&silent);
        let builder = builder()
            .limits(limits)
            .restart(Restart::on_exit(5, Duration::from_secs(30)));
        let client = builder.connect_stdio(command).await.expect("it connects");
        let call = || async {
            let started = Instant::now();
            let options = CallOptions::new().max_total(total).retry(true);
            let error = client.request_by_name("ping", &(), options).await;
            let error = error.expect_err("there is no answer");
            let over = CallError::Timeout(Timeout::Total(total));
            assert_eq!(error.to_string(), over.to_string());
            let took = started.elapsed();
            assert!(total <= took && took < total + 20 * MOMENT, "{took:?}");
        };
        let killing = async {
            smol::Timer::after(MOMENT).await;
            kill(pids.try_iter().last().expect("it said so"));
            smol::Timer::after(MOMENT).await;
            // There is no connection.
            call().await;
        };
        // One is on its way when the server ends, and one waits for its place.
        let calls = smol::future::zip(call(), call());
        smol::future::zip(calls, killing).await;
        assert!(
            client.closed().is_none(),
            "the server would be started again"
        );
        client.close().await;
    });
}

#[test]
fn a_program_is_given_the_time_to_end_that_was_said() {
    smol::block_on(async {
        let (command, pids) = shell(&format!(
            "trap '' TERM; {FRAGILE} while :; do sleep 0.05; done"
        ));
        let mut times = Shutdown::default();
        times.after_close = MOMENT;
        times.after_term = MOMENT;
        let client = builder().shutdown(times).connect_stdio(command).await;
        let client = client.expect("it connects");
        let started = Instant::now();
        let exit = client.close().await.exit().expect("it has ended");
        let took = started.elapsed();
        assert_eq!(exit.step, Step::Killed);
        assert!(2 * MOMENT <= took && took < 15 * MOMENT, "{took:?}");
        assert!(!is_there(pids.try_iter().last().expect("it said so")));
    });
}

/// A server that only closed its output did not end by itself: the signal that ended it was ours.
#[test]
fn a_server_that_closes_its_output_is_not_said_to_have_ended() {
    let script = r#"
read -r line
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"c","version":"1"}}}\n' "$id"
exec >&-
while :; do sleep 0.05; done
"#;
    smol::block_on(async {
        let (command, _pids) = shell(script);
        let mut times = Shutdown::default();
        times.after_close = MOMENT;
        let client = builder()
            .revision(ProtocolVersion::V2025_06_18)
            .shutdown(times)
            .connect_stdio(command)
            .await
            .expect("it connects");
        // Until it is noticed.
        client.ping().await.expect_err("nobody answers");
        let closed = client.close().await;
        assert_eq!(closed.exit().map(|exit| exit.step), Some(Step::Terminated));
        let said = closed.to_string();
        assert!(
            said.starts_with("the server closed the connection; "),
            "{said}"
        );
    });
}

#[test]
fn what_a_server_says_on_standard_error_is_there_while_it_runs() {
    let server = example("server_tokio");
    let script = format!("echo hello >&2; exec {}", server.display());
    let command = Command::new("sh").arg("-c").arg(script);
    smol::block_on(async {
        let client = builder().connect_stdio(command).await;
        let client = client.expect("it connects");
        // Another stream than that of the answers: it may be read later.
        let started = Instant::now();
        while client.stderr() != "hello\n" {
            assert!(
                started.elapsed() < Duration::from_secs(10),
                "{:?}",
                client.stderr()
            );
            smol::Timer::after(MOMENT / 10).await;
        }
        let closed = client.close().await;
        let shown = format!("{closed:?}");
        assert!(
            shown.starts_with("Closed { reason: Us, exit: Some(\""),
            "{shown}"
        );
    });
}

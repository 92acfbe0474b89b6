//! An agent over servers: the names of a host, its snapshots, and its marks around what servers say.

use mcp_std::Server;
use mcp_std::host::adapters::Turn;
use mcp_std::host::model::{Answer, ScriptedModel};
use mcp_std::host::{Agent, Finish, Host, HostConfig, ServerConfig};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

#[test]
fn an_agent_calls_what_servers_offer() {
    let parrot = Server::builder("parrot", "1")
        .tool("echo", "Says the text again", |args: Echo| async move {
            args.text
        })
        .build()
        .expect("a server");
    let grump = Server::builder("grump", "1")
        .tool("echo", "Refuses", |_: Echo| async {
            Err::<String, _>(std::io::Error::other("no"))
        })
        .build()
        .expect("a server");
    smol::block_on(async {
        let config = HostConfig::new()
            .server(ServerConfig::in_process("parrot", &parrot))
            .server(ServerConfig::in_process("grump", &grump));
        let host = Host::builder(config).start();
        host.settled().await;
        let model = ScriptedModel::new([
            Answer::calls([
                ("parrot__echo", json!({"text": "hello"})),
                ("grump__echo", json!({"text": "hello"})),
                ("parrot__echo", json!({"wrong": 1})),
            ]),
            Answer::text("Done."),
        ]);
        let agent = Agent::new(model, host.session());
        let mut turns = vec![Turn::user("Go.")];
        let outcome = agent.run(&mut turns, &mut |_| {}).await.expect("a run");
        assert_eq!(outcome.finish, Finish::Answered);
        let Turn::Results(results) = &turns[2] else {
            panic!("{turns:?}");
        };
        let text = |at: usize| results[at].result.content[0].as_text().expect("a text");
        assert!(
            text(0).contains("from=\"parrot\"") && text(0).contains("\nhello\n"),
            "{}",
            text(0)
        );
        assert!(
            text(1).contains("\nno\n") && results[1].result.is_error,
            "{}",
            text(1)
        );
        assert!(
            text(2).contains("text") && results[2].result.is_error,
            "{}",
            text(2)
        );
        assert!(
            agent.model().prompts()[0]
                .as_str()
                .contains("Says the text again")
        );
        host.close().await;
    });
}

//! A client and a server in one process, without any I/O and with a clock that stands where it is put: two engines, and a
//! buffer in each direction.

mod echo;

use std::error::Error;
use std::io::Write as _;

use mcp_core::Limits;
use mcp_core::binding::{StdioClient, StdioServer};
use mcp_core::engine::client::{CallOptions, ClientConfig, ClientEngine, Incoming, Outcome};
use mcp_core::engine::server::ServerEngine;
use mcp_core::frame::Lines;
use mcp_core::json::Json;
use mcp_core::model::Implementation;
use mcp_core::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let config = ClientConfig::new(Implementation::constant("pair", "1.0.0"));
    let mut client = StdioClient::new(ClientEngine::new(config, Limits::DEFAULT, 1));
    let mut server = StdioServer::new(ServerEngine::new(echo::catalog()?, Limits::DEFAULT, 2));
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    let now = Instant::ZERO;
    client
        .engine_mut()
        .connect(now, &mut Lines::new(&mut to_server))?;
    loop {
        let used = echo::serve(&mut server, &to_server, &mut to_client);
        to_server.drain(..used);

        let step = client.receive(now, &to_client, &mut to_server);
        let used = step.consumed;
        match step.incoming {
            Some(Incoming::Connected) => {
                let params =
                    Json::constant(r#"{"name":"echo","arguments":{"text":"without a wire"}}"#);
                let (options, out) = (CallOptions::default(), &mut Lines::new(&mut to_server));
                let engine = client.engine_mut();
                engine.call(now, "tools/call", &params, &options, out)?;
            }
            Some(Incoming::Answer {
                outcome: Outcome::Complete(result),
                ..
            }) => {
                let text = echo::text_of(result).ok_or("no text")?;
                writeln!(std::io::stdout(), "{text}")?;
                return Ok(());
            }
            Some(Incoming::Handled) => {}
            other => return Err(format!("{other:?}").into()),
        }
        to_client.drain(..used);
    }
}

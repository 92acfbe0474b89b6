//! `mcp ping`: whether a server is there, and how fast.

use core::num::NonZeroU32;
use core::time::Duration;
use std::process::ExitCode;

use async_io::Timer;
use mcp_core::json::Json;

use crate::connect::{Connected, Target, output};
use crate::failure::Failure;
use crate::show;
use crate::text::duration;

#[derive(clap::Args)]
#[command(after_help = "Example: mcp ping --count 3 -- mcp serve

Servers of 2026-07-28 have no ping: they are asked who they are instead.")]
pub(crate) struct Ping {
    /// How often; a second lies between two
    #[arg(short, long, value_name = "N", default_value = "1")]
    count: NonZeroU32,
    #[command(flatten)]
    target: Target,
}

impl Ping {
    pub(crate) fn run(&self) -> ExitCode {
        self.target.run("ping", |server| self.ping(server))
    }

    async fn ping(&self, server: Connected<'_>) -> Result<(), Failure> {
        for round in 0..self.count.get() {
            if round > 0 {
                Timer::after(Duration::from_secs(1)).await;
            }
            let took = server.client.ping().await?;
            if self.target.json {
                output(json(&server, took).as_bytes())?;
            } else {
                let line = format!(
                    "{}, revision {}: {}\n",
                    show::word(&server.server_name()),
                    server.client.version().as_str(),
                    duration(took)
                );
                output(line.as_bytes())?;
            }
        }
        Ok(())
    }
}

fn json(server: &Connected<'_>, took: Duration) -> String {
    let json = Json::written(|json| {
        json.begin_object();
        json.key("server");
        json.string(&server.server_name());
        json.key("protocolVersion");
        json.string(server.client.version().as_str());
        json.key("microseconds");
        json.unsigned(took.as_micros().try_into().unwrap_or(u64::MAX));
        json.end_object();
    });
    format!("{}\n", json.as_str())
}

//! A server whose tool prints, as tools do that were not written for this: it does not harm the protocol, which has
//! standard output for itself.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::Command;

use mcp_std::Server;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder("stray-prints", "1.0.0")
        .tool("chatty", "Prints all over the place", chatty)
        .build()?;
    server.run_stdio()?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is what it shows")]
async fn chatty() -> Result<&'static str, std::io::Error> {
    println!("[println!]");
    print!("[print!]");
    let mut descriptor = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    descriptor.write_all(b"[descriptor 1]\n")?;
    Command::new("echo").arg("[child process]").status()?;
    let mut read = Vec::new();
    std::io::stdin().read_to_end(&mut read)?;
    println!("[standard input: {} bytes]", read.len());
    Ok("nothing of it came here")
}

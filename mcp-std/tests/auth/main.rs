//! Authorization of the client: logins, what is kept of them, and what others may try meanwhile.

mod attacks;
mod both;
mod examples;
mod grants;
mod kept;
#[path = "../http_auth/keys.rs"]
#[expect(dead_code, reason = "the tests of servers use all of it")]
mod keys;
mod login;
mod logout;
mod loopback;
#[cfg(feature = "cli")]
mod program;
mod robust;
mod secrets;
mod site;
#[cfg(all(feature = "cli", unix))]
mod stdio;
mod world;

//! Authorization of the client: logins, what is kept of them, and what others may try meanwhile.

mod attacks;
mod examples;
mod grants;
mod kept;
mod login;
mod loopback;
#[cfg(feature = "cli")]
mod program;
mod secrets;
mod site;
mod world;

//! Authorization of the client: logins, what is kept of them, and what others may try meanwhile.

mod attacks;
mod grants;
mod kept;
mod login;
mod logout;
mod loopback;
#[cfg(feature = "cli")]
mod program;
mod robust;
mod secrets;
mod site;
mod world;

//! `server.json`: what is wrong with one, and what a host makes of it.

mod configuring;
mod files;
mod program;
mod validating;

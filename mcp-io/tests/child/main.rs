//! Real processes: started, talked to, ended, and none left behind.
#![cfg(unix)]

mod end;
mod processes;
mod start;
mod stderr;
mod streams;

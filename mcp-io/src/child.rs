//! Servers as child processes: their pipes as streams, their standard error drained, their end noticed and enforced.
//!
//! [`Command`] says what to start; [`Command::spawn`] gives a [`Child`]: a [`Reader`] and a [`Writer`] for
//! [`drive`](crate::drive), and a [`Handle`] on the process.
//!
//! Each child has a thread of this process that looks after it, whatever executor polls the streams and whether it does:
//!
//! ```text
//!                    .-- drains standard error --> tail, lines
//!  child's thread ---+-- notices the exit -------> Exit, end of the Reader
//!                    '-- ends the process: close standard input, wait, SIGTERM, wait, SIGKILL, reap
//! ```
//!
//! On Unix the child leads a process group of its own, and signals go to the whole group: a shell or `npx` takes its
//! children with it. A process that leaves the group (a daemon) is out of reach; it keeps neither a [`Reader`] open nor
//! a [`Handle::shutdown`] waiting. On Windows there is no group: closing standard input is the only thing that reaches
//! grandchildren, and what kills the child leaves them.
//!
//! Should this process be killed itself, nothing is left to end the child; it finds the end of its standard input.

mod command;
mod error;
mod group;
mod handle;
mod lookup;
mod stderr;
mod streams;
mod supervisor;

pub use command::{Command, Inherit, Stderr};
pub use error::SpawnError;
pub use handle::{Exit, Handle, Shutdown, Step};
pub use streams::{Reader, Writer};

/// A process that was started, in three parts that can go to different places.
#[derive(Debug)]
#[non_exhaustive]
pub struct Child {
    /// Its standard output.
    pub reader: Reader,
    /// Its standard input.
    pub writer: Writer,
    /// The process. Dropping this kills it.
    pub handle: Handle,
}

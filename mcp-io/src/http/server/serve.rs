//! Runs a server.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::thread;

use async_channel::Receiver;
use async_executor::{Executor, LocalExecutor};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use tower_service::Service;

use super::accept::{Verdict, accept};
use super::connection::{self, Settings};
use super::{Error, Listener, Options, ShuttingDown};

/// Serves connections of `listener` until `shutdown` resolves.
///
/// Then nobody is accepted any more, idle connections are closed, and what is in flight has [`Options::grace`] to end,
/// each connection with its response. What has not ended by then is dropped. A service with streams that never end by
/// themselves should end them when the shutdown begins: see [`ShuttingDown`].
///
/// Dropping the future drops all connections at once.
///
/// # Errors
///
/// [`Error::Thread`]: one of [`Options::threads`] could not be started; nothing was served.
pub async fn serve<S, B>(
    listener: Listener,
    service: S,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error>
where
    S: Clone + Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let executor = Arc::new(Executor::new());
    // Dropped with this future, which ends the threads.
    let ending = Ending(ShuttingDown::new());
    for _ in 1..options.threads {
        run_thread(Arc::clone(&executor), ending.0.receiver())?;
    }
    let stop = ShuttingDown::new();
    let settings = Arc::new(Settings::new(&options, stop.receiver()));
    let accepting = accept(
        listener,
        &options,
        shutdown,
        || stop.begin(),
        |socket, slot, verdict| {
            let task = match verdict {
                Verdict::Serve => executor.spawn(connection::serve(
                    socket,
                    service.clone(),
                    Arc::clone(&settings),
                    slot,
                )),
                Verdict::Refuse => executor.spawn(connection::refuse(socket, slot)),
            };
            task.detach();
        },
    );
    executor.run(accepting).await;
    Ok(())
}

/// [`serve`] on the caller's thread only, for services that cannot be sent to another one.
///
/// # Errors
///
/// None so far.
pub async fn serve_local<S, B>(
    listener: Listener,
    service: S,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error>
where
    S: Clone + Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + 'static,
    S::Future: 'static,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let executor = LocalExecutor::new();
    let stop = ShuttingDown::new();
    let settings = Arc::new(Settings::new(&options, stop.receiver()));
    let accepting = accept(
        listener,
        &options,
        shutdown,
        || stop.begin(),
        |socket, slot, verdict| {
            let task = match verdict {
                Verdict::Serve => executor.spawn(connection::serve(
                    socket,
                    service.clone(),
                    Arc::clone(&settings),
                    slot,
                )),
                Verdict::Refuse => executor.spawn(connection::refuse(socket, slot)),
            };
            task.detach();
        },
    );
    executor.run(accepting).await;
    Ok(())
}

struct Ending(ShuttingDown);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.begin();
    }
}

fn run_thread(executor: Arc<Executor<'static>>, ended: Receiver<Infallible>) -> Result<(), Error> {
    thread::Builder::new()
        .name("mcp-http".into())
        .spawn(move || {
            async_io::block_on(executor.run(async {
                let Err(_closed) = ended.recv().await;
            }));
        })
        .map(drop)
        .map_err(Error::Thread)
}

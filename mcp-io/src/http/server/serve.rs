//! Runs a server.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_channel::{Receiver, Sender};
use async_executor::Executor;
use async_io::Timer;
use bytes::Bytes;
use futures_lite::future;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use tower_service::Service;
use tracing::debug;

use super::accept::{Verdict, accept};
use super::connection::{self, Settings};
use super::options::Around;
use super::reactor::Reactor;
use super::slots::Slots;
use super::straight::{Straight, Take};
use super::{Error, Listener, Options, ShuttingDown};

/// Serves connections of `listener` until `shutdown` resolves.
///
/// Then nobody is accepted any more, idle connections are closed, and what is in flight has [`Options::grace`] to end,
/// each connection with its response. What has not ended by then is dropped. A service with streams that never end by
/// themselves should end them when the shutdown begins: see [`ShuttingDown`].
///
/// The work is done on [`Options::threads`] threads of the server's own; the future can be polled by any executor. Dropping
/// it drops all connections as soon as those threads have nothing else to do.
///
/// # Errors
///
/// [`Error::Poll`], [`Error::Thread`]: nothing was served.
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
    run(listener, service, None, options, shutdown).await
}

/// The same as [`serve`], for a service that answers ordinary requests at once: those that came whole cost about half as
/// much.
///
/// # Errors
///
/// The same.
pub async fn serve_straight<S, B>(
    listener: Listener,
    service: S,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error>
where
    S: Clone + Straight + Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    run(listener, service, Some(S::straight), options, shutdown).await
}

async fn run<S, B>(
    listener: Listener,
    service: S,
    take: Option<Take<S>>,
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
    let reactor = Arc::new(Reactor::new().map_err(Error::Poll)?);
    let acceptor = listener.register(&reactor).map_err(Error::Poll)?;
    let slots = Arc::new(Slots::new());
    let stopping = ShuttingDown::new();
    let threads = Threads::new(reactor, options.around.clone());
    let accepting = {
        // One of its tasks is not to keep it.
        let executor = Arc::downgrade(&threads.executor);
        let settings = Arc::new(Settings::new(&options, stopping.receiver()));
        let max_connections = options.max_connections;
        let (slots, stopping) = (slots.clone(), stopping.clone());
        let start = move |socket, slot, verdict| {
            let Some(executor) = executor.upgrade() else {
                return;
            };
            let task = match verdict {
                Verdict::Serve => executor.spawn(connection::serve(
                    socket,
                    service.clone(),
                    take,
                    Arc::clone(&settings),
                    slot,
                )),
                Verdict::Refuse => executor.spawn(connection::refuse(socket, slot)),
            };
            task.detach();
        };
        async move {
            let accepting = accept(acceptor, &slots, max_connections, start);
            future::or(stopping.begun(), accepting).await;
        }
    };
    for _ in 0..options.threads.max(1) {
        threads.start()?;
    }
    // On whatever thread is not blocked.
    let mut accepting = threads.executor.spawn(accepting);

    // If accepting panics, so does this: a server that serves nobody is not to look like one that does.
    let failed = async {
        (&mut accepting).await;
        future::pending().await
    };
    future::or(shutdown, failed).await;
    debug!(connections = slots.taken(), "shutting down");
    stopping.begin();
    let ended = async {
        accepting.await;
        slots.at_most(0).await;
    };
    within(options.grace, ended).await;
    threads.end().await;
    Ok(())
}

/// The threads of a server. They end when this is dropped.
struct Threads {
    reactor: Arc<Reactor>,
    executor: Arc<Executor<'static>>,
    ending: ShuttingDown,
    around: Around,
    /// Each thread has one until it has ended.
    alive: Option<Sender<Infallible>>,
    gone: Receiver<Infallible>,
}

impl Threads {
    fn new(reactor: Arc<Reactor>, around: Around) -> Self {
        let (alive, gone) = async_channel::bounded(1);
        Self {
            reactor,
            executor: Arc::new(Executor::new()),
            ending: ShuttingDown::new(),
            around,
            alive: Some(alive),
            gone,
        }
    }

    fn start(&self) -> Result<(), Error> {
        let (reactor, executor) = (self.reactor.clone(), self.executor.clone());
        let (ending, alive) = (self.ending.clone(), self.alive.clone());
        let around = self.around.clone();
        let run = move || {
            around.run(|| reactor.block_on(executor.run(ending.begun())));
            drop(executor);
            drop(alive);
        };
        let thread = thread::Builder::new().name("mcp-http".into());
        thread.spawn(run).map(drop).map_err(Error::Thread)
    }

    /// Waits for their end, which drops all connections; not for long, if a handler blocks one.
    async fn end(mut self) {
        self.executor = Arc::default();
        self.alive = None;
        self.ending.begin();
        let gone = self.gone.clone();
        within(Duration::from_secs(1), async {
            let Err(_closed) = gone.recv().await;
        })
        .await;
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.ending.begin();
    }
}

async fn within(time: Duration, future: impl Future<Output = ()>) {
    future::or(future, async {
        Timer::after(time).await;
    })
    .await;
}

//! What can be said about one call, and about all of them.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use async_channel::{Receiver, Sender};
use mcp_core::json::Json;
use mcp_core::model::{LoggingLevel, Progress, Tool};

use super::error::CallError;

/// How long things may take. There may be more of them some day, so the defaults are taken and changed:
///
/// ```
/// use core::time::Duration;
/// use mcp_std::client::{Client, Timeouts};
///
/// let mut timeouts = Timeouts::DEFAULT;
/// timeouts.idle = Some(Duration::from_secs(300));
/// let builder = Client::builder("my-program", "1.0.0").timeouts(timeouts);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timeouts {
    /// From the start of the program, or the stream, to the end of the handshake, whatever the number of questions that
    /// takes. Default: 60 seconds, since some servers are downloaded when they are started.
    pub connect: Duration,
    /// An old server may be silent when it is asked for the newest revision: after this long it is asked in the old way.
    /// Default: 5 seconds.
    pub probe: Duration,
    /// A request may be silent for so long from when it is sent; progress starts it anew. So long a subscription may take to
    /// begin, too. Default: 60 seconds.
    pub request: Duration,
    /// A call may take so long altogether, from when it is made: until it is sent, whatever the progress, with all input that
    /// the server requires and the pauses it asks for, and made again on other connections. Pages of a list are calls of
    /// their own. Default: 1 hour.
    pub max_total: Duration,
    /// After so much silence of the server it is asked whether it is there: by `ping`, or `server/discover` where there is no
    /// `ping`. If it does not answer within [`request`](Self::request), the connection is over. Default: never.
    pub idle: Option<Duration>,
}

impl Timeouts {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(60),
        probe: Duration::from_secs(5),
        request: Duration::from_secs(60),
        max_total: Duration::from_secs(60 * 60),
        idle: None,
    };
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Whether a server that ended is started again.
///
/// Only for servers that the client started, [`connect_stdio`](super::ClientBuilder::connect_stdio), and for those at a URL:
/// there it means that the handshake is done again when the server can be reached no more in the way it was, such as a session
/// that it has ended and does not renew. A single exchange that fails is no such end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Restart {
    /// It is not: the client is closed then.
    #[default]
    Never,
    /// It is, after a pause that doubles each time up to 30 seconds, and begins anew once a connection has held for a minute.
    #[non_exhaustive]
    OnExit {
        /// So many times in a row at most.
        max: u32,
        /// The first pause.
        backoff: Duration,
    },
}

impl Restart {
    /// Up to `max` times in a row, after `backoff` at first.
    #[must_use]
    pub const fn on_exit(max: u32, backoff: Duration) -> Self {
        Self::OnExit { max, backoff }
    }

    /// The pause before start number `attempt` in a row, the first being 0. `None`: enough.
    pub(crate) fn pause(self, attempt: u32) -> Option<Duration> {
        const LONGEST: Duration = Duration::from_secs(30);
        match self {
            Self::OnExit { max, backoff } if attempt < max => Some(
                backoff
                    .saturating_mul(1 << attempt.min(16))
                    .min(LONGEST.max(backoff)),
            ),
            Self::Never | Self::OnExit { .. } => None,
        }
    }
}

/// Counts the starts in a row.
#[derive(Debug)]
pub(crate) struct Restarts {
    policy: Restart,
    attempt: u32,
}

impl Restarts {
    /// A connection that held for so long was a good one: pauses begin anew.
    const GOOD: Duration = Duration::from_secs(60);

    pub(crate) const fn new(policy: Restart) -> Self {
        Self { policy, attempt: 0 }
    }

    /// The pause before the next start, and which in a row that is, from 1 on; `held` is how long there was a connection.
    /// `None`: enough.
    pub(crate) fn next(&mut self, held: Option<Duration>) -> Option<(Duration, u32)> {
        if held >= Some(Self::GOOD) {
            self.attempt = 0;
        }
        let pause = self.policy.pause(self.attempt)?;
        self.attempt += 1;
        Some((pause, self.attempt))
    }
}

/// Is told how far a call has come.
pub(crate) type OnProgress = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// What is said about one call. Begin with [`CallOptions::new`].
///
/// ```
/// # use core::time::Duration;
/// use mcp_std::client::CallOptions;
///
/// let options = CallOptions::new()
///     .timeout(Duration::from_secs(5))
///     .on_progress(|progress| eprintln!("{}", progress.progress));
/// ```
#[derive(Clone, Default)]
#[must_use = "it says something about a call, and makes none"]
pub struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_total: Option<Duration>,
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) meta: Option<Json<'static>>,
    pub(crate) canceller: Option<Canceller>,
    pub(crate) retry: bool,
    pub(crate) cache: CacheUse,
    /// A task is not waited for.
    pub(crate) begin: bool,
}

/// What a call has to do with the cache.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum CacheUse {
    /// A fresh answer is taken from there, and one that may be kept goes there.
    #[default]
    Use,
    /// The server is asked in any case, and the answer goes there.
    Refresh,
    /// The answer is asked for, and is not kept.
    Bypass,
}

impl CallOptions {
    /// As the client does it when nothing is said.
    pub fn new() -> Self {
        Self::default()
    }

    /// Each request of the call may be silent for so long from when it is sent; progress starts it anew.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The call may take so long altogether, from when it is made: see [`Timeouts::max_total`].
    pub const fn max_total(mut self, time: Duration) -> Self {
        self.max_total = Some(time);
        self
    }

    /// Asks the server for progress, and is told of it. It runs where the connection is read: what takes long in it
    /// holds up all calls.
    pub fn on_progress(mut self, told: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(told));
        self
    }

    /// Asks a server of 2026-07-28 for the log messages of this call, from this level on. Older servers have one
    /// level for all calls: [`Client::set_level`](super::Client::set_level).
    // LOG-05.
    pub const fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Members of the request's `_meta`, such as `traceparent`, `tracestate` and `baggage`: a JSON object. The protocol's
    /// own members are added and cannot be replaced.
    pub fn meta(mut self, meta: Json<'static>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The call can be cancelled by this.
    pub fn canceller(mut self, canceller: &Canceller) -> Self {
        self.canceller = Some(canceller.clone());
        self
    }

    /// When the connection ends before the answer has come, the call is made again on the next one; see [`Restart`]. For
    /// tools that may be called twice: `idempotentHint` or `readOnlyHint` says so. Lists, reads and pings are made again
    /// without that.
    pub const fn retry(mut self, retry: bool) -> Self {
        self.retry = retry;
        self
    }

    /// [`retry`](Self::retry), if the tool says of itself that it may be called twice. That is what the server says; it is
    /// to be believed only of a server that is trusted.
    pub fn retry_if_safe(self, tool: &Tool<'_>) -> Self {
        let safe = tool.annotations.as_ref().is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        self.retry(safe)
    }

    /// What the call has to do with the cache.
    pub const fn cache(mut self, cache: CacheUse) -> Self {
        self.cache = cache;
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max_total", &self.max_total)
            .field("progress", &self.on_progress.is_some())
            .field("log_level", &self.log_level)
            .field("retry", &self.retry)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

/// Cancels calls from somewhere else: another task, a signal handler, a button. Its clones are one.
///
/// Dropping the future of a call cancels it as well.
#[derive(Clone, Debug)]
pub struct Canceller {
    sender: Sender<()>,
    receiver: Receiver<()>,
}

impl Canceller {
    /// For any number of calls, which are cancelled together.
    #[must_use]
    pub fn new() -> Self {
        let (sender, receiver) = async_channel::bounded(1);
        Self { sender, receiver }
    }

    /// Cancels the calls that were given this, now and later ones.
    pub fn cancel(&self) {
        self.sender.close();
    }

    /// `call`, or [`CallError::Cancelled`] as soon as [`cancel`](Self::cancel) is called.
    pub(crate) async fn guard<T>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let cancelled = async {
            // Nothing is ever sent: this ends when the channel is closed.
            let _ = self.receiver.recv().await;
            Err(CallError::Cancelled)
        };
        futures_lite::future::or(cancelled, call).await
    }
}

impl Default for Canceller {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_core::model::ToolAnnotations;

    #[test]
    fn pauses_double_up_to_a_bound_and_end() {
        let restart = Restart::on_exit(8, Duration::from_millis(500));
        let pauses: Vec<_> = (0..9)
            .map(|attempt| restart.pause(attempt).map(|pause| pause.as_millis()))
            .collect();
        let expected = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map(Some);
        assert_eq!(pauses[..8], expected);
        assert_eq!(pauses[8], None);
        assert_eq!(Restart::Never.pause(0), None);
    }

    #[test]
    fn a_connection_that_held_makes_the_count_begin_anew() {
        const SECOND: Duration = Duration::from_secs(1);
        let mut restarts = Restarts::new(Restart::on_exit(2, SECOND));
        let (short, long) = (Some(59 * SECOND), Some(60 * SECOND));
        assert_eq!(restarts.next(None), Some((SECOND, 1)));
        assert_eq!(restarts.next(short), Some((2 * SECOND, 2)));
        assert_eq!(restarts.next(short), None);
        assert_eq!(restarts.next(None), None);
        assert_eq!(restarts.next(long), Some((SECOND, 1)));
        assert_eq!(restarts.next(None), Some((2 * SECOND, 2)));
    }

    #[test]
    fn hc_09_a_tool_is_called_again_only_if_it_says_that_it_may_be() {
        let mut tool = Tool::new("t", Json::EMPTY_OBJECT);
        let retried = |tool: &Tool<'_>| CallOptions::new().retry_if_safe(tool).retry;
        assert!(!retried(&tool));
        let mut hints = ToolAnnotations::default();
        hints.destructive_hint = Some(false);
        tool.annotations = Some(hints.clone());
        assert!(!retried(&tool));
        hints.idempotent_hint = Some(true);
        tool.annotations = Some(hints);
        assert!(retried(&tool));
    }

    #[test]
    fn a_cancelled_call_ends_at_once_and_one_that_is_done_is_done() {
        let canceller = Canceller::new();
        let done = futures_lite::future::block_on(canceller.guard(async { Ok(1) }));
        assert_eq!(done.expect("it is not cancelled"), 1);
        canceller.clone().cancel();
        let call = canceller.guard(core::future::pending::<Result<(), _>>());
        let error = futures_lite::future::block_on(call).expect_err("it is");
        assert!(matches!(error, CallError::Cancelled));
    }
}

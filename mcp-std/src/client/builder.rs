//! What a client is to be, before it is connected.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::time::Duration;
use std::io::{Read, Write};
use std::sync::Arc;

use futures_lite::{AsyncRead, AsyncWrite};
use mcp_core::Limits;
use mcp_core::engine::client::{ClientConfig, EraMode};
use mcp_core::json::Json;
use mcp_core::model::{
    CallToolResult, CreateMessageResult, ElicitResult, Era, Implementation, LoggingLevel,
    LoggingMessage, ProtocolVersion, Root,
};
use mcp_io::child::{Command, Shutdown};
#[cfg(feature = "http")]
use mcp_io::http::client::Proxy;
use serde_json::{Value, json};
use smol::{Task, Unblock, block_on, unblock};

use super::Client;
use super::cache::{Cache, CacheLimits};
use super::clock::Clock;
use super::era::EraCache;
use super::error::ConnectError;
use super::frames::{Direction, Tap};
use super::handle::{Handle, Settings, Shared};
use super::handlers::{Declined, ElicitRequest, Handlers, SamplingRequest, elicitation};
#[cfg(feature = "http")]
use super::http::{Endpoint, HttpOptions};
use super::options::{Restart, Timeouts};
#[cfg(feature = "validate")]
use super::outputs::Outputs;
use super::session::{Lane, Session};
use super::task::TASKS;
use crate::{Server, Spawner, blocking};

/// Looks at the result of a tool before the caller gets it.
#[derive(Clone)]
pub(crate) struct CheckResult(pub(crate) Arc<Check>);

type Check = dyn Fn(&str, &CallToolResult<'_>) -> Result<(), String> + Send + Sync;

impl fmt::Debug for CheckResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CheckResult")
    }
}

/// Makes a [`Client`], or a [`blocking::Client`]. Begin with [`Client::builder`] or with
/// [`blocking::Client::builder`]: `Kind` follows from that, and decides whether connecting
/// and the handlers are `async` or not. All else is the same for both.
///
/// What is declared to servers follows from the handlers that are set: nothing is declared that nobody is there for.
#[must_use = "nothing happens before one of the `connect` methods"]
pub struct ClientBuilder<Kind = Async> {
    info: Implementation<'static>,
    handlers: Handlers,
    extensions: Option<Json<'static>>,
    #[cfg(feature = "apps")]
    apps: bool,
    tasks: bool,
    experimental: Option<Json<'static>>,
    mode: EraMode,
    eras: EraCache,
    log_level: Option<LoggingLevel>,
    timeouts: Timeouts,
    restart: Restart,
    limits: Limits,
    cache: CacheLimits,
    clock: Clock,
    max_rounds: usize,
    check_result: Option<CheckResult>,
    #[cfg(feature = "validate")]
    check_outputs: bool,
    shutdown: Shutdown,
    tap: Tap,
    #[cfg(feature = "http")]
    http: HttpOptions,
    spawner: Spawner,
    kind: PhantomData<fn() -> Kind>,
}

/// The kind of a [`ClientBuilder`] whose client is used from futures.
#[derive(Debug)]
#[non_exhaustive]
pub enum Async {}

/// The kind of a [`ClientBuilder`] whose client is used from threads.
#[derive(Debug)]
#[non_exhaustive]
pub enum Blocking {}

impl<Kind> ClientBuilder<Kind> {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            handlers: Handlers::default(),
            extensions: None,
            #[cfg(feature = "apps")]
            apps: false,
            tasks: false,
            experimental: None,
            mode: EraMode::Auto,
            eras: EraCache::new(),
            log_level: None,
            timeouts: Timeouts::DEFAULT,
            restart: Restart::Never,
            limits: Limits::DEFAULT,
            cache: CacheLimits::DEFAULT,
            clock: Clock::machine(),
            max_rounds: 10,
            check_result: None,
            #[cfg(feature = "validate")]
            check_outputs: false,
            shutdown: Shutdown::default(),
            tap: Tap::default(),
            #[cfg(feature = "http")]
            http: HttpOptions::default(),
            spawner: Spawner::default(),
            kind: PhantomData,
        }
    }

    /// What the program is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into().into());
        self
    }

    /// The handler of [`sampling`](Self::sampling) lets the model use the tools of the request. Declares `sampling.tools`.
    pub fn sampling_tools(mut self) -> Self {
        self.handlers.allow_tools_in_sampling();
        self
    }

    /// The handler of [`sampling`](Self::sampling) heeds `includeContext`. Declares `sampling.context`.
    pub fn sampling_context(mut self) -> Self {
        self.handlers.allow_context_in_sampling();
        self
    }

    /// The folders and files that servers may work in, each a `file://` URI. Declares `roots`, also when there are none
    /// yet: [`Client::set_roots`] changes them.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root<'static>>) -> Self {
        self.handlers.set_roots(roots.into_iter().collect());
        self
    }

    /// Is told of each log message of the server. It runs where the connection is read: what takes long in it holds up all
    /// calls.
    pub fn on_log(mut self, told: impl Fn(&LoggingMessage<'_>) + Send + Sync + 'static) -> Self {
        self.handlers.log = Some(Arc::new(told));
        self
    }

    /// From which level on a server of 2026-07-28 is asked for the log messages of each call, unless the call says
    /// otherwise. Older ones: [`Client::set_level`].
    pub const fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// The extensions that the program knows, with their settings, by their names: a JSON object.
    pub fn extensions(mut self, extensions: Json<'static>) -> Self {
        self.extensions = Some(extensions);
        self
    }

    /// The program shows [apps](crate::apps): declares `io.modelcontextprotocol/ui`, with the media type of their pages.
    #[cfg(feature = "apps")]
    pub const fn apps(mut self) -> Self {
        self.apps = true;
        self
    }

    /// Servers of 2026-07-28 may answer calls of tools with tasks: declares `io.modelcontextprotocol/tasks`.
    ///
    /// [`call_tool`](Client::call_tool) and its like then wait for the end of the task, ask for it as often as the server
    /// wishes, and have the handlers answer what it asks; the whole call may take [`Timeouts::max_total`](super::Timeouts).
    /// [`begin_tool`](Client::begin_tool) gives the task itself. Without this, servers either do without or refuse the call.
    pub const fn tasks(mut self) -> Self {
        self.tasks = true;
        self
    }

    /// The experimental capabilities that the program has: a JSON object.
    pub fn experimental(mut self, capabilities: Json<'static>) -> Self {
        self.experimental = Some(capabilities);
        self
    }

    /// Speaks this revision and no other. Default: the newest one that the server speaks, whatever its era.
    pub fn revision(mut self, version: ProtocolVersion) -> Self {
        self.mode = if version.era() == Era::Legacy {
            EraMode::Legacy(version)
        } else {
            EraMode::Modern(version)
        };
        self
    }

    /// Where it is remembered of which era a program is, so that it is not asked again. Default: nowhere but in this
    /// client, for its restarts.
    pub fn era_cache(mut self, eras: &EraCache) -> Self {
        self.eras = eras.clone();
        self
    }

    /// How long things may take.
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How long it may take to connect. Default: 60 seconds.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.timeouts.connect = time;
        self
    }

    /// How long a request may be silent. Default: 60 seconds.
    pub const fn request_timeout(mut self, time: Duration) -> Self {
        self.timeouts.request = time;
        self
    }

    /// Whether a server that ended is started again.
    pub const fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// The bounds of the connection.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How much of what servers allow to be cached is cached. [`CacheLimits::OFF`]: nothing.
    pub const fn cache(mut self, limits: CacheLimits) -> Self {
        self.cache = limits;
        self
    }

    /// The clock that says when what is cached is stale.
    pub fn clock(mut self, clock: &Clock) -> Self {
        self.clock = clock.clone();
        self
    }

    /// How often a server of 2026-07-28 may ask for input before a call is done. Default: 10.
    pub const fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Whether the structured content of each tool's result is checked with the output schema that the server's list of tools
    /// has for it. Default: not, since the list is read for that, before the first call and when it has changed.
    ///
    /// What does not fit, or is missing, becomes [`CallError::Schema`](super::CallError::Schema); so does a schema that
    /// cannot be used, and then the tool is not called. Results of tools that failed are not checked.
    // TOOL-15.
    #[cfg(feature = "validate")]
    pub const fn check_outputs(mut self, check: bool) -> Self {
        self.check_outputs = check;
        self
    }

    /// How long a program may take to end, when its standard input is closed and when it is asked to, before it is killed.
    /// Default: 2 seconds each.
    pub const fn shutdown(mut self, times: Shutdown) -> Self {
        self.shutdown = times;
        self
    }

    /// Looks at the result of each tool, named first, before the caller gets it; an `Err` becomes
    /// [`CallError::Schema`](super::CallError::Schema).
    pub fn check_results(
        mut self,
        check: impl Fn(&str, &CallToolResult<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check_result = Some(CheckResult(Arc::new(check)));
        self
    }

    /// Is shown each message that goes to the server or comes from it, without the end of its line and as it is: what comes
    /// may be anything but a line end, and is shown before it is looked at. What is sent is shown when it is written to the
    /// buffer that goes out. It runs where the connection is read.
    pub fn on_frame(mut self, told: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        self.tap = Tap::new(told);
        self
    }

    /// Where the connection runs, and with it the handlers that run in its task, and those of a
    /// server in this process. Default: a thread of smol's global executor. Handlers that use
    /// tokio, its timers or sockets say, need tokio's: [`Spawner`] shows how that is written.
    ///
    /// When what was spawned is dropped before it has ended, as at the end of a tokio runtime, the client is closed.
    pub fn spawner(mut self, spawner: Spawner) -> Self {
        self.spawner = spawner;
        self
    }

    /// Over HTTP: sends this header with each request, such as `Authorization`. What the protocol itself says in headers
    /// stays as it is. Nothing goes to another origin than that of the URL.
    #[cfg(feature = "http")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.http.headers.push((name.into(), value.into()));
        self
    }

    /// Over HTTP: how the client gets the tokens that the server wants to see, if it does. Sets `Authorization`, whatever
    /// [`header`](Self::header) says.
    #[cfg(feature = "auth")]
    pub fn auth(mut self, auth: crate::auth::Auth) -> Self {
        let mut auth = auth;
        auth.named(&self.info.name);
        self.http.auth = Some(auth);
        self
    }

    /// Over HTTP: trusts these authorities, certificates in PEM, besides those that browsers trust.
    #[cfg(feature = "http")]
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.http.authorities.push(pem.into());
        self
    }

    /// Over HTTP: which proxy is used. Default: the one that the environment names.
    #[cfg(feature = "http")]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.http.proxy = proxy;
        self
    }

    /// Over HTTP: how many requests may be waiting for their answers at once, each on a connection of its own; whoever makes
    /// one more waits with it, and its time runs. Subscriptions to a server of 2026-07-28 are such requests. Default: 256;
    /// 0 counts as 1.
    ///
    /// What the client says besides, such as its answers to questions of the server's, never waits for these: there are 16
    /// connections more for that.
    #[cfg(feature = "http")]
    pub const fn max_connections(mut self, most: usize) -> Self {
        self.http.max_connections = most;
        self
    }

    /// Over HTTP: connects to this socket of the machine, whatever host the URL names.
    #[cfg(all(feature = "http", unix))]
    pub fn socket(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.http.socket = Some(path.into());
        self
    }

    pub(crate) async fn open(self, lane: Lane) -> Result<Client, ConnectError> {
        if let Some(fault) = self.handlers.unfit_root() {
            return Err(ConnectError::Config(fault));
        }
        let mut config = ClientConfig::new(self.info);
        config.capabilities = self.handlers.capabilities();
        config.extensions = self.extensions;
        #[cfg(feature = "auth")]
        if let Some(name) = self.http.auth.as_ref().and_then(|auth| auth.extension()) {
            config.extensions = Some(declared(config.extensions.take(), name, json!({})));
        }
        if self.tasks {
            config.extensions = Some(declared(config.extensions.take(), TASKS, json!({})));
        }
        #[cfg(feature = "apps")]
        if self.apps {
            let types = json!({ "mimeTypes": [crate::apps::MIME_TYPE] });
            config.extensions = Some(declared(config.extensions.take(), crate::apps::UI, types));
        }
        config.experimental = self.experimental;
        config.mode = self.mode;
        config.connect_timeout = self.timeouts.connect;
        config.probe_timeout = self.timeouts.probe;
        config.request_timeout = self.timeouts.request;
        config.max_total = self.timeouts.max_total;
        let shared = Arc::new(Shared::new(
            self.handlers,
            Cache::new(self.cache, self.clock),
            self.timeouts,
            Settings {
                max_rounds: self.max_rounds,
                log_level: self.log_level,
                check_result: self.check_result,
                #[cfg(feature = "validate")]
                outputs: self.check_outputs.then(Outputs::default),
                tap: self.tap,
                restarts: lane.is_lasting() && self.restart != Restart::Never,
                tasks: self.tasks,
            },
        ));
        let (handle, ends) = Handle::new(shared.clone());
        let session = Session::new(
            lane,
            config,
            self.limits,
            self.restart,
            self.eras,
            shared,
            ends,
        )
        .shutdown(self.shutdown);
        self.spawner.spawn(session.run());
        handle.connected().await?;
        Ok(Client { handle })
    }
}

/// The extensions with this one, with these settings unless it is there with some.
fn declared(extensions: Option<Json<'static>>, name: &str, settings: Value) -> Json<'static> {
    let known = extensions.as_ref();
    let known = known.and_then(|known| serde_json::from_str(known.as_str()).ok());
    let mut known: serde_json::Map<String, Value> = known.unwrap_or_default();
    known.entry(name).or_insert(settings);
    Json::owned(Value::Object(known).to_string()).expect("serde_json writes JSON")
}

/// A builder of a client for futures.
impl ClientBuilder {
    /// Fills in the forms that servers ask the user to fill in. Declares `elicitation`.
    ///
    /// ```
    /// use mcp_std::Client;
    /// use mcp_std::model::{ElicitRequestParams, ElicitResult};
    ///
    /// let builder = Client::builder("my-program", "1.0.0").elicitation(|request| async move {
    ///     let ElicitRequestParams::Form(form) = &request.params else {
    ///         return ElicitResult::cancel();
    ///     };
    ///     // Here the user is shown who asks (`request.server`), what (`form.message`) and the fields.
    ///     if form.requested_schema.properties.get("name").is_none() {
    ///         return ElicitResult::decline();
    ///     }
    ///     ElicitResult::accept(serde_json::json!({"name": "Ada"}))
    /// });
    /// ```
    ///
    /// The user has to see who asks, and to have a way to say no.
    ///
    /// The handler runs where the call is awaited that the question belongs to, if the server speaks 2026-07-28, and in the
    /// task of the connection if it is an older one: see [`spawner`](Self::spawner). In that task it must not block its
    /// thread, as reading from a terminal does, since that holds up all calls: `smol::unblock`, or
    /// `tokio::task::spawn_blocking`, is for such things, or a [blocking client](crate::blocking).
    // The requirements on the user's side: ELI-16.
    pub fn elicitation<F>(
        mut self,
        handler: impl Fn(ElicitRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ElicitResult<'static>> + Send + 'static,
    {
        self.handlers.set_form(elicitation(handler));
        self
    }

    /// Shows the user the pages that servers want opened. Declares `elicitation.url`, which exists since 2025-11-25. It runs
    /// where [`elicitation`](Self::elicitation) does.
    ///
    /// The page is opened only when the user has seen the whole address and agreed, never before and never for a preview.
    // ELI-17.
    pub fn url_elicitation<F>(
        mut self,
        handler: impl Fn(ElicitRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ElicitResult<'static>> + Send + 'static,
    {
        self.handlers.set_url(elicitation(handler));
        self
    }

    /// Asks a model what servers want to have asked. Declares `sampling`. It runs where
    /// [`elicitation`](Self::elicitation) does.
    pub fn sampling<F>(
        mut self,
        handler: impl Fn(SamplingRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult<'static>, Declined>> + Send + 'static,
    {
        self.handlers.set_sampling(handler);
        self
    }

    /// Starts a program and connects to its standard input and output.
    ///
    /// The program gets little of the environment of this one, `PATH` and `HOME` and their like, so that secrets do not go
    /// astray: `Command::env("TOKEN", …)` gives it more, [`Command::inherit_env`] all of it.
    ///
    /// Dropping the future ends the program.
    ///
    /// # Errors
    ///
    /// It cannot be started, ends, says nothing, or speaks nothing that this client speaks.
    pub async fn connect_stdio(self, command: Command) -> Result<Client, ConnectError> {
        self.open(Lane::Child(command)).await
    }

    /// Connects to a server on any pair of byte streams, with one message on each line.
    ///
    /// # Errors
    ///
    /// The stream fails or ends, or the server says nothing, or speaks nothing that this client speaks.
    pub async fn connect(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Result<Client, ConnectError> {
        self.open(Lane::Streams(Some((Box::pin(reader), Box::pin(writer)))))
            .await
    }

    /// Connects to a server in this process: what one says is what the other hears, with no stream between them. This is
    /// how a server is tested:
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_std::{Client, Server, Spawner};
    ///
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let nap = || async {
    ///     tokio::time::sleep(Duration::from_millis(1)).await;
    ///     "slept"
    /// };
    /// let server = Server::builder("napper", "1.0.0").tool("nap", "Sleeps", nap).build()?;
    /// let client = Client::builder("test", "1")
    ///     // Only for handlers that need tokio.
    ///     .spawner(Spawner::new(|task| drop(tokio::spawn(task))))
    ///     .connect_in_process(&server)
    ///     .await?;
    /// assert_eq!(client.call_tool("nap", &()).await?.text(), "slept");
    /// # Ok(()) }
    /// ```
    ///
    /// The server's handlers run in the connection's task: see [`spawner`](Self::spawner).
    ///
    /// # Errors
    ///
    /// The server speaks nothing that this client was told to speak.
    pub async fn connect_in_process(self, server: &Server) -> Result<Client, ConnectError> {
        self.open(Lane::Server(server.clone())).await
    }

    /// Connects to the server at a URL, `http://` or `https://`, in whichever way it speaks: Streamable HTTP of any revision,
    /// or HTTP+SSE. The messages go exactly to this URL, its query included.
    ///
    /// # Errors
    ///
    /// The URL or what was said about HTTP cannot be used, nobody is there, or what is there speaks nothing that this client
    /// speaks.
    #[cfg(feature = "http")]
    pub async fn connect_http(self, url: &str) -> Result<Client, ConnectError> {
        let endpoint = Endpoint::new(url, &self.http)?;
        self.open(Lane::Http(endpoint)).await
    }
}

/// A builder of a client for threads: its handlers are functions, each call of which has a thread for itself and may block
/// it, and connecting blocks.
impl ClientBuilder<Blocking> {
    /// Fills in the forms that servers ask the user to fill in. Declares `elicitation`.
    ///
    /// ```
    /// use mcp_std::blocking::Client;
    /// use mcp_std::model::ElicitResult;
    ///
    /// let builder = Client::builder("my-program", "1.0.0")
    ///     .elicitation(|request| ElicitResult::accept(serde_json::json!({"name": "Ada"})));
    /// ```
    ///
    /// The user has to see who asks, and to have a way to say no.
    pub fn elicitation(
        mut self,
        handler: impl Fn(ElicitRequest) -> ElicitResult<'static> + Send + Sync + 'static,
    ) -> Self {
        self.handlers.set_form(elicitation(on_thread(handler)));
        self
    }

    /// Shows the user the pages that servers want opened. Declares `elicitation.url`, which exists since 2025-11-25.
    ///
    /// The page is opened only when the user has seen the whole address and agreed, never before and never for a preview.
    pub fn url_elicitation(
        mut self,
        handler: impl Fn(ElicitRequest) -> ElicitResult<'static> + Send + Sync + 'static,
    ) -> Self {
        self.handlers.set_url(elicitation(on_thread(handler)));
        self
    }

    /// Asks a model what servers want to have asked. Declares `sampling`.
    pub fn sampling(
        mut self,
        handler: impl Fn(SamplingRequest) -> Result<CreateMessageResult<'static>, Declined>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.handlers.set_sampling(on_thread(handler));
        self
    }

    /// Starts a program and connects to its standard input and output.
    ///
    /// The program gets little of the environment of this one, `PATH` and `HOME` and their like, so that secrets do not go
    /// astray: `Command::env("TOKEN", …)` gives it more, [`Command::inherit_env`] all of it.
    ///
    /// # Errors
    ///
    /// It cannot be started, ends, says nothing, or speaks nothing that this client speaks.
    pub fn connect_stdio(self, command: Command) -> Result<blocking::Client, ConnectError> {
        block_on(self.open(Lane::Child(command))).map(Into::into)
    }

    /// Connects to a server on any pair of byte streams, with one message on each line. Each has a thread to block.
    ///
    /// # Errors
    ///
    /// The stream fails or ends, or the server says nothing, or speaks nothing that this client speaks.
    pub fn connect(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<blocking::Client, ConnectError> {
        let (reader, writer) = (Unblock::new(reader), Unblock::new(writer));
        let lane = Lane::Streams(Some((Box::pin(reader), Box::pin(writer))));
        block_on(self.open(lane)).map(Into::into)
    }

    /// Connects to a server in this process, with no stream between them. Its handlers run on a thread of smol's executor,
    /// or [where it is said](Self::spawner).
    ///
    /// # Errors
    ///
    /// The server speaks nothing that this client was told to speak.
    pub fn connect_in_process(self, server: &Server) -> Result<blocking::Client, ConnectError> {
        block_on(self.open(Lane::Server(server.clone()))).map(Into::into)
    }

    /// Connects to the server at a URL, `http://` or `https://`, in whichever way it speaks: Streamable HTTP of any revision,
    /// or HTTP+SSE. The messages go exactly to this URL, its query included.
    ///
    /// # Errors
    ///
    /// The URL or what was said about HTTP cannot be used, nobody is there, or what is there speaks nothing that this client
    /// speaks.
    #[cfg(feature = "http")]
    pub fn connect_http(self, url: &str) -> Result<blocking::Client, ConnectError> {
        let endpoint = Endpoint::new(url, &self.http)?;
        block_on(self.open(Lane::Http(endpoint))).map(Into::into)
    }
}

/// Runs `handler` on a thread that it may block.
fn on_thread<A: Send + 'static, T: Send + 'static>(
    handler: impl Fn(A) -> T + Send + Sync + 'static,
) -> impl Fn(A) -> Task<T> + Send + Sync + 'static {
    let handler = Arc::new(handler);
    move |asked| {
        let handler = handler.clone();
        unblock(move || handler(asked))
    }
}

impl<Kind> fmt::Debug for ClientBuilder<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("info", &self.info)
            .field("capabilities", &self.handlers.capabilities())
            .field("mode", &self.mode)
            .field("timeouts", &self.timeouts)
            .field("restart", &self.restart)
            .finish_non_exhaustive()
    }
}

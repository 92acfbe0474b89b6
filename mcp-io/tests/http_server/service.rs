//! A service with a path for each thing that can be wrong, and a server for it on a thread of its own.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use async_io::Timer;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use mcp_io::http::server::{
    Error, Listener, Options, Parkable, Plain, ShuttingDown, Straight, Taken, collect, serve,
    serve_straight,
};

use crate::client::Client;

/// What `/echo` takes.
pub(crate) const LIMIT: usize = 1000;

/// The size of the answers to `/long` and `json-long`.
pub(crate) const LONG: usize = 32 << 20;

/// The size of the frames of `/big`, which has 1,000 of them.
const FRAME: usize = 64 << 10;

/// What a service has done.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    Called(String),
    /// A body that was not at its end.
    Dropped,
    /// How many bytes of `/big` were asked for.
    Asked(usize),
}

#[derive(Clone)]
pub(crate) struct Service {
    events: mpsc::Sender<Event>,
    token: ShuttingDown,
}

impl Service {
    async fn answer(self, request: Request<Incoming>) -> Result<Response<Answer>, Infallible> {
        let path = request.uri().path().to_owned();
        let _ = self.events.send(Event::Called(path.clone()));
        let answer = match path.as_str() {
            "/hello" => Answer::from("hello"),
            "/long" => Answer::Whole(Some(vec![b'x'; LONG].into())),
            "/echo" => {
                match collect(request.into_body(), LIMIT, Duration::from_millis(300)).await {
                    Ok(body) => Answer::Whole(Some(body)),
                    Err(error) => {
                        let mut response = Response::new(Answer::from("refused"));
                        *response.status_mut() = error.status();
                        return Ok(response);
                    }
                }
            }
            "/json" => {
                let streamed = request.uri().query() == Some("begun-stream");
                let body = collect(request.into_body(), usize::MAX, Duration::from_secs(5)).await;
                let body = body.expect("the client sends it");
                return Ok(if streamed {
                    parkable(short(self.events))
                } else {
                    json(body)
                });
            }
            "/nap" => {
                std::thread::sleep(Duration::from_millis(300));
                Answer::from("awake")
            }
            "/slow" => {
                Timer::after(Duration::from_millis(300)).await;
                Answer::from("slow")
            }
            "/block" => {
                while !self.token.has_begun() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Answer::from("blocked")
            }
            "/stream" => Answer::Stream(Stream::new(self.events, None)),
            "/polite" => {
                let token = self.token;
                Answer::Stream(Stream::new(
                    self.events,
                    Some(Box::pin(async move { token.begun().await })),
                ))
            }
            "/parked" | "/parked-big" => {
                let mut end = Stream::new(
                    self.events.clone(),
                    Some(Box::pin(async {
                        Timer::after(Duration::from_millis(300)).await;
                    })),
                );
                if path == "/parked-big" {
                    end.last = Bytes::from(vec![b'x'; 64 << 20]);
                }
                return Ok(parkable(end));
            }
            "/parked-polite" => {
                let token = self.token;
                let end = Box::pin(async move { token.begun().await });
                return Ok(parkable(Stream::new(self.events, Some(end))));
            }
            "/parked-endless" => return Ok(parkable(Stream::new(self.events, None))),
            "/big" => Answer::Big {
                asked: 0,
                events: self.events,
            },
            "/panic" => panic!("as asked"),
            _ => {
                let mut response = Response::new(Answer::from("nothing"));
                *response.status_mut() = StatusCode::NOT_FOUND;
                return Ok(response);
            }
        };
        Ok(Response::new(answer))
    }
}

fn short(events: mpsc::Sender<Event>) -> Stream {
    let end = async {
        Timer::after(Duration::from_millis(10)).await;
    };
    Stream::new(events, Some(Box::pin(end)))
}

fn json(body: Bytes) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(Some(body)));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Takes what its query says.
impl Straight for Service {
    fn straight(&mut self, request: &Plain<'_>) -> Taken<Self::Future> {
        let body = request.body().to_vec();
        match request.query() {
            Some("json") => Taken::Json(body),
            Some("json-long") => Taken::Json(vec![b'x'; LONG]),
            Some("begun") => Taken::Begun(Box::pin(async move {
                Timer::after(Duration::from_millis(5)).await;
                Ok(json(body.into()))
            })),
            Some("begun-stream") => {
                let stream = short(self.events.clone());
                Taken::Begun(Box::pin(async { Ok(parkable(stream)) }))
            }
            Some("begun-endless") => {
                let stream = Stream::new(self.events.clone(), None);
                Taken::Begun(Box::pin(async { Ok(parkable(stream)) }))
            }
            Some("panic") => panic!("as asked"),
            Some(_) | None => Taken::Declined,
        }
    }
}

fn parkable(stream: Stream) -> Response<Answer> {
    let mut response = Response::new(Answer::Stream(stream));
    response.extensions_mut().insert(Parkable::new());
    response
}

impl tower_service::Service<Request<Incoming>> for Service {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}

pub(crate) enum Answer {
    Whole(Option<Bytes>),
    Stream(Stream),
    Big {
        asked: usize,
        events: mpsc::Sender<Event>,
    },
}

impl From<&'static str> for Answer {
    fn from(text: &'static str) -> Self {
        Self::Whole(Some(Bytes::from_static(text.as_bytes())))
    }
}

/// Says "first", and then "really last" when the future resolves.
pub(crate) struct Stream {
    first: bool,
    end: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// All but the end.
    said: bool,
    ended: bool,
    last: Bytes,
    events: mpsc::Sender<Event>,
}

impl Stream {
    fn new(
        events: mpsc::Sender<Event>,
        end: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    ) -> Self {
        Self {
            first: true,
            end,
            said: false,
            ended: false,
            last: Bytes::from_static(b"really last"),
            events,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.events.send(Event::Dropped);
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Self::Whole(bytes) => bytes.take(),
            Self::Stream(stream) if stream.first => {
                stream.first = false;
                Some(Bytes::from_static(b"first"))
            }
            Self::Stream(stream) => match &mut stream.end {
                None if stream.said => {
                    stream.ended = true;
                    None
                }
                None => return Poll::Pending,
                Some(end) => {
                    if end.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    stream.end = None;
                    stream.said = true;
                    Some(std::mem::take(&mut stream.last))
                }
            },
            Self::Big { asked, .. } if *asked == 1000 * FRAME => None,
            Self::Big { asked, .. } => {
                *asked += FRAME;
                Some(Bytes::from(vec![b'x'; FRAME]))
            }
        };
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Stream(_) | Self::Big { .. } => SizeHint::default(),
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Self::Big { asked, events } = self {
            let _ = events.send(Event::Asked(*asked));
        }
    }
}

/// A server that runs.
pub(crate) struct Server {
    pub(crate) address: Option<SocketAddr>,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) token: ShuttingDown,
    thread: JoinHandle<Result<(), Error>>,
}

impl Server {
    /// On a port of the loopback interface.
    pub(crate) fn start(change: impl FnOnce(&mut Options)) -> Self {
        let listener = Listener::bind("127.0.0.1:0").expect("loopback can be listened at");
        Self::on(listener, change)
    }

    pub(crate) fn on(listener: Listener, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options::default();
        change(&mut options);
        Self::run(listener, |listener, service, token| {
            async_io::block_on(serve_straight(listener, service, options, async move {
                token.begun().await;
            }))
        })
    }

    /// One whose connections are hyper's from the beginning.
    pub(crate) fn start_plain(change: impl FnOnce(&mut Options)) -> Self {
        let listener = Listener::bind("127.0.0.1:0").expect("loopback can be listened at");
        let mut options = Options::default();
        change(&mut options);
        Self::run(listener, |listener, service, token| {
            async_io::block_on(serve(listener, service, options, async move {
                token.begun().await;
            }))
        })
    }

    fn run(
        listener: Listener,
        serve: impl FnOnce(Listener, Service, ShuttingDown) -> Result<(), Error> + Send + 'static,
    ) -> Self {
        let (sender, events) = mpsc::channel();
        let token = ShuttingDown::new();
        let service = Service {
            events: sender,
            token: token.clone(),
        };
        let address = listener.local_addr();
        let shutdown = token.clone();
        let thread = std::thread::spawn(move || serve(listener, service, shutdown));
        Self {
            address,
            events,
            token,
            thread,
        }
    }

    pub(crate) fn connect(&self) -> Client<std::net::TcpStream> {
        Client::connect(self.address.expect("listens at TCP"))
    }

    /// The status of the answer to a request on a connection of its own.
    pub(crate) fn status(&self, request: &str) -> u16 {
        let mut client = self.connect();
        client.send(request);
        client.head().0
    }

    /// The next thing that happens within some seconds.
    pub(crate) fn event(&self) -> Event {
        self.events
            .recv_timeout(Duration::from_secs(5))
            .expect("something happens")
    }

    /// Shuts down and waits for the end.
    pub(crate) fn stop(self) {
        self.token.begin();
        self.join();
    }

    pub(crate) fn join(self) {
        self.thread
            .join()
            .expect("the server does not panic")
            .expect("the server does not fail");
    }
}

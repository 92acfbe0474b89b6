//! The service as hyper sees it.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use http::{Method, Request, Response, Version, header};
use http_body::Body;
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::body::{Busy, Place, Tracked};
use super::io::Io;
use super::parked;
use super::plain::Plain;
use super::straight::{self, Lane, Take};
use super::turn::{BODY, BUSY, CALLED, RECEIVED, Turn};

/// The service of one connection.
pub(super) struct Exchanges<S: Service<Request<Incoming>>, B> {
    service: S,
    turn: Arc<Turn>,
    place: Arc<Place<B>>,
    /// The next request was begun to be served before hyper has read it.
    begun: Cell<Option<S::Future>>,
}

impl<S: Service<Request<Incoming>>, B> Exchanges<S, B> {
    pub(super) fn new(service: S, turn: Arc<Turn>, place: Arc<Place<B>>) -> Self {
        Self {
            service,
            turn,
            place,
            begun: Cell::new(None),
        }
    }

    /// Answers requests before hyper reads any.
    pub(super) fn poll_straight(
        &mut self,
        lane: &mut Lane<'_>,
        take: Take<S>,
        io: &mut Io,
        cx: &mut Context<'_>,
    ) -> Poll<straight::End> {
        let take = |request: &Plain<'_>| take(&mut self.service, request);
        lane.poll(io, take, &self.begun, cx)
    }
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Exchanges<S, B>
where
    S: Clone + Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body,
{
    type Response = Response<Tracked<B>>;
    type Error = Infallible;
    type Future = Exchange<S, B>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let body = if request.body().is_end_stream() {
            0
        } else {
            BODY
        };
        self.turn
            .change(BUSY | CALLED | body, RECEIVED | BODY & !body);
        let parkable = is_parkable(&request).then(|| Arc::clone(&self.place));
        let busy = Some(Busy(Arc::clone(&self.turn)));
        if let Some(future) = self.begun.take() {
            return Exchange {
                step: Step::Begun {
                    unread: Some(request.into_body()),
                    future,
                },
                busy,
                parkable,
            };
        }
        let mut service = self.service.clone();
        // A service that is ready, as most always are, needs no place for the request to wait in, which would be part of
        // each connection. One that is not is asked again, and then knows whom to wake.
        let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
        let step = match ready {
            Poll::Ready(Ok(())) => Step::Called {
                future: service.call(request),
            },
            Poll::Pending => Step::Waiting {
                waiting: Some(Box::new((service, request))),
            },
        };
        Exchange {
            step,
            busy,
            parkable,
        }
    }
}

/// Whether the response to this goes out chunked, with the connection used on: then its end is known.
fn is_parkable(request: &Request<Incoming>) -> bool {
    request.version() == Version::HTTP_11
        && (*request.method() == Method::POST
            // What nobody reads would be taken for the next request.
            || *request.method() == Method::GET && request.body().is_end_stream())
        && request
            .headers()
            .get_all(header::CONNECTION)
            .iter()
            .all(|value| value.as_bytes().eq_ignore_ascii_case(b"keep-alive"))
}

pin_project! {
    /// One request on its way to a response.
    pub(super) struct Exchange<S: Service<Request<Incoming>>, B> {
        #[pin]
        step: Step<S, S::Future>,
        busy: Option<Busy>,
        parkable: Option<Arc<Place<B>>>,
    }
}

pin_project! {
    #[project = StepProjection]
    enum Step<S, F> {
        /// For the service to be ready.
        Waiting { waiting: Option<Box<(S, Request<Incoming>)>> },
        Called { #[pin] future: F },
        /// Its body is known, and thrown away so that the connection can go on.
        Begun { unread: Option<Incoming>, #[pin] future: F },
    }
}

impl<S, B> Future for Exchange<S, B>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body,
{
    type Output = Result<Response<Tracked<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.step.as_mut().project() {
                StepProjection::Waiting { waiting } => {
                    let Some((service, _)) = waiting.as_deref_mut() else {
                        // Polled again after the service has panicked.
                        return Poll::Pending;
                    };
                    let Ok(()) = ready!(service.poll_ready(cx));
                    if let Some(waited) = waiting.take() {
                        let (mut service, request) = *waited;
                        let future = service.call(request);
                        this.step.set(Step::Called { future });
                    }
                }
                StepProjection::Called { future } => {
                    let Ok(response) = ready!(future.poll(cx));
                    return Poll::Ready(Ok(tracked(response, this.busy, this.parkable)));
                }
                StepProjection::Begun { unread, future } => {
                    while let Some(body) = unread {
                        if ready!(Pin::new(body).poll_frame(cx)).is_none() {
                            *unread = None;
                        }
                    }
                    let Ok(response) = ready!(future.poll(cx));
                    return Poll::Ready(Ok(tracked(response, this.busy, this.parkable)));
                }
            }
        }
    }
}

/// A response whose body ends the service's turn.
fn tracked<B: Body>(
    response: Response<B>,
    busy: &mut Option<Busy>,
    parkable: &mut Option<Arc<Place<B>>>,
) -> Response<Tracked<B>> {
    let place = parkable.take().filter(|_| parked::is_parkable(&response));
    let (head, body) = response.into_parts();
    let body = match (place, busy.take()) {
        (Some(place), Some(busy)) => Tracked::parkable(body, busy, place),
        (_, busy) => Tracked::plain(body, busy),
    };
    Response::from_parts(head, body)
}

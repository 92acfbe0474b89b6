//! The service as hyper sees it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::turn::{BODY, BUSY, CALLED, RECEIVED, Turn};

/// The service of one connection.
#[derive(Debug)]
pub(super) struct Exchanges<S> {
    service: S,
    turn: Arc<Turn>,
}

impl<S> Exchanges<S> {
    pub(super) fn new(service: S, turn: Arc<Turn>) -> Self {
        Self { service, turn }
    }
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Exchanges<S>
where
    S: Clone + Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body,
{
    type Response = Response<Tracked<B>>;
    type Error = Infallible;
    type Future = Exchange<S>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let body = if http_body::Body::is_end_stream(request.body()) {
            0
        } else {
            BODY
        };
        self.turn
            .change(BUSY | CALLED | body, RECEIVED | BODY & !body);
        Exchange {
            step: Step::Waiting {
                service: self.service.clone(),
                request: Some(request),
            },
            busy: Some(Busy(Arc::clone(&self.turn))),
        }
    }
}

/// While this lives it is the service's turn.
#[derive(Debug)]
struct Busy(Arc<Turn>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.clear(BUSY);
    }
}

pin_project! {
    /// One request on its way to a response.
    pub(super) struct Exchange<S: Service<Request<Incoming>>> {
        #[pin]
        step: Step<S, S::Future>,
        busy: Option<Busy>,
    }
}

pin_project! {
    #[project = StepProjection]
    enum Step<S, F> {
        /// For the service to be ready.
        Waiting { service: S, request: Option<Request<Incoming>> },
        Called { #[pin] future: F },
    }
}

impl<S, B> Future for Exchange<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
{
    type Output = Result<Response<Tracked<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.step.as_mut().project() {
                StepProjection::Waiting { service, request } => {
                    let Ok(()) = ready!(service.poll_ready(cx));
                    let Some(request) = request.take() else {
                        // Polled again after a panic of the service.
                        return Poll::Pending;
                    };
                    let future = service.call(request);
                    this.step.set(Step::Called { future });
                }
                StepProjection::Called { future } => {
                    let Ok(response) = ready!(future.poll(cx));
                    let busy = this.busy.take();
                    return Poll::Ready(Ok(response.map(|body| Tracked { body, _busy: busy })));
                }
            }
        }
    }
}

pin_project! {
    /// The body of a response. Its end is the end of the service's turn.
    pub(super) struct Tracked<B> {
        #[pin]
        body: B,
        _busy: Option<Busy>,
    }
}

impl<B: Body> Body for Tracked<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

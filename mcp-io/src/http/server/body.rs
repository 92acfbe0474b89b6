//! The body of a response as hyper sees it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::turn::{BUSY, PARKING, QUIET, Turn};

/// While this lives it is the service's turn.
#[derive(Debug)]
pub(super) struct Busy(pub(super) Arc<Turn>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.clear(BUSY | QUIET);
    }
}

/// Where the body of a response is kept when its connection leaves hyper.
pub(super) type Place<B> = Mutex<Option<Kept<B>>>;

/// A body that can move.
pub(super) struct Kept<B> {
    pub(super) body: Pin<Box<B>>,
    _busy: Busy,
}

pin_project! {
    /// The body of a response. Its end is the end of the service's turn.
    #[project = TrackedProjection]
    pub(super) enum Tracked<B> {
        Plain { #[pin] body: B, _busy: Option<Busy> },
        Parkable { body: Held<B> },
    }
}

/// A body that is put aside if it is dropped while its response is being parked.
pub(super) struct Held<B> {
    /// Taken on drop only.
    kept: Option<Kept<B>>,
    turn: Arc<Turn>,
    place: Arc<Place<B>>,
}

impl<B> Tracked<B> {
    pub(super) fn plain(body: B, busy: Option<Busy>) -> Self {
        Self::Plain { body, _busy: busy }
    }

    pub(super) fn parkable(body: B, busy: Busy, place: Arc<Place<B>>) -> Self {
        let turn = Arc::clone(&busy.0);
        let body = Box::pin(body);
        Self::Parkable {
            body: Held {
                kept: Some(Kept { body, _busy: busy }),
                turn,
                place,
            },
        }
    }
}

impl<B> Drop for Held<B> {
    fn drop(&mut self) {
        if self.turn.is(PARKING) {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = self.kept.take();
        }
    }
}

impl<B: Body> Body for Tracked<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match self.project() {
            TrackedProjection::Plain { body, .. } => body.poll_frame(cx),
            TrackedProjection::Parkable { body } => {
                let Some(kept) = &mut body.kept else {
                    return Poll::Ready(None);
                };
                let polled = kept.body.as_mut().poll_frame(cx);
                if polled.is_pending() {
                    body.turn.set(QUIET);
                } else {
                    body.turn.clear(QUIET);
                }
                polled
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Plain { body, .. } => body.is_end_stream(),
            Self::Parkable { body } => body
                .kept
                .as_ref()
                .is_none_or(|kept| kept.body.is_end_stream()),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Plain { body, .. } => body.size_hint(),
            // Otherwise it is plain.
            Self::Parkable { .. } => SizeHint::default(),
        }
    }
}

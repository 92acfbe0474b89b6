//! Code of a tool's author, run so that a panic in it ends nothing else.

use core::any::Any;
use core::mem;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// Code panicked. What it panicked with is gone.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[non_exhaustive]
pub struct Panicked;

/// Runs `code` up to its end or its panic.
pub(crate) fn contain<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(code)).map_err(discard)
}

/// Drops what a panic carried, which can be of any type and panic in its turn. Whatever that one carries is leaked, or
/// there would be no end to it.
pub(crate) fn discard(payload: Box<dyn Any + Send>) -> Panicked {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(|text| &**text));
    if text.is_some_and(|text| text.contains("there is no reactor running")) {
        tracing::warn!(
            "a handler needs tokio, which is not entered on this thread: over HTTP `Http::around_threads` and \
             `Http::spawner` see to that, or `Http::service` in axum; on stdio `serve_stdio` with `#[tokio::main]`"
        );
    }
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(another);
    }
    Panicked
}

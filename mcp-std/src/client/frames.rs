//! The messages of a connection, to be looked at as they go by.

use core::fmt;
use std::sync::Arc;

use crate::panic::contain;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Direction {
    /// To the server.
    Sent,
    /// From it.
    Received,
}

type OnFrame = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Who looks.
#[derive(Clone, Default)]
pub(crate) struct Tap(Option<OnFrame>);

impl Tap {
    pub(crate) fn new(told: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(told)))
    }

    /// Tells of each line among the bytes.
    pub(crate) fn tell(&self, direction: Direction, bytes: &[u8]) {
        let Some(told) = &self.0 else { return };
        let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        for line in lines.filter(|line| !line.is_empty()) {
            // A panic in it is not to end the connection.
            let _ = contain(|| told(direction, line));
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.is_some().fmt(f)
    }
}

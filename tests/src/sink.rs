//! An output that runs full.

use mcp_core::json::{Full, Sink};

/// Takes so many bytes and no more.
#[derive(Clone, Debug)]
pub struct Bounded {
    bytes: Vec<u8>,
    room: usize,
}

impl Bounded {
    /// Room for so many bytes.
    #[must_use]
    pub const fn new(room: usize) -> Self {
        Self {
            bytes: Vec::new(),
            room,
        }
    }

    /// What was written.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Sink for Bounded {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if bytes.len() > self.room - self.bytes.len() {
            return Err(Full);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }
}

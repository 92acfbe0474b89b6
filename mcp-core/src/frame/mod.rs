//! Byte stream to messages.

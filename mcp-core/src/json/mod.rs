//! Text to structure.

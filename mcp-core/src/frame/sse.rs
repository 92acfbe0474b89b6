//! Server-sent events, both directions (WHATWG HTML, "Server-sent events").

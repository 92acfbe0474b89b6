//! Connections from clients: bounds, timeouts, and an end in order.

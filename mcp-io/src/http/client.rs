//! Exchanges with a server: pooled connections, TLS, proxies, redirects.

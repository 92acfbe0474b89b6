//! The user comes back to this machine: a listener for one redirect (RFC 8252, section 7.3).

use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use async_channel::{Sender, bounded};
use async_io::{Async, Timer};
use futures_lite::future::or;
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};

use super::address::Address;
use super::error::AuthError;
use super::form::parse;

/// The longest head of a request, in bytes.
const LONGEST: usize = 16 * 1024;

/// So long a connection may take: browsers open some that they never use.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many connections at once.
const MOST: usize = 32;

const PATH: &str = "/callback";

/// Waits for the user to come back.
pub(super) struct Loopback {
    listener: Async<TcpListener>,
    port: u16,
    pub(super) redirect_uri: String,
}

impl Loopback {
    /// At the port of this earlier redirect URI if it is free, and else at any.
    pub(super) fn bind(last: Option<&str>) -> Result<Self, AuthError> {
        let at = |port: u16| {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let listener = Async::<TcpListener>::bind(address)?;
            let port = listener.get_ref().local_addr()?.port();
            std::io::Result::Ok((listener, port))
        };
        let last = last
            .and_then(Address::parse)
            .filter(|last| *last.path == *PATH)
            .and_then(|last| last.authority.strip_prefix("127.0.0.1:")?.parse().ok());
        let again = last.and_then(|port| at(port).ok());
        let (listener, port) = match again {
            Some(again) => again,
            None => at(0).map_err(|error| AuthError::Visit(format!("no listener: {error}")))?,
        };
        Ok(Self {
            listener,
            port,
            redirect_uri: format!("http://127.0.0.1:{port}{PATH}"),
        })
    }

    /// The query that the user comes back with from this page. Whoever else comes by, with another state or to another
    /// place, is sent away, and goes on being waited for.
    pub(super) async fn back(self, page: &str) -> Result<String, AuthError> {
        let query = page.split_once('?').map_or("", |(_, query)| query);
        let state = state_of(query).unwrap_or_default();
        let (found, back) = bounded(1);
        let mut guests: Vec<smol::Task<()>> = Vec::new();
        let accept = async {
            loop {
                let Ok((stream, _)) = self.listener.accept().await else {
                    // Out of descriptors, most likely.
                    Timer::after(Duration::from_millis(100)).await;
                    continue;
                };
                guests.retain(|guest| !guest.is_finished());
                if guests.len() < MOST {
                    let guest = serve(stream, self.port, state.clone(), found.clone());
                    guests.push(smol::spawn(guest));
                }
            }
        };
        let answer = async { back.recv().await.map_err(|_| AuthError::TimedOut) };
        or(answer, accept).await
    }
}

fn state_of(query: &str) -> Option<String> {
    let parameters = parse(query, &["state"])?;
    let mut parameters = parameters.into_iter();
    parameters
        .find(|(name, _)| name == "state")
        .map(|(_, state)| state)
}

async fn serve(mut stream: Async<TcpStream>, port: u16, state: String, found: Sender<String>) {
    let talk = async {
        let mut head = Vec::new();
        let mut chunk = [0; 1024];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut chunk).await.unwrap_or_default();
            if read == 0 || head.len() >= LONGEST {
                return None;
            }
            head.extend_from_slice(&chunk[..read]);
        }
        let query = core::str::from_utf8(&head)
            .ok()
            .and_then(|head| query(head, port));
        let mine = query.filter(|query| state_of(query).as_ref() == Some(&state));
        let (status, text) = match &mine {
            None => ("404 Not Found", "There is nothing here."),
            Some(query)
                if parse(query, &[])
                    .is_some_and(|it| it.iter().any(|(name, _)| name == "error")) =>
            {
                (
                    "200 OK",
                    "The login did not succeed. The program that asked for it says why. You can close this page.",
                )
            }
            Some(_) => (
                "200 OK",
                "You can close this page and go back to the program.",
            ),
        };
        let page = format!("<!doctype html><meta charset=utf-8><title>MCP</title><p>{text}</p>\n");
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
             Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n{page}",
            page.len()
        );
        // Whether the browser takes it makes no difference.
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.close().await;
        mine
    };
    let late = async {
        Timer::after(PATIENCE).await;
        None
    };
    if let Some(query) = or(talk, late).await {
        // The first one counts.
        let _ = found.try_send(query);
    }
}

/// The query of a request to this listener.
fn query(head: &str, port: u16) -> Option<String> {
    let mut lines = head.split("\r\n");
    let mut line = lines.next()?.split(' ');
    let (method, target) = (line.next()?, line.next()?);
    let (path, query) = target.split_once('?')?;
    // A name that someone else has made lead here is not ours.
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    })?;
    let known = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let ours = known.iter().any(|known| host.eq_ignore_ascii_case(known));
    (method == "GET" && path == PATH && ours).then(|| query.to_owned())
}

//! TLS and proxies.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_io::http::client::{Client, Error, Proxy};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::peer::{Asked, Does, Peer, pipe, reply, serve};
use super::{client, send};

/// A server with TLS for `localhost`, and the authority that says so, in PEM.
fn secure() -> (u16, String, Arc<Mutex<Vec<Asked>>>) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"))
        .expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .expect("a name")
        .signed_by(&key, &authority)
        .expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .expect("a server");
    let (config, pem) = (Arc::new(config), authority.pem());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let asked = seen.clone();
    thread::spawn(move || {
        for (connection, stream) in listener.incoming().enumerate() {
            let session = ServerConnection::new(config.clone()).expect("a session");
            let stream = StreamOwned::new(session, stream.expect("a connection"));
            // One half after the other is enough for requests that are answered one by one.
            let stream = Shared(Arc::new(Mutex::new(stream)));
            let asked = asked.clone();
            thread::spawn(move || {
                serve(connection, stream.clone(), stream, &asked, &|_, _| {
                    Does::Says(reply("200 OK", "", "secret"))
                });
            });
        }
    });
    (port, pem, seen)
}

#[derive(Clone)]
struct Shared(Arc<Mutex<StreamOwned<ServerConnection, TcpStream>>>);

impl std::io::Read for Shared {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").read(bytes)
    }
}

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.lock().expect("no panic").flush()
    }
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_it_is_named() {
    let (port, pem, _) = secure();
    let url = format!("https://localhost:{port}/mcp");
    let error = send(&client(), &url, "{}").expect_err("nobody vouches");
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    assert!(error.is_unsent() && error.to_string().contains("localhost"));

    let trusting = Client::builder()
        .proxy(Proxy::None)
        .authorities(pem)
        .build()
        .expect("a client");
    for _ in 0..2 {
        assert_eq!(send(&trusting, &url, "{}").expect("an answer").1, "secret");
    }
    // The certificate is for another name.
    let other = format!("https://127.0.0.1:{port}/mcp");
    let error = send(&trusting, &other, "{}").expect_err("another name");
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    let error = Client::builder().authorities("nothing").build();
    assert!(matches!(error, Err(Error::Config(_))));
}

#[test]
fn a_proxy_passes_on_requests() {
    let proxy = Peer::new(|_, _| Does::Says(reply("200 OK", "", "passed on")));
    let client = Client::builder()
        .proxy(Proxy::Url(format!("http://u:p@127.0.0.1:{}", proxy.port)))
        .build()
        .expect("a client");
    let answer = send(&client, "http://far.example:8080/mcp?x=1", "{}").expect("an answer");
    assert_eq!(answer.1, "passed on");
    let asked = &proxy.asked()[0];
    assert_eq!(asked.line, "POST http://far.example:8080/mcp?x=1 HTTP/1.1");
    assert_eq!(asked.field("host"), Some("far.example:8080"));
    assert_eq!(asked.field("proxy-authorization"), Some("Basic dTpw"));
}

#[test]
fn a_proxy_passes_on_bytes_for_tls_and_sees_no_header() {
    let (port, pem, seen) = secure();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let proxy = listener.local_addr().expect("an address").port();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let heard = heads.clone();
    thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for (count, stream) in listener.incoming().enumerate() {
            let mut stream = stream.expect("a connection");
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).expect("a head");
                head.extend_from_slice(&byte);
            }
            let head = String::from_utf8(head).expect("UTF-8");
            heard.lock().expect("no panic").push(head);
            if count == 1 {
                let no = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
                stream.write_all(no).expect("written");
                continue;
            }
            let yes = b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";
            stream.write_all(yes).expect("written");
            let target = TcpStream::connect(("127.0.0.1", port)).expect("the server");
            thread::spawn(move || pipe(stream, target));
        }
    });
    let client = || {
        Client::builder()
            .proxy(Proxy::Url(format!("127.0.0.1:{proxy}")))
            .authorities(pem.clone())
            .build()
            .expect("a client")
    };
    let url = format!("https://localhost:{port}/mcp");
    assert_eq!(send(&client(), &url, "{}").expect("an answer").1, "secret");
    let error = send(&client(), &url, "{}").expect_err("the proxy refuses");
    assert!(matches!(error, Error::Proxy { .. }), "{error:?}");
    assert!(error.to_string().contains("407"), "{error}");
    let heads = heads.lock().expect("no panic").clone();
    assert!(heads[0].starts_with(&format!("CONNECT localhost:{port} HTTP/1.1\r\n")));
    assert!(!heads.concat().contains("Bearer"));
    let seen = seen.lock().expect("no panic");
    assert_eq!(seen[0].field("authorization"), Some("Bearer t"));
}

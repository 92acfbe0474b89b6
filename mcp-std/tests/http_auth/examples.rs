//! The examples do what they show.

use crate::example::Example;
use crate::issuer::{Issuer, RESOURCE};
use crate::keys::Signer;
use crate::protected::{bearing, call, parameter};
use crate::site::{Request, said};

#[test]
fn server_auth() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let example = Example::start("server_auth", &[&issuer.url, RESOURCE]);
    let metadata = Request::new("GET").at("/.well-known/oauth-protected-resource/mcp");
    let metadata = example.ask(None, metadata).message();
    assert_eq!(metadata["authorization_servers"][0], *issuer.url);
    assert_eq!(example.ask(None, call("who")).status, 401);
    let token = key.token(&issuer.claims());
    let who = bearing(call("who").set("host", "mcp.example.com"), &token);
    assert_eq!(said(&example.ask(None, who).message()), "alice");
    let refused = example.ask(None, bearing(call("deploy"), &token));
    assert_eq!(refused.status, 403);
    assert_eq!(parameter(&refused, "scope").as_deref(), Some("read deploy"));
}

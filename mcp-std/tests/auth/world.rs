//! A protected server, its authorization server and a user who agrees to everything: enough of each to see what the client
//! does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_std::ProtocolVersion;
use mcp_std::auth::Auth;
use mcp_std::client::{Client, ConnectError, Proxy};
use serde_json::{Value, json};

use crate::site::{Answer, Asked, Site, field, get};

pub(crate) const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
pub(crate) const SERVER: &str = "/.well-known/oauth-authorization-server";
pub(crate) const BACK: &str = "http://127.0.0.1:1/callback";

/// What the authorization server has given.
#[derive(Default)]
pub(crate) struct Given {
    count: usize,
    /// Access tokens that are good, with their scopes.
    pub(crate) access: HashMap<String, String>,
    pub(crate) refresh: HashMap<String, String>,
    /// Codes, with challenge, scopes and resource.
    codes: HashMap<String, [String; 3]>,
    pub(crate) expires_in: Option<u64>,
    /// How the server says where its metadata are, if otherwise than usual.
    pub(crate) challenge: Option<String>,
}

impl Given {
    fn name(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{}", self.count)
    }
}

pub(crate) struct World {
    pub(crate) server: Site,
    pub(crate) issuer: Site,
    pub(crate) given: Arc<Mutex<Given>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let given: Arc<Mutex<Given>> = Arc::default();
        let state = given.clone();
        let issuer = Site::new(move |asked, port| authorization(asked, port, &state));
        let (state, named) = (given.clone(), issuer.origin());
        let server = Site::new(move |asked, port| protected(asked, port, &state, &named));
        Self {
            server,
            issuer,
            given,
        }
    }

    /// Another authorization server whose tokens the server takes.
    pub(crate) fn another_issuer(&self) -> Site {
        let given = self.given.clone();
        Site::new(move |asked, port| authorization(asked, port, &given))
    }

    /// A server that is its own authorization server, and has no metadata.
    pub(crate) fn legacy() -> Self {
        let given: Arc<Mutex<Given>> = Arc::default();
        let state = given.clone();
        let server = Site::new(move |asked, port| match &*asked.path {
            RESOURCE | SERVER => Answer::status(404),
            "/mcp" => protected(asked, port, &state, ""),
            _ => authorization(asked, port, &state),
        });
        Self {
            issuer: server.clone(),
            server,
            given,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.server.origin())
    }

    pub(crate) fn connect(&self, auth: Auth) -> Result<Client, ConnectError> {
        smol::block_on(
            Client::builder("test", "1")
                .proxy(Proxy::None)
                .revision(ProtocolVersion::V2026_07_28)
                .auth(auth)
                .connect_http(&self.url()),
        )
    }

    /// How often the user was asked.
    pub(crate) fn visits(&self) -> usize {
        self.issuer.asked("/authorize").len()
    }

    /// The requests to the token endpoint, by their grant.
    pub(crate) fn grants(&self) -> Vec<String> {
        let asked = self.issuer.asked("/token");
        let grant = |asked: &Asked| asked.parameter("grant_type").unwrap_or_default();
        asked.iter().map(grant).collect()
    }

    pub(crate) fn resource(&self) -> Value {
        json!({"resource": self.url(), "authorization_servers": [self.issuer.origin()],
               "scopes_supported": ["read"]})
    }

    /// Alters what the authorization server says about itself.
    pub(crate) fn with_metadata(&self, alter: impl FnOnce(&mut Value)) {
        let mut metadata = self.metadata();
        alter(&mut metadata);
        self.issuer
            .replace(SERVER, move |_| Answer::json(&metadata));
    }

    /// Alters what the server says about itself.
    pub(crate) fn with_resource(&self, alter: impl FnOnce(&mut Value)) {
        let mut resource = self.resource();
        alter(&mut resource);
        self.server
            .replace(RESOURCE, move |_| Answer::json(&resource));
    }

    /// Alters what the token endpoint says: the answer to a request is replaced by what this makes of both.
    pub(crate) fn with_tokens(
        &self,
        alter: impl Fn(&Asked, Answer) -> Answer + Send + Sync + 'static,
    ) {
        let given = self.given.clone();
        self.issuer.replace("/token", move |asked| {
            let answer = token(asked, &mut given.lock().expect("no panic"));
            alter(asked, answer)
        });
    }

    pub(crate) fn metadata(&self) -> Value {
        metadata(&self.issuer.origin())
    }

    pub(crate) fn revoke(&self) {
        self.given.lock().expect("no panic").access.clear();
    }
}

/// A user who logs in and agrees, at once.
pub(crate) fn user() -> Auth {
    Auth::code().redirect(BACK, |page| async move {
        let answer = smol::unblock(move || get(&page, None)).await;
        field(&answer, "location").ok_or_else(|| "the page does not lead back".to_owned())
    })
}

pub(crate) fn call(client: &Client, tool: &str) -> Result<String, String> {
    let outcome = smol::block_on(client.call_tool(tool, &()));
    outcome
        .map(|it| it.text())
        .map_err(|error| error.to_string())
}

fn metadata(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    })
}

fn authorization(asked: &Asked, port: u16, given: &Mutex<Given>) -> Answer {
    let origin = format!("http://localhost:{port}");
    let mut given = given.lock().expect("no panic");
    let get = |name: &str| asked.parameter(name).unwrap_or_default();
    match &*asked.path {
        SERVER => Answer::json(&metadata(&origin)),
        "/register" => {
            let id = given.name("client");
            Answer::json(&json!({"client_id": id})).body_status(201)
        }
        "/authorize" => {
            let code = given.name("code");
            let known = ["code_challenge", "scope", "resource"].map(get);
            given.codes.insert(code.clone(), known);
            let (back, state) = (get("redirect_uri"), get("state"));
            let back = format!("{back}?code={code}&state={state}&iss={origin}");
            Answer::status(302).field("location", &back)
        }
        "/token" => token(asked, &mut given),
        _ => Answer::status(404),
    }
}

fn token(asked: &Asked, given: &mut Given) -> Answer {
    let get = |name: &str| asked.parameter(name).unwrap_or_default();
    let refused = |error: &str| Answer::json(&json!({"error": error})).body_status(400);
    let scopes = match &*get("grant_type") {
        "authorization_code" => {
            let Some([challenge, scopes, resource]) = given.codes.remove(&get("code")) else {
                return refused("invalid_grant");
            };
            if challenge != challenge_of(&get("code_verifier")) || resource != get("resource") {
                return refused("invalid_grant");
            }
            scopes
        }
        // Rotated: each is good once.
        "refresh_token" => match given.refresh.remove(&get("refresh_token")) {
            Some(scopes) => scopes,
            None => return refused("invalid_grant"),
        },
        "client_credentials" => get("scope"),
        _ => return refused("unsupported_grant_type"),
    };
    let (access, refresh) = (given.name("access"), given.name("refresh"));
    given.access.insert(access.clone(), scopes.clone());
    given.refresh.insert(refresh.clone(), scopes.clone());
    let expires = given.expires_in.take().unwrap_or(3600);
    Answer::json(
        &json!({"access_token": access, "token_type": "Bearer", "expires_in": expires,
                         "refresh_token": refresh, "scope": scopes}),
    )
}

fn challenge_of(verifier: &str) -> String {
    use base64::Engine as _;
    use sha2::Digest as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(verifier))
}

fn protected(asked: &Asked, port: u16, given: &Mutex<Given>, issuer: &str) -> Answer {
    let origin = format!("http://localhost:{port}");
    if asked.path == RESOURCE {
        return Answer::json(&json!({"resource": format!("{origin}/mcp"),
            "authorization_servers": [issuer], "scopes_supported": ["read"]}));
    }
    if asked.path != "/mcp" {
        return Answer::status(404);
    }
    let challenge = if issuer.is_empty() {
        "Bearer".to_owned()
    } else {
        format!("Bearer resource_metadata=\"{origin}{RESOURCE}\"")
    };
    let token = asked
        .field("authorization")
        .and_then(|it| it.strip_prefix("Bearer "));
    let given = given.lock().expect("no panic");
    let challenge = given.challenge.clone().unwrap_or(challenge);
    let Some(scopes) = token.and_then(|token| given.access.get(token)) else {
        return Answer::status(401).field("www-authenticate", &challenge);
    };
    let body = asked.json();
    let tool = body["params"]["name"].as_str().unwrap_or_default();
    if tool == "write" && !scopes.split(' ').any(|scope| scope == "write") {
        let challenge = format!("{challenge}, error=\"insufficient_scope\", scope=\"write\"");
        return Answer::status(403).field("www-authenticate", &challenge);
    }
    let result = match body["method"].as_str() {
        Some("server/discover") => json!({"resultType": "complete", "ttlMs": 0,
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "cacheScope": "private"}),
        Some("tools/call") => json!({"resultType": "complete",
            "content": [{"type": "text", "text": tool}]}),
        _ => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": []}),
    };
    Answer::json(&json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
}

impl Answer {
    pub(crate) fn body_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

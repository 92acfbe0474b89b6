//! A third party's extension, `com.example/lamps`: lamps that clients can look at, switch, and listen to. Nothing of it is
//! known to the library.
//!
//! Run it as a server on standard input and output; `mcp serve` shows how such a session looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mcp_std::{BuildError, Context, ErrorCode, Extension, Json, Listening, ProtocolError, Server};
use serde::Deserialize;
use serde_json::{Value, json};

/// Its identifier: a name below a domain that is yours, backwards.
pub(crate) const LAMPS: &str = "com.example/lamps";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Which {
    lamp_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Switch {
    lamp_id: String,
    on: bool,
}

type Lamps = Arc<Mutex<HashMap<String, bool>>>;

fn lamp(lamps: &Lamps, id: &str) -> Option<Value> {
    let lamps = lamps.lock().unwrap_or_else(PoisonError::into_inner);
    lamps.get(id).map(|on| json!({ "lampId": id, "on": on }))
}

fn unknown() -> ProtocolError {
    ProtocolError::new(ErrorCode::INVALID_PARAMS, "There is no such lamp")
}

fn as_json(value: &Value) -> Json<'static> {
    Json::owned(value.to_string()).expect("serde_json writes JSON")
}

/// The server, with two lamps.
pub(crate) fn server() -> Result<Server, BuildError> {
    let lamps: Lamps = Arc::new(Mutex::new(HashMap::from([
        ("hall".to_owned(), false),
        ("desk".to_owned(), true),
    ])));
    // Known to itself, to tell those who listen.
    let itself = Arc::new(OnceLock::<Server>::new());
    let (get, switch, flash, listen) = (lamps.clone(), lamps.clone(), lamps.clone(), lamps);
    let (switched, flashed) = (itself.clone(), itself.clone());
    let extension = Extension::new(LAMPS)
        .settings(as_json(&json!({ "lamps": 2 })))
        // For clients that declare it only.
        .required()
        .mirrored_method("lamps/get", "lampId", move |which: Which| {
            let lamp = lamp(&get, &which.lamp_id);
            async move { lamp.ok_or_else(unknown) }
        })
        .mirrored_method(
            "lamps/switch",
            "lampId",
            move |context: Context, args: Switch| {
                let (lamps, server) = (switch.clone(), switched.clone());
                async move {
                    // What the client said of the extension.
                    let settings = context.extension(LAMPS);
                    let read_only = settings.and_then(|it| it.member("readOnly")?.as_bool());
                    if read_only == Some(true) {
                        let message = "You said that you would not touch anything";
                        return Err(ProtocolError::new(ErrorCode::INVALID_PARAMS, message));
                    }
                    {
                        let mut lamps = lamps.lock().unwrap_or_else(PoisonError::into_inner);
                        *lamps.get_mut(&args.lamp_id).ok_or_else(unknown)? = args.on;
                    }
                    let state = lamp(&lamps, &args.lamp_id).ok_or_else(unknown)?;
                    if let Some(server) = server.get() {
                        server.announce(LAMPS, &args.lamp_id, as_json(&state));
                    }
                    Ok(state)
                }
            },
        )
        .notification("notifications/lamps/flash", move |params, _| {
            let id = params.and_then(|it| it.member("lampId")?.as_string());
            let Some(id) = id.map(|id| id.decode()) else {
                return;
            };
            if let (Some(server), Some(state)) = (flashed.get(), lamp(&flash, &id)) {
                server.announce(LAMPS, &id, as_json(&state));
            }
        })
        .topics("lampIds", "notifications/lamps", move |id, _| {
            match lamp(&listen, id) {
                Some(_) => Listening::Accepted,
                None => Listening::Refused,
            }
        });
    let server = Server::builder("house", "1.0.0")
        .with_extension(extension)
        .build()?;
    itself.get_or_init(|| server.clone());
    Ok(server)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    server()?.run_stdio()?;
    Ok(())
}

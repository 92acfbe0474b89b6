//! What a server says of an app, in the `_meta` of its resource and of its tools.

use mcp_core::json::RawJson;
use serde_json::{Map, Value, json};

use super::csp::{Csp, OriginFault, is_host};

/// What a browser has that an app asks for: `_meta.ui.permissions`. A host may give less, and apps ask the browser whether they
/// have it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Permissions {
    /// The camera.
    pub camera: bool,
    /// The microphone.
    pub microphone: bool,
    /// Where the device is.
    pub geolocation: bool,
    /// Writing to the clipboard.
    pub clipboard_write: bool,
}

impl Permissions {
    /// None of them.
    pub const NONE: Self = Self {
        camera: false,
        microphone: false,
        geolocation: false,
        clipboard_write: false,
    };

    /// And the camera.
    #[must_use]
    pub const fn camera(mut self) -> Self {
        self.camera = true;
        self
    }

    /// And the microphone.
    #[must_use]
    pub const fn microphone(mut self) -> Self {
        self.microphone = true;
        self
    }

    /// And where the device is.
    #[must_use]
    pub const fn geolocation(mut self) -> Self {
        self.geolocation = true;
        self
    }

    /// And writing to the clipboard.
    #[must_use]
    pub const fn clipboard_write(mut self) -> Self {
        self.clipboard_write = true;
        self
    }

    const fn named(self) -> [(&'static str, &'static str, bool); 4] {
        [
            ("camera", "camera", self.camera),
            ("microphone", "microphone", self.microphone),
            ("geolocation", "geolocation", self.geolocation),
            ("clipboardWrite", "clipboard-write", self.clipboard_write),
        ]
    }

    /// The value of the attribute `allow` of the app's `iframe`.
    #[must_use]
    pub fn allow(self) -> String {
        let features = self.named().into_iter();
        let granted = features.filter(|(_, _, granted)| *granted);
        granted
            .map(|(_, feature, _)| feature)
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Those that both have: what is asked for and what the host gives.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            camera: self.camera && other.camera,
            microphone: self.microphone && other.microphone,
            geolocation: self.geolocation && other.geolocation,
            clipboard_write: self.clipboard_write && other.clipboard_write,
        }
    }

    pub(super) fn value(self) -> Value {
        let named = self.named().into_iter().filter(|(_, _, granted)| *granted);
        Value::Object(
            named
                .map(|(name, _, _)| (name.to_owned(), json!({})))
                .collect(),
        )
    }

    fn read(declared: &Map<String, Value>) -> Self {
        let asked = |name: &str| declared.get(name).is_some_and(Value::is_object);
        Self {
            camera: asked("camera"),
            microphone: asked("microphone"),
            geolocation: asked("geolocation"),
            clipboard_write: asked("clipboardWrite"),
        }
    }
}

/// What is said of the resource of an app: `_meta.ui` of what is read from a `ui://` URI.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct AppMeta {
    /// Where it gets things from. `None`: nothing is said, and the policy is [`Csp::RESTRICTIVE`].
    pub csp: Option<Csp>,
    /// What it asks of the browser.
    pub permissions: Permissions,
    /// The host of an origin of its own, in a form that each host program says.
    pub domain: Option<String>,
    /// Whether the host should draw a border and a background. `None`: as the host likes.
    pub prefers_border: Option<bool>,
}

impl AppMeta {
    /// Reads the `_meta` of the contents of a resource; with what of it was left out because it is no origin.
    ///
    /// Nothing in it widens what an app may do but what is well-formed: the rest is as if it were not there.
    #[must_use]
    pub fn read(meta: Option<RawJson<'_>>) -> (Self, Vec<OriginFault>) {
        let mut faults = Vec::new();
        let said = ui(meta);
        let object = |name: &str| said.get(name).and_then(Value::as_object);
        let domain = said.get("domain").and_then(Value::as_str);
        let read = Self {
            csp: object("csp").map(|csp| Csp::read(csp, &mut faults)),
            permissions: object("permissions").map_or(Permissions::NONE, Permissions::read),
            domain: domain.filter(|domain| is_host(domain)).map(str::to_owned),
            prefers_border: said.get("prefersBorder").and_then(Value::as_bool),
        };
        (read, faults)
    }

    /// The value of the header `Content-Security-Policy` that the app is to be served with.
    #[must_use]
    pub fn content_security_policy(&self) -> String {
        match &self.csp {
            Some(csp) => csp.header(),
            None => Csp::RESTRICTIVE.to_owned(),
        }
    }

    pub(super) fn value(&self) -> Value {
        let mut members = Map::new();
        if let Some(csp) = &self.csp {
            members.insert("csp".to_owned(), csp.value());
        }
        if self.permissions != Permissions::NONE {
            members.insert("permissions".to_owned(), self.permissions.value());
        }
        if let Some(domain) = &self.domain {
            members.insert("domain".to_owned(), domain.clone().into());
        }
        if let Some(prefers) = self.prefers_border {
            members.insert("prefersBorder".to_owned(), prefers.into());
        }
        Value::Object(members)
    }
}

/// By whom a tool can be called: `_meta.ui.visibility`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Visibility {
    /// The model sees it, and calls it.
    pub model: bool,
    /// Apps of its server call it.
    pub app: bool,
}

impl Visibility {
    /// Both: what is meant where nothing is said.
    pub const BOTH: Self = Self {
        model: true,
        app: true,
    };
    /// Apps only.
    pub const APP: Self = Self {
        model: false,
        app: true,
    };
    /// The model only.
    pub const MODEL: Self = Self {
        model: true,
        app: false,
    };
}

/// What is said of a tool: `_meta.ui` of its definition.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ToolUi {
    /// The resource that shows its results: a URI that begins with `ui://`. What begins otherwise is none.
    pub resource_uri: Option<String>,
    /// By whom it can be called.
    pub visibility: Visibility,
}

impl ToolUi {
    /// Reads the `_meta` of a tool.
    ///
    /// `visibility` that is no list is as if it were not there; in a list, words other than `model` and `app` count for
    /// nothing, so that an empty one hides the tool from both.
    #[must_use]
    pub fn read(meta: Option<RawJson<'_>>) -> Self {
        let said = ui(meta);
        let uri = said.get("resourceUri").and_then(Value::as_str);
        let visibility = match said.get("visibility").and_then(Value::as_array) {
            Some(listed) => Visibility {
                model: listed.iter().any(|it| it == "model"),
                app: listed.iter().any(|it| it == "app"),
            },
            None => Visibility::BOTH,
        };
        Self {
            resource_uri: uri.filter(|uri| is_ui(uri)).map(str::to_owned),
            visibility,
        }
    }

    pub(super) fn value(&self) -> Value {
        let mut members = Map::new();
        if let Some(uri) = &self.resource_uri {
            members.insert("resourceUri".to_owned(), uri.clone().into());
        }
        if self.visibility != Visibility::BOTH {
            let Visibility { model, app } = self.visibility;
            let named = [("model", model), ("app", app)].into_iter();
            let named = named.filter_map(|(name, seen)| seen.then_some(name));
            members.insert("visibility".to_owned(), named.collect());
        }
        Value::Object(members)
    }
}

/// The member `ui` of a `_meta`.
fn ui(meta: Option<RawJson<'_>>) -> Map<String, Value> {
    let said = meta.and_then(|meta| meta.member("ui"));
    let said = said.and_then(|said| serde_json::from_str(said.as_str()).ok());
    said.unwrap_or_default()
}

/// Whether a URI is that of an app.
pub(super) fn is_ui(uri: &str) -> bool {
    uri.strip_prefix("ui://").is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
    })
}

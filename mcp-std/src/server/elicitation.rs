//! Questions to the client: forms made from types, and questions that a handler sends off by itself.

use mcp_core::json::Json;
use mcp_core::model::{
    CreateMessageRequestParams, Decode as _, ElicitRequestParams, InputRequest, RequestedSchema,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments::fields::in_order;
use super::context::AskError;

/// What came of a form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three actions of the protocol")]
pub enum Elicited<T> {
    /// The user filled it in.
    Accepted(T),
    /// The user said no.
    Declined,
    /// The user closed it without an answer.
    Cancelled,
}

impl<T> Elicited<T> {
    /// What was filled in, if it was.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// What a handler returns that steers the asking by itself, instead of waiting in [`Context::elicit`] and the like: the
/// client is asked these questions and repeats its request with the answers. The handler then finds them in
/// [`Context::input_response`], and its own state in [`Context::request_state`].
///
/// For clients of 2026-07-28: a request of an older one is answered with an error. The handler has to take a context. Ask
/// only what the client [can do](super::Context::capabilities): else the request is answered with the error for that.
///
/// ```
/// use mcp_std::model::{ElicitAction, ElicitRequestParams, ElicitResult};
/// use mcp_std::{Context, InputRequired, Instead, IntoToolResult, ProtocolError, Server, ToolResult};
///
/// async fn subscribe(context: Context) -> Result<ToolResult, Instead> {
///     match context.input_response::<ElicitResult>("consent")? {
///         Some(answer) if answer.action == ElicitAction::Accept => {
///             format!("subscribed to {}", context.request_state().unwrap_or("nothing")).into_tool_result()
///         }
///         Some(_) => "not subscribed".into_tool_result(),
///         None => InputRequired::new()
///             .elicit("consent", ElicitRequestParams::url("Please agree", "https://example.com/agree"))
///             .state("the weekly letter")
///             .into_tool_result(),
///     }
/// }
///
/// let server = Server::builder("letters", "1.0.0").tool("subscribe", "Subscribes", subscribe).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
///
/// [`Context::elicit`]: super::Context::elicit
/// [`Context::input_response`]: super::Context::input_response
/// [`Context::request_state`]: super::Context::request_state
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a handler returns it"]
pub struct InputRequired {
    pub(crate) requests: Vec<(String, InputRequest<'static>)>,
    pub(crate) state: Option<String>,
}

impl InputRequired {
    /// No questions yet. With none at all, the client just repeats its request, later.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the client's user.
    pub fn elicit(self, name: impl Into<String>, params: ElicitRequestParams<'_>) -> Self {
        self.ask(name.into(), InputRequest::Elicit(params.into_owned()))
    }

    /// Asks the client's model. Deprecated by SEP-2577 as of 2026-07-28, where it stays for a year at least.
    pub fn sample(self, name: impl Into<String>, params: CreateMessageRequestParams<'_>) -> Self {
        self.ask(name.into(), InputRequest::Sample(params.into_owned()))
    }

    /// Asks for the client's roots. Deprecated by SEP-2577 as of 2026-07-28, where it stays for a year at least.
    pub fn roots(self, name: impl Into<String>) -> Self {
        self.ask(name.into(), InputRequest::ListRoots)
    }

    /// What the handler wants back on the next run. It is sealed, so that it comes back as it was and with the same call
    /// only, but not encrypted: put no secrets into it.
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Of two questions with one name, the later counts.
    fn ask(mut self, name: String, request: InputRequest<'static>) -> Self {
        self.requests.retain(|(other, _)| *other != name);
        self.requests.push((name, request));
        self
    }
}

/// The form that asks for a `T`.
///
/// # Errors
///
/// `T` is not a struct of strings, numbers, booleans, enums and lists of enums: forms have nothing else.
pub(crate) fn form<T: JsonSchema + DeserializeOwned>() -> Result<RequestedSchema<'static>, AskError>
{
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    let invalid = |what: String| AskError::Invalid(format!("{}: {what}", T::schema_name()));
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Err(invalid("a form is a struct with fields".into()));
    };
    let mut properties: Vec<_> = properties.iter().collect();
    in_order::<T, _>(&mut properties, |(name, _)| name);
    let mut fields = Vec::new();
    let mut optional = Vec::new();
    for (name, field) in properties {
        let (field, may_be_null) =
            field_of(field).ok_or_else(|| invalid(format!("a form cannot ask for `{name}`")))?;
        if may_be_null {
            optional.push(name.as_str());
        }
        // As text: a map would not keep the order.
        fields.push(format!("{}:{field}", Value::from(name.as_str())));
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let required = required.filter(|name| !optional.iter().any(|optional| *name == optional));
    let required = Value::from_iter(required.cloned());
    let fields = fields.join(",");
    let form = Json::owned(format!(
        "{{\"type\":\"object\",\"properties\":{{{fields}}},\"required\":{required}}}"
    ));
    form.ok()
        .and_then(|form| Some(RequestedSchema::decode(form.raw()).ok()?.into_owned()))
        .ok_or_else(|| invalid("not a form".into()))
}

/// A field as forms have them, and whether its type may be null, which for a form means that it may be left out.
fn field_of(schema: &Value) -> Option<(Value, bool)> {
    const KEPT: [&str; 11] = [
        "title",
        "description",
        "default",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "enum",
        "minItems",
        "maxItems",
        "oneOf",
    ];
    let described = |inner: Value| {
        let mut inner = inner;
        for name in ["title", "description"] {
            if let (Some(text), Value::Object(inner)) = (schema.get(name), &mut inner) {
                inner.insert(name.into(), text.clone());
            }
        }
        inner
    };
    // `Option` of an enum.
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let mut others = choices.iter().filter(|choice| choice["type"] != "null");
        let (one, None) = (others.next()?, others.next()) else {
            return None;
        };
        let (field, _) = field_of(one)?;
        return Some((described(field), true));
    }
    let mut may_be_null = false;
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => {
            let mut others = kinds.iter().filter(|kind| *kind != "null");
            let (one, None) = (others.next()?, others.next()) else {
                return None;
            };
            may_be_null = kinds.len() == 2;
            one.as_str()?
        }
        Some(kind) => kind.as_str()?,
        // An enum whose variants have comments of their own.
        None if schema.get("oneOf").is_some() => "string",
        None => return None,
    };
    let mut field = Map::new();
    field.insert("type".into(), kind.into());
    for name in KEPT {
        if let Some(value) = schema.get(name).filter(|value| !value.is_null()) {
            field.insert(name.into(), value.clone());
        }
    }
    match kind {
        "string" => {
            if let Some(format) = schema["format"].as_str()
                && ["email", "uri", "date", "date-time"].contains(&format)
            {
                field.insert("format".into(), format.into());
            }
            if let Some(values) = field.get_mut("enum").and_then(Value::as_array_mut) {
                values.retain(|value| !value.is_null());
            }
            if let Some(choices) = schema.get("oneOf") {
                field.insert("oneOf".into(), titled(choices)?);
            }
        }
        "integer" | "number" | "boolean" => {}
        "array" => {
            let items = &schema["items"];
            let items = if let Some(choices) = items.get("oneOf") {
                serde_json::json!({ "anyOf": titled(choices)? })
            } else {
                serde_json::json!({ "type": "string", "enum": items.get("enum")? })
            };
            field.insert("items".into(), items);
        }
        _ => return None,
    }
    Some((field.into(), may_be_null))
}

/// Variants with their comments as titles.
fn titled(choices: &Value) -> Option<Value> {
    let choices = choices.as_array()?.iter().map(|choice| {
        // Several variants without comments are one choice.
        let value = choice.get("const")?.as_str()?;
        let title = choice["description"].as_str().unwrap_or(value);
        Some(serde_json::json!({ "const": value, "title": title }))
    });
    choices.collect::<Option<Vec<_>>>().map(Value::from)
}

#[cfg(test)]
mod tests {
    use mcp_core::model::{Encode as _, ProtocolVersion};
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    enum Size {
        Small,
        Large,
    }

    #[derive(Deserialize, JsonSchema)]
    enum Topping {
        /// Much of it
        Cheese,
        /// Green ones
        Olives,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "described only")]
    struct Order {
        /// Who orders
        name: String,
        count: u8,
        weight: Option<f64>,
        express: bool,
        size: Size,
        gift: Option<Size>,
        topping: Topping,
        extras: Vec<Size>,
        more: Vec<Topping>,
    }

    #[test]
    fn a_form_of_a_type() {
        let form = form::<Order>().expect("a form");
        let names: Vec<_> = form.properties.iter().map(|(name, _)| name).collect();
        assert_eq!(names[..3], ["name", "count", "weight"], "as declared");
        let form: Value =
            serde_json::from_str(form.to_json(ProtocolVersion::LATEST_MODERN).as_str())
                .expect("JSON");
        let sizes = json!({ "type": "string", "enum": ["Small", "Large"] });
        let toppings = json!([
            { "const": "Cheese", "title": "Much of it" },
            { "const": "Olives", "title": "Green ones" },
        ]);
        assert_eq!(
            form,
            json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "Who orders" },
                    "count": { "type": "integer", "minimum": 0, "maximum": 255 },
                    "weight": { "type": "number" },
                    "express": { "type": "boolean" },
                    "size": sizes,
                    "gift": sizes,
                    "topping": { "type": "string", "oneOf": toppings },
                    "extras": { "type": "array", "items": sizes },
                    "more": { "type": "array", "items": { "anyOf": toppings } },
                },
                "required": ["name", "count", "express", "size", "topping", "extras", "more"],
            })
        );
    }

    #[test]
    fn what_is_no_form() {
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "described only")]
        struct Nested {
            inner: Order,
        }
        assert!(matches!(form::<Nested>(), Err(AskError::Invalid(_))));
        assert!(matches!(form::<Vec<String>>(), Err(AskError::Invalid(_))));
        assert!(matches!(form::<String>(), Err(AskError::Invalid(_))));
    }
}

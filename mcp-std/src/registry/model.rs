//! The members of a `server.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Problem, Severity};
use super::{MAX_BYTES, SCHEMA, validate};

/// A `server.json`. What it has that is not known here stays in `other`, and is written again.
///
/// Nothing is checked but that members are of the right type: [`validate`](fn@super::validate) tells the rest.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ServerJson {
    /// The schema that the file is written to, by its URI.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Whose it is, a name of a domain backwards, and what it is called: `com.example/weather`. 3 to 200 characters.
    pub name: String,
    /// Its name for people. Up to 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does. 1 to 100 characters.
    pub description: String,
    /// A version, never a range of them. Up to 255 characters.
    pub version: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// Pictures of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Programs that can be installed and started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// URLs at which it is served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<EntryTransport>,
    /// What others want to say of it. The official registry keeps `io.modelcontextprotocol.registry/publisher-provided`
    /// alone, up to 4096 bytes of it.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Where the source of a server is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// For browsers and for `git clone`.
    pub url: String,
    /// The service that hosts it: `github`, `gitlab`.
    pub source: String,
    /// What that service calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The folder in it, a relative path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subfolder: Option<String>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A picture of a server.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// An HTTPS URL, up to 255 characters.
    pub src: String,
    /// `image/png`, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background it is for: `light` or `dark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A program that can be installed and started.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb`.
    pub registry_type: String,
    /// The registry, if it is not the public one of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry_base_url: Option<String>,
    /// The package's name there; a whole reference of an image (`oci`); a URL (`mcpb`).
    pub identifier: String,
    /// A version, never a range of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The SHA-256 of the file, 64 lower-case hexadecimal digits. `mcpb` needs it.
    #[serde(
        rename = "fileSha256",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub file_sha256: Option<String>,
    /// What runs it: `npx`, `uvx`, `docker`, `dnx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_hint: Option<String>,
    /// How it is spoken with.
    pub transport: EntryTransport,
    /// Arguments of what runs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_arguments: Vec<Argument>,
    /// Arguments of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub package_arguments: Vec<Argument>,
    /// Variables of its environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_variables: Vec<KeyValueInput>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How a package or a remote is spoken with.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EntryTransport {
    /// `stdio` (packages only), `streamable-http` or `sse`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where, with `{variables}`: those of [`variables`](Self::variables) in a remote, arguments and variables of the
    /// environment in a package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of each request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<KeyValueInput>,
    /// What the `{variables}` of a remote's URL stand for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Input>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A text that the file fixes or the user is asked for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// For whoever is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether there has to be one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_required: bool,
    /// Whether it is a password or the like.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_secret: bool,
    /// `string`, `number`, `boolean`, `filepath`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What it is, and the user is not asked. `{names}` in braces stand for [`variables`](Self::variables).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What it is if the user says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// An example for whoever is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// All that it can be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What stands for `{names}` in [`value`](Self::value). Variables have none of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Self>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A header or a variable of the environment.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KeyValueInput {
    /// Its name.
    pub name: String,
    /// Its value.
    #[serde(flatten)]
    pub input: Input,
}

/// An argument of a command line.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// `positional` or `named`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of a named one, with its dashes: `--port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What a positional one is called where the user is asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_hint: Option<String>,
    /// Whether it may be there several times.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_repeated: bool,
    /// Its value.
    #[serde(flatten)]
    pub input: Input,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(it: &bool) -> bool {
    !*it
}

impl ServerJson {
    /// A server with neither packages nor remotes.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        version: impl Into<String>,
    ) -> Self {
        Self {
            schema: Some(SCHEMA.to_owned()),
            name: name.into(),
            description: description.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Reads a file of up to [`MAX_BYTES`].
    ///
    /// # Errors
    ///
    /// It is longer, it is no JSON, or a member is missing or of the wrong type: the first one.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MAX_BYTES {
            return Err(too_long());
        }
        serde_json::from_str(text).map_err(|error| {
            // Serde does not know the path of what is wrong; the validation does.
            let told = validate(text).into_iter();
            let mut told = told.filter(|it| it.severity == Severity::Error);
            let unnamed = || Problem::error("", error.to_string(), "write it as the schema has it");
            told.find(|it| it.fault.contains("is expected") || it.fault.contains("is missing"))
                .unwrap_or_else(unnamed)
        })
    }

    /// The file, in lines.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The file is too long to be one.
pub(super) fn too_long() -> Problem {
    let fault = format!("it is longer than {MAX_BYTES} bytes");
    Problem::error("", fault, "leave out what no registry shows")
}

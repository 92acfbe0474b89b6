//! A file that is in order, to be changed.

use serde_json::{Value, json};

/// A server with a package of each kind, and a remote.
pub(crate) fn whole() -> Value {
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "com.example/files",
        "title": "Files",
        "description": "Reads files",
        "version": "1.0.2",
        "websiteUrl": "https://example.com/files",
        "repository": {"url": "https://github.com/example/files", "source": "github", "subfolder": "src/files"},
        "icons": [{"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48", "any"]}],
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@example/files",
                "version": "1.0.2",
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {"type": "named", "name": "--level", "default": "info", "choices": ["info", "debug"]},
                    {"type": "named", "name": "--port", "format": "number"},
                    {"type": "named", "name": "--verbose"},
                    {"type": "positional", "valueHint": "root", "isRequired": true, "isRepeated": true, "format": "filepath"}
                ],
                "environmentVariables": [
                    {"name": "API_KEY", "isRequired": true, "isSecret": true},
                    {"name": "UNITS", "default": "C"},
                    {"name": "UNSET"}
                ]
            },
            {
                "registryType": "oci",
                "identifier": "ghcr.io/example/files:1.0.2",
                "runtimeHint": "docker",
                "transport": {"type": "stdio"},
                "runtimeArguments": [{
                    "type": "named",
                    "name": "--mount",
                    "value": "type=bind,src={source},dst={target}",
                    "isRequired": true,
                    "variables": {
                        "source": {"format": "filepath", "isRequired": true},
                        "target": {"default": "/project"}
                    }
                }],
                "packageArguments": [{"type": "positional", "value": "/project"}],
                "environmentVariables": [{"name": "API_KEY", "isRequired": true, "isSecret": true}]
            },
            {"registryType": "pypi", "identifier": "example-files", "version": "1.0.2", "transport": {"type": "stdio"}},
            {
                "registryType": "nuget",
                "identifier": "Example.Files",
                "version": "1.0.2",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "serve"}]
            },
            {
                "registryType": "mcpb",
                "identifier": "https://github.com/example/files/releases/download/v1.0.2/files.mcpb",
                "fileSha256": "a".repeat(64),
                "transport": {"type": "stdio"}
            }
        ],
        "remotes": [{
            "type": "streamable-http",
            "url": "https://{tenant}.example.com/mcp",
            "variables": {"tenant": {"isRequired": true}},
            "headers": [
                {"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isRequired": true, "isSecret": true}}},
                {"name": "X-Region", "default": "eu", "choices": ["eu", "us"]}
            ]
        }],
        "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"tool": "by hand"}},
        "com.example/more": {"kept": [1, 2.50, null]}
    })
}

/// The file with the value at a JSON pointer replaced; `null`: taken away.
pub(crate) fn with(pointer: &str, value: Value) -> Value {
    let mut file = whole();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = file.pointer_mut(parent).expect("its parent is there");
    match parent {
        Value::Object(members) if value.is_null() => {
            members.remove(name);
        }
        Value::Object(members) => {
            members.insert(name.replace("~1", "/"), value);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            parent[name.parse::<usize>().expect("a number")] = value;
        }
    }
    file
}

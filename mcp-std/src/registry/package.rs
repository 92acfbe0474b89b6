//! What is wrong with a package.

use super::input::{INPUT, SSE, STDIO, STREAMABLE, check_input, check_inputs, check_url};
use super::problem::quoted;
use super::validate::{check_https, check_version};
use super::walk::{Found, Node, Object};

const TYPES: [&str; 5] = ["npm", "pypi", "oci", "nuget", "mcpb"];

/// Hosts of images that the official registry takes; of the last two, what the host ends with.
const IMAGES: [&str; 5] = [
    "docker.io",
    "ghcr.io",
    "mcr.microsoft.com",
    ".pkg.dev",
    ".azurecr.io",
];

pub(super) fn check_package(node: &Node<'_>, found: &mut Found) {
    const MEMBERS: [&str; 11] = [
        "registryType",
        "registryBaseUrl",
        "identifier",
        "version",
        "fileSha256",
        "runtimeHint",
        "transport",
        "runtimeArguments",
        "packageArguments",
        "environmentVariables",
        "postInstallInstructions",
    ];
    let Some(package) = node.object(&MEMBERS, found) else {
        return;
    };
    let remedy = format!("write one of {}", TYPES.join(", "));
    let kind = package.need("registryType", &remedy, found);
    let kind_text = kind.as_ref().and_then(|it| it.string(found));
    if let (Some(kind), Some(text)) = (&kind, kind_text)
        && !TYPES.contains(&text)
    {
        let fault = format!("{} is no kind of registry that is known here", quoted(text));
        found.warning(kind, fault, remedy);
    }
    let kind = kind_text.unwrap_or_default();
    check_source(&package, kind, found);
    if let Some(version) = package.get("version") {
        check_version(&version, found);
    } else if matches!(kind, "npm" | "pypi" | "nuget") {
        package.need(
            "version",
            "write the one version that this is: `1.2.3`",
            found,
        );
    }
    check_hash(&package, kind, found);
    check_command(&package, found);
}

fn check_source(package: &Object<'_>, kind: &str, found: &mut Found) {
    let remedy = "name the package as its registry does";
    if let Some(identifier) = package.need("identifier", remedy, found)
        && let Some(text) = identifier.string(found)
    {
        match kind {
            "oci" => check_image(&identifier, text, package.has("version"), found),
            "mcpb" => {
                check_https(&identifier, found);
                if !text.to_ascii_lowercase().contains("mcp") {
                    let fault = "the official registry takes URLs with `mcp` in them only";
                    found.error(&identifier, fault, "name the file `….mcpb`");
                }
            }
            _ if !is_identifier(kind, text) => {
                let fault = format!("{} is no name of a package", quoted(text));
                found.error(&identifier, fault, remedy);
            }
            _ => {}
        }
    }
    let Some(base) = package.get("registryBaseUrl") else {
        return;
    };
    check_https(&base, found);
    match kind {
        "oci" | "mcpb" => {
            let fault = "`identifier` says where the package is";
            found.error(&base, fault, "leave it out");
        }
        _ => {
            let fault = "the official registry takes packages of the public registry only, which is meant without this";
            found.warning(&base, fault, "leave it out");
        }
    }
}

/// Whether a package of this kind can be called this. None begins with `-`, nor has anything in it that ends the name.
pub(super) fn is_identifier(kind: &str, name: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-~".contains(c))
    };
    match (kind, name.strip_prefix('@')) {
        ("npm", Some(scoped)) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| plain(scope) && plain(name)),
        ("npm" | "pypi" | "nuget", _) => plain(name),
        _ => !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_whitespace),
    }
}

/// Whether it can be an image: `host/name:tag`, `name@sha256:…`.
pub(super) fn is_image(reference: &str) -> bool {
    let begins = reference.starts_with(|c: char| c.is_ascii_alphanumeric());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@+".contains(c);
    begins && reference.chars().all(plain) && !reference.contains("//")
}

/// The tag or digest of an image.
pub(super) fn tag(reference: &str) -> Option<&str> {
    if let Some((_, digest)) = reference.split_once('@') {
        return Some(digest);
    }
    let last = reference.rsplit('/').next().unwrap_or_default();
    last.split_once(':').map(|(_, tag)| tag)
}

fn check_image(node: &Node<'_>, text: &str, version: bool, found: &mut Found) {
    let remedy = "write `ghcr.io/owner/name:1.2.3`";
    if !is_image(text) {
        let fault = format!("{} is no reference of an image", quoted(text));
        found.error(node, fault, remedy);
        return;
    }
    match tag(text) {
        None if version => {
            let fault = "since 2025-10-11, the version of an image stands here";
            found.error(node, fault, format!("{remedy}, and leave out `version`"));
        }
        None => found.error(node, "it has neither a tag nor a digest", remedy),
        Some("" | "latest") => {
            found.error(node, "it is another image each time", remedy);
        }
        Some(_) if version => {
            let fault = "there is a `version` as well, which the official registry refuses";
            found.error(node, fault, "leave out `version`");
        }
        Some(_) => {}
    }
    let first = text.split_once('/').map(|(first, _)| first);
    let host = first
        .filter(|it| it.contains(['.', ':']))
        .unwrap_or("docker.io");
    let allowed = |it: &&str| match it.strip_prefix('.') {
        Some(_) => host.ends_with(*it),
        None => host == *it,
    };
    if !IMAGES.iter().any(allowed) {
        let fault = format!("the official registry takes no images of {}", quoted(host));
        let hosts = IMAGES.map(|it| {
            if it.starts_with('.') {
                format!("*{it}")
            } else {
                it.to_owned()
            }
        });
        found.warning(
            node,
            fault,
            format!("publish it at one of {}", hosts.join(", ")),
        );
    }
}

fn check_hash(package: &Object<'_>, kind: &str, found: &mut Found) {
    let remedy = "write the file's SHA-256 in 64 lower-case hexadecimal digits";
    let Some(hash) = package.get("fileSha256") else {
        if kind == "mcpb" {
            package.need("fileSha256", remedy, found);
        }
        return;
    };
    let Some(text) = hash.string(found) else {
        return;
    };
    let digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    if text.len() != 64 || !text.bytes().all(digit) {
        found.error(&hash, format!("{} is no such digest", quoted(text)), remedy);
    }
    if matches!(kind, "npm" | "pypi" | "nuget" | "oci") {
        let fault = format!("nobody compares it for {kind}");
        found.warning(&hash, fault, "leave it out");
    }
}

fn check_command(package: &Object<'_>, found: &mut Found) {
    if let Some(hint) = package.get("runtimeHint") {
        hint.length(1, 255, found);
    }
    let mut names = Vec::new();
    for arguments in ["runtimeArguments", "packageArguments"] {
        let Some(all) = package.get(arguments) else {
            continue;
        };
        for argument in all.elements(found) {
            names.extend(check_argument(&argument, found));
        }
        if arguments == "runtimeArguments" && !package.has("runtimeHint") {
            let fault = "what they are arguments of is not said";
            found.warning(&all, fault, "write `runtimeHint`");
        }
    }
    if let Some(environment) = package.get("environmentVariables") {
        names.extend(check_inputs(&environment, true, found));
    }
    let remedy = "write {\"type\": \"stdio\"}";
    let Some(node) = package.need("transport", remedy, found) else {
        return;
    };
    let Some(transport) = node.object(&["type", "url", "headers"], found) else {
        return;
    };
    let kind = transport.need("type", remedy, found);
    let kind = kind.and_then(|it| it.one_of(&[STDIO, STREAMABLE, SSE], found));
    let url = transport.get("url");
    match (kind, url) {
        (Some(STDIO), Some(url)) if url.value != "" => {
            found.error(&url, "a program on stdio has no URL", "leave it out");
        }
        (Some(STREAMABLE | SSE), None) => {
            transport.need("url", "write where it is served once it runs", found);
        }
        (Some(STREAMABLE | SSE), Some(url)) => {
            let whose = "the arguments or the variables of the environment";
            check_url(&url, &names, whose, false, found);
        }
        _ => {}
    }
    if let Some(headers) = transport.get("headers") {
        check_inputs(&headers, false, found);
    }
}

/// Checks an argument. What a URL can call it.
fn check_argument<'j>(node: &Node<'j>, found: &mut Found) -> Vec<&'j str> {
    let more = ["type", "name", "valueHint", "isRepeated", "variables"];
    let known: Vec<_> = INPUT.into_iter().chain(more).collect();
    let Some(argument) = node.object(&known, found) else {
        return Vec::new();
    };
    check_input(&argument, true, found);
    if let Some(is) = argument.get("isRepeated") {
        is.boolean(found);
    }
    let remedy = "write `positional` or `named`";
    let kind = argument.need("type", remedy, found);
    let kind = kind.and_then(|it| it.one_of(&["positional", "named"], found));
    let hint = argument.get("valueHint");
    let hint = hint.and_then(|it| it.length(1, 255, found));
    if kind == Some("positional") && hint.is_none() && !argument.has("value") {
        let fault = "neither `value` nor `valueHint` is there";
        found.error(node, fault, "write what it is, or what it is called");
    }
    let mut name = None;
    if kind == Some("named")
        && let Some(named) = argument.need("name", "write `--name`", found)
    {
        name = named.string(found);
        if let Some(text) = name {
            check_option(&argument, &named, text, found);
        }
    }
    hint.into_iter().chain(name).collect()
}

fn check_option(argument: &Object<'_>, node: &Node<'_>, name: &str, found: &mut Found) {
    let outside = |c: char| c.is_whitespace() || c.is_control() || "<>$".contains(c);
    if name.is_empty() || name.contains(outside) {
        let fault = format!("{} is no name of an option", quoted(name));
        found.error(
            node,
            fault,
            "write the name alone, `--port`; what follows it is `value`",
        );
        return;
    }
    for member in ["value", "default"] {
        if let Some(value) = argument.get(member)
            && value.value.as_str().is_some_and(|it| it.starts_with(name))
        {
            let fault = format!("it begins with {}, which is put before it", quoted(name));
            found.error(&value, fault, "write the value alone");
        }
    }
}

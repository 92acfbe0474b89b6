//! The command line of a package, and the URL and headers of a remote.

use std::collections::BTreeMap;

use super::configuration::Way;
use super::fill::{Filled, Filler, Place};
use super::input::{SSE, STDIO, STREAMABLE, is_header, is_variable};
use super::model::{Argument, EntryTransport, Input, Package};
use super::package::{is_identifier, is_image, tag};
use super::problem::quoted;

/// How a package is started. `None`: the filler knows why not.
pub(super) fn package(filler: &mut Filler<'_>, package: &Package, path: &str) -> Option<Way> {
    let command = command_of(filler, package, path);
    if package.transport.kind != STDIO {
        let fault = "it serves HTTP once it runs, and no host starts such a program";
        let remedy = "start it by hand, and give the host its URL";
        filler.error(format!("{path}.transport"), fault, remedy);
    }
    let source = source(filler, package, path);
    let runtime = arguments(
        filler,
        &package.runtime_arguments,
        &format!("{path}.runtimeArguments"),
    );
    let own = arguments(
        filler,
        &package.package_arguments,
        &format!("{path}.packageArguments"),
    );
    let env = environment(filler, package, path);
    let (command, (named, registry)) = (command?, source?);
    let mut args = Vec::new();
    let has = |option: &[&str]| runtime.iter().any(|it| option.contains(&&**it));
    match command {
        "npx" => {
            if !has(&["-y", "--yes"]) {
                args.push("-y".to_owned());
            }
            args.extend(registry.map(|url| format!("--registry={url}")));
            args.extend(runtime);
            args.push(named);
        }
        "uvx" => {
            // What is at the base is for people; programs are served below.
            let index = |url: &str| format!("--default-index={}/simple", url.trim_end_matches('/'));
            args.extend(registry.map(index));
            args.extend(runtime);
            args.push(named);
        }
        "dnx" => {
            let confirmed = has(&["-y", "--yes"]);
            args.push(named);
            args.extend(registry.map(|url| format!("--source={url}")));
            args.extend(runtime);
            if !confirmed {
                args.push("--yes".to_owned());
            }
            if !own.is_empty() {
                args.push("--".to_owned());
            }
        }
        _ => {
            args.push("run".to_owned());
            for (option, same) in [("-i", "--interactive"), ("--rm", "--rm")] {
                if !has(&[option, same]) {
                    args.push(option.to_owned());
                }
            }
            // By name alone: the value is not to be seen in the list of processes.
            args.extend(env.keys().flat_map(|name| ["-e".to_owned(), name.clone()]));
            let again = usize::from(runtime.first().is_some_and(|it| it == "run"));
            args.extend(runtime.into_iter().skip(again));
            args.push(named);
        }
    }
    args.extend(own);
    Some(Way::Program { command, args, env })
}

/// The program that starts it: one of those known for its kind, never just any that a file names.
fn command_of(filler: &mut Filler<'_>, package: &Package, path: &str) -> Option<&'static str> {
    let known: &[&'static str] = match &*package.registry_type {
        "npm" => &["npx"],
        "pypi" => &["uvx"],
        "nuget" => &["dnx"],
        "oci" => &["docker", "podman"],
        "mcpb" => {
            let fault = "it is a file that has to be downloaded and compared with `fileSha256`";
            let remedy = "install it with a program that takes bundles";
            filler.error(format!("{path}.registryType"), fault, remedy);
            return None;
        }
        other => {
            let fault = format!("nothing is known to start a package of {}", quoted(other));
            filler.error(format!("{path}.registryType"), fault, "choose another");
            return None;
        }
    };
    let Some(hint) = &package.runtime_hint else {
        return known.first().copied();
    };
    let found = known.iter().find(|it| **it == hint);
    if found.is_none() {
        let fault = format!(
            "{} is not known to start packages of {}",
            quoted(hint),
            package.registry_type
        );
        let remedy = format!(
            "{} is: install that, or start it by hand",
            known.join(" or ")
        );
        filler.error(format!("{path}.runtimeHint"), fault, remedy);
    }
    found.copied()
}

/// What names the package, and the registry if it is not the public one.
fn source<'p>(
    filler: &mut Filler<'_>,
    package: &'p Package,
    path: &str,
) -> Option<(String, Option<&'p str>)> {
    let name = &*package.identifier;
    let oci = package.registry_type == "oci";
    let named = match oci {
        true => is_image(name),
        false => is_identifier(&package.registry_type, name),
    };
    if !named {
        let fault = format!("{} is no name of a package", quoted(name));
        filler.error(format!("{path}.identifier"), fault, "choose another");
    }
    let version = package.version.as_deref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+!".contains(c);
    let pinned = version.is_none_or(|it| {
        !it.is_empty() && it != "latest" && it.chars().all(plain) && !super::version::is_range(it)
    });
    if !pinned {
        let fault = format!("{} is not one version", quoted(version.unwrap_or_default()));
        filler.error(format!("{path}.version"), fault, "choose another");
    }
    let tagged = oci && tag(name).is_some();
    if version.is_none() && !tagged {
        let fault = "what is started would be another program each time";
        filler.error(
            format!("{path}.version"),
            fault,
            "choose one that has a version",
        );
    }
    let registry = package.registry_base_url.as_deref();
    if let Some(url) = registry {
        let spaced = url.contains(|c: char| c.is_whitespace() || c.is_control());
        let strange = spaced || url.contains("${") || !url.starts_with("https://");
        if oci || strange {
            let fault = match oci {
                true => "an image says itself where it is",
                false => "it is no https URL",
            };
            filler.error(format!("{path}.registryBaseUrl"), fault, "choose another");
            return None;
        }
    }
    let named = match version {
        Some(version) if oci && !tagged => format!("{name}:{version}"),
        Some(version) if !oci => format!("{name}@{version}"),
        _ => name.to_owned(),
    };
    Some((named, registry))
}

fn arguments(filler: &mut Filler<'_>, arguments: &[Argument], path: &str) -> Vec<String> {
    let mut line = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let path = format!("{path}[{at}]");
        match &*argument.kind {
            "named" => option(filler, argument, path, &mut line),
            "positional" => {
                let name = argument.value_hint.as_deref().unwrap_or("value");
                let place = Place { path, name };
                for value in filler.values(&place, &argument.input, argument.is_repeated) {
                    if value.becomes_option() {
                        let fault = "what begins with `-` would be an option";
                        let remedy = "write `./` in front, if it is a file";
                        filler.error(&*place.path, fault, remedy);
                    }
                    line.push(value.text);
                }
            }
            kind => {
                let fault = format!("{} is no kind of argument", quoted(kind));
                filler.error(format!("{path}.type"), fault, "choose another");
            }
        }
    }
    line
}

fn option(filler: &mut Filler<'_>, argument: &Argument, path: String, line: &mut Vec<String>) {
    let name = argument.name.as_deref().unwrap_or_default();
    let outside = |c: char| c.is_whitespace() || c.is_control() || "<>$".contains(c);
    if name.is_empty() || name.contains(outside) {
        let fault = format!("{} is no name of an option", quoted(name));
        filler.error(format!("{path}.name"), fault, "choose another");
        return;
    }
    if is_flag(&argument.input) {
        line.push(name.to_owned());
        return;
    }
    let place = Place { path, name };
    for value in filler.values(&place, &argument.input, argument.is_repeated) {
        if value.text.starts_with('-') && name.starts_with("--") {
            line.push(format!("{name}={}", value.text));
            continue;
        }
        if value.becomes_option() {
            let fault = "what begins with `-` would be an option of its own";
            filler.error(&*place.path, fault, "give another value");
        }
        line.push(name.to_owned());
        line.push(value.text);
    }
}

/// Whether a named argument has no value: the file says nothing about one.
fn is_flag(input: &Input) -> bool {
    input.value.is_none()
        && input.default.is_none()
        && input.format.is_none()
        && input.placeholder.is_none()
        && input.choices.is_empty()
        && input.variables.is_empty()
        && !input.is_required
        && !input.is_secret
}

fn environment(filler: &mut Filler<'_>, package: &Package, path: &str) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for (at, variable) in package.environment_variables.iter().enumerate() {
        let path = format!("{path}.environmentVariables[{at}]");
        if !is_variable(&variable.name) {
            let fault = format!("{} is no name of a variable", quoted(&variable.name));
            filler.error(format!("{path}.name"), fault, "choose another");
            continue;
        }
        let name = &*variable.name;
        let place = Place { path, name };
        for value in filler.values(&place, &variable.input, false) {
            env.insert(name.to_owned(), value.text);
        }
    }
    env
}

/// How a remote is reached. `None`: the filler knows why not.
pub(super) fn remote(filler: &mut Filler<'_>, remote: &EntryTransport, path: &str) -> Option<Way> {
    let kind = match &*remote.kind {
        STREAMABLE => "http",
        SSE => "sse",
        kind => {
            let fault = format!("{} is nothing that a remote speaks", quoted(kind));
            filler.error(format!("{path}.type"), fault, "choose another");
            "http"
        }
    };
    let url = url(filler, remote, path);
    let mut headers = BTreeMap::new();
    for (at, header) in remote.headers.iter().enumerate() {
        let path = format!("{path}.headers[{at}]");
        if !is_header(&header.name) {
            let fault = format!("{} is no name of a header", quoted(&header.name));
            filler.error(format!("{path}.name"), fault, "choose another");
            continue;
        }
        let name = &*header.name;
        let place = Place { path, name };
        for value in filler.values(&place, &header.input, false) {
            if value.text.contains(char::is_control) {
                let fault = "a header has one line";
                filler.error(&*place.path, fault, "leave out what ends the line");
            }
            headers.insert(name.to_owned(), value.text);
        }
    }
    let url = url?;
    Some(Way::Url { kind, url, headers })
}

fn url(filler: &mut Filler<'_>, remote: &EntryTransport, path: &str) -> Option<String> {
    let at = format!("{path}.url");
    let written = remote.url.as_deref().unwrap_or_default();
    let variables = format!("{path}.variables");
    let begins = written
        .strip_prefix('{')
        .and_then(|it| it.split('}').next());
    let filled = filler.template(written, &mut |filler: &mut Filler<'_>, name| {
        let variable = remote.variables.get(name)?;
        let place = Place {
            path: super::walk::below(&variables, name),
            name,
        };
        let value = filler.values(&place, variable, false).pop();
        let value = value.or_else(|| {
            if !variable.is_required {
                let fault = "the URL is none without it, and nobody says what it is";
                filler.error(&*place.path, fault, format!("give `{name}=…`"));
            }
            None
        });
        if let Some(value) = &value
            && begins != Some(name)
            && !stays_in_place(value)
        {
            // A host is not to be another because of what somebody calls a tenant.
            let fault = "there is more in it than letters, digits, `-`, `.`, `_` and `~`";
            filler.error(&*place.path, fault, "give it without");
        }
        Some(value)
    })?;
    filler.check_written(&at, &filled);
    let url = filled.text;
    let rest = url.strip_prefix("https://");
    let plain = url.strip_prefix("http://");
    let host = |rest: &str| rest.split(['/', '?', '#']).next().map(str::to_owned);
    let authority = rest.or(plain).and_then(host).unwrap_or_default();
    let spaced = url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
    // It may begin with a variable of the host, which stands for all of it.
    let variable = begins.is_some() && url.starts_with("${");
    let (fault, remedy) = if variable {
        return Some(url);
    } else if authority.is_empty() || authority.contains('@') || spaced {
        ("it is no URL, or has a user in it", "choose another")
    } else if rest.is_none() && !is_loopback(&authority) {
        (
            "what is sent there can be read on the way",
            "choose one with `https://`",
        )
    } else {
        return Some(url);
    };
    filler.error(at, fault, remedy);
    None
}

/// Whether it is a part of a host or of a path, and no more.
fn stays_in_place(value: &Filled) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    let variable = value.text.starts_with("${") && value.text.ends_with('}');
    let dots = matches!(&*value.text, "." | "..");
    variable || (!dots && value.text.chars().all(plain))
}

fn is_loopback(authority: &str) -> bool {
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = |it: std::net::IpAddr| it.is_loopback();
    host == "localhost" || address.parse().is_ok_and(loopback)
}

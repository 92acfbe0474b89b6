//! One field of a form: what it is called, and which texts are values of it.

use core::fmt::Write as _;

use mcp_core::json::{Json, RawJson};
use mcp_std::model::{
    EnumSchema, NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
};

use crate::show::word;

/// A field, without its name.
pub(super) struct Field<'s> {
    title: Option<&'s str>,
    description: Option<&'s str>,
    kind: String,
    /// What is taken when nothing is typed (ELI-09).
    default: Option<Json<'static>>,
    required: bool,
    /// The values to choose from, in lines.
    options: Vec<String>,
}

impl<'s> Field<'s> {
    pub(super) fn new(schema: &'s PrimitiveSchema<'_>, required: bool) -> Self {
        let (title, description) = match schema {
            PrimitiveSchema::String(it) => (&it.title, &it.description),
            PrimitiveSchema::Number(it) => (&it.title, &it.description),
            PrimitiveSchema::Boolean(it) => (&it.title, &it.description),
            PrimitiveSchema::Enum(it) => (&it.title, &it.description),
            PrimitiveSchema::Unknown(_) | _ => (&None, &None),
        };
        let mut field = Self {
            title: title.as_deref(),
            description: description.as_deref(),
            kind: String::new(),
            default: None,
            required,
            options: Vec::new(),
        };
        match schema {
            PrimitiveSchema::String(it) => {
                field.kind = string_kind(it);
                field.default = it.default.as_deref().map(Json::string);
            }
            PrimitiveSchema::Number(it) => {
                field.kind = number_kind(it);
                field.default = it
                    .default
                    .map(|number| Json::written(|json| json.float(number)));
            }
            PrimitiveSchema::Boolean(it) => {
                "yes or no".clone_into(&mut field.kind);
                field.default = it
                    .default
                    .map(|yes| Json::written(|json| json.boolean(yes)));
            }
            PrimitiveSchema::Enum(it) => {
                field.kind = enum_kind(it);
                let default = it.default.as_ref();
                field.default = default.and_then(|values| {
                    let values: Vec<_> = values.iter().map(|value| &**value).collect();
                    chosen(it, &values)
                });
                field.options = options(it);
            }
            PrimitiveSchema::Unknown(it) => field.kind = format!("JSON for {}", it.as_str()),
            _ => "JSON".clone_into(&mut field.kind),
        }
        field
    }

    /// What it is, in lines.
    pub(super) fn heading(&self, name: &str) -> String {
        let mut text = match self.title.filter(|&title| title != name) {
            Some(title) => format!("{} ({})", word(title), word(name)),
            None => word(name),
        };
        let required = if self.required { ", required" } else { "" };
        let _ = writeln!(text, ": {}{required}", word(&self.kind));
        if let Some(description) = self.description {
            let _ = writeln!(text, "  {}", word(description));
        }
        for option in &self.options {
            let _ = writeln!(text, "  {}", word(option));
        }
        text
    }

    /// What comes of typing nothing, if that is allowed.
    pub(super) fn hint(&self) -> String {
        match &self.default {
            Some(default) => format!("[{}] ", word(default.as_str())),
            None => String::new(),
        }
    }

    /// The value that was typed; `None`: there is none, and need not be.
    pub(super) fn read(
        &self,
        schema: &PrimitiveSchema<'_>,
        typed: &str,
    ) -> Result<Option<Json<'static>>, String> {
        if typed.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, false) => Ok(None),
                (None, true) => Err("it is required".to_owned()),
            };
        }
        match schema {
            PrimitiveSchema::String(it) => string(it, typed),
            PrimitiveSchema::Number(it) => number(it, typed),
            PrimitiveSchema::Boolean(_) => boolean(typed),
            PrimitiveSchema::Enum(it) => choice(it, typed),
            PrimitiveSchema::Unknown(_) | _ => {
                Json::owned(typed.to_owned()).map_err(|error| format!("it is not JSON: {error}"))
            }
        }
        .map(Some)
    }
}

fn string_kind(schema: &StringSchema<'_>) -> String {
    let mut kind = match &schema.format {
        Some(StringFormat::Email) => "an address for mail, such as name@example.com".to_owned(),
        Some(StringFormat::Uri) => "a URI, such as https://example.com/".to_owned(),
        Some(StringFormat::Date) => "a date, such as 2026-07-28".to_owned(),
        Some(StringFormat::DateTime) => "a time, such as 2026-07-28T12:00:00Z".to_owned(),
        Some(other) => format!("text, {}", other.as_str()),
        None => "text".to_owned(),
    };
    kind.push_str(&bounds(schema.min_length, schema.max_length, "characters"));
    kind
}

fn number_kind(schema: &NumberSchema<'_>) -> String {
    let kind = match schema.kind {
        NumberKind::Integer => "a whole number",
        NumberKind::Number | _ => "a number",
    };
    let limit = |it: f64| it.to_string();
    format!(
        "{kind}{}",
        bounds(schema.minimum.map(limit), schema.maximum.map(limit), "")
    )
}

fn enum_kind(schema: &EnumSchema<'_>) -> String {
    match schema.several {
        None => "one of these, by number or value".to_owned(),
        Some(several) => format!(
            "any of these, by numbers or values with commas between them{}",
            bounds(several.min_items, several.max_items, "of them")
        ),
    }
}

fn bounds(least: Option<impl ToString>, most: Option<impl ToString>, of: &str) -> String {
    let text = match (least, most) {
        (Some(least), Some(most)) => {
            format!(", from {} to {} {of}", least.to_string(), most.to_string())
        }
        (Some(least), None) => format!(", at least {} {of}", least.to_string()),
        (None, Some(most)) => format!(", at most {} {of}", most.to_string()),
        (None, None) => String::new(),
    };
    text.trim_end().to_owned()
}

fn options(schema: &EnumSchema<'_>) -> Vec<String> {
    let line = |(at, option): (usize, &mcp_std::model::EnumOption<'_>)| match &option.title {
        Some(title) => format!("{}  {title} ({})", at + 1, option.value),
        None => format!("{}  {}", at + 1, option.value),
    };
    schema.options.iter().enumerate().map(line).collect()
}

fn string(schema: &StringSchema<'_>, typed: &str) -> Result<Json<'static>, String> {
    let length = typed.chars().count() as u64;
    if schema.min_length.is_some_and(|least| length < least)
        || schema.max_length.is_some_and(|most| length > most)
    {
        let wanted = bounds(schema.min_length, schema.max_length, "characters");
        return Err(format!("it has {length} characters{wanted} are needed"));
    }
    let fits = match &schema.format {
        Some(StringFormat::Email) => is_mail(typed),
        Some(StringFormat::Uri) => is_uri(typed),
        Some(StringFormat::Date) => is_date(typed),
        Some(StringFormat::DateTime) => is_time(typed),
        Some(_) | None => true,
    };
    if fits {
        Ok(Json::string(typed))
    } else {
        Err(format!("it is not {}", string_kind(schema)))
    }
}

/// As far as it can be told without asking: whether there is such an address only mail can show.
fn is_mail(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace)
    })
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let allowed = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
    begins
        && scheme.chars().all(allowed)
        && !rest.is_empty()
        && rest.chars().all(|char| char.is_ascii_graphic())
}

/// RFC 3339, "full-date".
fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let [year, month, day] = parts[..] else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// RFC 3339, "date-time".
fn is_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(at) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (clock, zone) = time.split_at(at);
    let (clock, part) = clock.split_once('.').unwrap_or((clock, "0"));
    let in_day = |text: &str, seconds: bool| {
        let parts: Vec<_> = text.split(':').map(|part| digits(part, 2)).collect();
        match parts[..] {
            [Some(hour), Some(minute)] if !seconds => hour < 24 && minute < 60,
            // A leap second is one.
            [Some(hour), Some(minute), Some(second)] if seconds => {
                hour < 24 && minute < 60 && second <= 60
            }
            _ => false,
        }
    };
    let zoned = zone.eq_ignore_ascii_case("z") || in_day(&zone[1..], false);
    let part = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && in_day(clock, true) && part && zoned
}

fn digits(text: &str, length: usize) -> Option<u32> {
    let all = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// The number is sent as it was typed.
fn number(schema: &NumberSchema<'_>, typed: &str) -> Result<Json<'static>, String> {
    let wrong = || format!("it is not {}", number_kind(schema));
    let value = RawJson::parse(typed.as_bytes())
        .ok()
        .and_then(RawJson::as_number);
    let value = value.and_then(|number| number.as_f64()).ok_or_else(wrong)?;
    let whole = schema.kind != NumberKind::Integer || value.fract() == 0.0;
    let fits = value.is_finite()
        && whole
        && schema.minimum.is_none_or(|least| value >= least)
        && schema.maximum.is_none_or(|most| value <= most);
    if !fits {
        return Err(wrong());
    }
    Json::owned(typed.to_owned()).map_err(|_| wrong())
}

fn boolean(typed: &str) -> Result<Json<'static>, String> {
    match &*typed.to_lowercase() {
        "y" | "yes" | "true" => Ok(Json::written(|json| json.boolean(true))),
        "n" | "no" | "false" => Ok(Json::written(|json| json.boolean(false))),
        _ => Err("it is `yes` or `no`".to_owned()),
    }
}

fn choice(schema: &EnumSchema<'_>, typed: &str) -> Result<Json<'static>, String> {
    let one = |typed: &str| {
        // A value goes before the number that it may look like.
        let value = schema.options.iter().find(|option| option.value == typed);
        let at = || typed.parse::<usize>().ok()?.checked_sub(1);
        value
            .or_else(|| schema.options.get(at()?))
            .map(|option| &*option.value)
            .ok_or_else(|| format!("`{typed}` is not among them"))
    };
    let Some(several) = schema.several else {
        return one(typed).map(Json::string);
    };
    let mut values = Vec::new();
    for typed in typed.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let value = one(typed)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let count = values.len() as u64;
    if several.min_items.is_some_and(|least| count < least)
        || several.max_items.is_some_and(|most| count > most)
    {
        return Err(format!("it is {}", enum_kind(schema)));
    }
    chosen(schema, &values).ok_or_else(|| "choose at least one".to_owned())
}

/// The answer that says these values. `None`: it takes one, and there is none.
fn chosen(schema: &EnumSchema<'_>, values: &[&str]) -> Option<Json<'static>> {
    if schema.several.is_none() {
        return values.first().map(|value| Json::string(value));
    }
    Some(Json::written(|json| {
        json.begin_array();
        values.iter().for_each(|value| json.string(value));
        json.end_array();
    }))
}

#[cfg(test)]
mod tests;

//! Fields of a JSON document, each of which knows its path.

use core::time::Duration;

use mcp_core::json::{Kind, RawJson};
use serde_json::Value;

use super::error::ConfigError;
use super::text::Text;
use super::variables::Variables;

/// A value and where it is.
#[derive(Clone)]
pub(super) struct Field<'j> {
    pub(super) value: RawJson<'j>,
    pub(super) path: String,
}

impl<'j> Field<'j> {
    pub(super) fn fault(&self, fault: impl Into<String>) -> ConfigError {
        ConfigError::new(self.path.clone(), fault)
    }

    fn wrong(&self, expected: &str) -> ConfigError {
        let found = match self.value.kind() {
            Kind::Object => "an object",
            Kind::Array => "an array",
            Kind::String => "a string",
            Kind::Number => "a number",
            Kind::Bool => "a boolean",
            Kind::Null => "null",
        };
        self.fault(format!("{expected} is expected, and {found} is there"))
    }

    /// The members, none of which may be there twice.
    pub(super) fn members(&self) -> Result<Vec<(String, Self)>, ConfigError> {
        let members = self.value.as_object();
        let members = members.ok_or_else(|| self.wrong("an object"))?;
        let mut read: Vec<(String, Self)> = Vec::new();
        for (name, value) in members {
            let name = name.decode().into_owned();
            let path = self.below(&name);
            let member = Self { value, path };
            if read.iter().any(|(known, _)| *known == name) {
                return Err(member.fault("it is there twice"));
            }
            read.push((name, member));
        }
        Ok(read)
    }

    fn below(&self, name: &str) -> String {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let path = &self.path;
        if name.is_empty() || !name.chars().all(plain) {
            return format!("{path}[{name:?}]");
        }
        if path.is_empty() {
            return name.to_owned();
        }
        format!("{path}.{name}")
    }

    pub(super) fn elements(&self) -> Result<Vec<Self>, ConfigError> {
        let elements = self.value.as_array();
        let elements = elements.ok_or_else(|| self.wrong("an array"))?;
        let numbered = elements.enumerate().map(|(at, value)| Self {
            value,
            path: format!("{}[{at}]", self.path),
        });
        Ok(numbered.collect())
    }

    pub(super) fn string(&self) -> Result<String, ConfigError> {
        let text = self
            .value
            .as_string()
            .ok_or_else(|| self.wrong("a string"))?;
        Ok(text.decode().into_owned())
    }

    pub(super) fn strings(&self) -> Result<Vec<String>, ConfigError> {
        self.elements()?.iter().map(Self::string).collect()
    }

    pub(super) fn boolean(&self) -> Result<bool, ConfigError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.wrong("`true` or `false`"))
    }

    /// A number above zero.
    pub(super) fn positive(&self) -> Result<f64, ConfigError> {
        let number = self.value.as_number().and_then(|number| number.as_f64());
        number
            .filter(|number| number.is_finite() && *number > 0.0)
            .ok_or_else(|| self.wrong("a number above zero"))
    }

    pub(super) fn count(&self) -> Result<u32, ConfigError> {
        let number = self.value.as_number().and_then(|number| number.as_u64());
        number
            .and_then(|number| u32::try_from(number).ok())
            .filter(|&number| number > 0)
            .ok_or_else(|| self.wrong("a whole number above zero"))
    }

    pub(super) fn seconds(&self) -> Result<Duration, ConfigError> {
        let seconds = self.positive()?;
        Duration::try_from_secs_f64(seconds).map_err(|_| self.fault("it is too long a time"))
    }

    /// Seconds or milliseconds: nobody waits for less than a second, nor for a quarter of an hour that is written in seconds.
    pub(super) fn time(&self) -> Result<Duration, ConfigError> {
        let number = self.positive()?;
        let seconds = if number < 1000.0 {
            number
        } else {
            number / 1000.0
        };
        Duration::try_from_secs_f64(seconds).map_err(|_| self.fault("it is too long a time"))
    }

    /// An object, as it is.
    pub(super) fn object(&self) -> Result<serde_json::Map<String, Value>, ConfigError> {
        let value: Value = serde_json::from_str(self.value.as_str())
            .map_err(|error| self.fault(error.to_string()))?;
        match value {
            Value::Object(object) => Ok(object),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Err(self.wrong("an object")),
        }
    }

    /// A string with its variables substituted.
    pub(super) fn text(&self, variables: &Variables) -> Result<Text, TextFault> {
        let written = self.string().map_err(TextFault::Wrong)?;
        self.substituted(&written, variables)
    }

    /// A value for the environment: numbers and booleans are what they are written as.
    pub(super) fn scalar(&self, variables: &Variables) -> Result<Text, TextFault> {
        match self.value.kind() {
            Kind::Number | Kind::Bool => Ok(Text::plain(self.value.as_str())),
            Kind::String | Kind::Null | Kind::Array | Kind::Object => self.text(variables),
        }
    }

    fn substituted(&self, written: &str, variables: &Variables) -> Result<Text, TextFault> {
        let text = variables.substitute(written);
        text.map_err(|fault| TextFault::Unset(self.fault(fault)))
    }
}

/// Why there is no text.
pub(super) enum TextFault {
    /// The file is wrong.
    Wrong(ConfigError),
    /// The file is right, and a variable is not there.
    Unset(ConfigError),
}

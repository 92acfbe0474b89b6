//! `mcp read`: reads a resource.

use std::process::ExitCode;

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine as _};
use mcp_std::model::request::ReadResource;
use mcp_std::model::{ReadResourceRequestParams, ReadResourceResult, ResourceContents};

use crate::connect::{Connected, Target, is_read_by_a_person, output};
use crate::failure::Failure;
use crate::show;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp read test://static-text -- mcp serve --everything
  mcp read test://static-binary -- mcp serve --everything > pixel.png")]
pub(crate) struct Read {
    /// The resource. Its bytes, if it has no text, are written as they are unless standard output is a terminal
    uri: String,
    #[command(flatten)]
    target: Target,
}

impl Read {
    pub(crate) fn run(&self) -> ExitCode {
        self.target.run("read", |server| self.read(server))
    }

    async fn read(&self, server: Connected<'_>) -> Result<(), Failure> {
        let params = ReadResourceRequestParams::new(&*self.uri);
        let response = server
            .client
            .request::<ReadResource>(&params, server.options())
            .await
            .map_err(|error| Failure::call(&error, "`mcp list` shows the resources"))?;
        let result = response.decode().map_err(Failure::undecoded)?;
        if self.target.json {
            return output(format!("{}\n", response.raw().as_str()).as_bytes());
        }
        output(&contents(&result)?)
    }
}

fn contents(result: &ReadResourceResult<'_>) -> Result<Vec<u8>, Failure> {
    if let [ResourceContents::Blob(blob)] = &*result.contents
        && !is_read_by_a_person()
    {
        return decode(&blob.blob).map_err(|error| {
            Failure::Server(format!(
                "the contents are no base64: {error}; `--json` shows them"
            ))
        });
    }
    let mut text = String::new();
    for contents in &result.contents {
        show::contents(contents, &mut text);
    }
    Ok(text.into_bytes())
}

/// The bytes of a blob. Without padding, and with white space between, it is one all the same (DX-02).
fn decode(blob: &str) -> Result<Vec<u8>, DecodeError> {
    const ANY_PADDING: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let dense: Vec<u8> = blob
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    GeneralPurpose::new(&STANDARD, ANY_PADDING).decode(dense)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn dx_02_base64_is_read_in_the_forms_that_do_no_harm() {
        let bytes: Vec<u8> = (0..=255).chain(0..=255).collect();
        let plain = "//79AAE=";
        for (blob, expected) in [
            (plain, &[255, 254, 253, 0, 1][..]),
            ("//79AAE", &[255, 254, 253, 0, 1]),
            (" //79\r\nAAE=\n", &[255, 254, 253, 0, 1]),
            ("", &[]),
        ] {
            assert_eq!(decode(blob).expect(blob), expected);
        }
        let whole = {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.encode(&bytes)
        };
        let lines: Vec<&str> = (0..whole.len())
            .step_by(76)
            .map(|at| &whole[at..whole.len().min(at + 76)])
            .collect();
        assert_eq!(decode(&lines.join("\r\n")).expect("lines"), bytes);
        // Another alphabet, another form, and nothing of the kind.
        for blob in [
            "__79AAE=",
            "data:image/png;base64,AAE=",
            "%%%",
            "A",
            "AAE=AAE=",
        ] {
            decode(blob).expect_err(blob);
        }
    }
}

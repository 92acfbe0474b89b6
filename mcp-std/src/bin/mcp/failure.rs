//! Why a command ends without what it was to bring, and what that is to whoever started it.

use core::fmt::Write as _;
use std::process::ExitCode;

use mcp_std::client::{
    CallError, Closed, ClosedReason, ConnectError, ErrorAnswer, HandshakeError, HttpFault, Step,
    Timeout, Unsupported,
};
use mcp_std::model::DecodeError;
use mcp_std::{ErrorCode, Json};

use crate::screen;
use crate::text::{cut, is_url, printable, printable_lines};

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The tool failed; what it says about that is printed already.
    Tool,
    /// The command line asks for what is none.
    Usage(String),
    /// The server, or the connection to it.
    Server(String),
    /// The server answered with an error.
    Refused {
        text: String,
        answer: Box<ErrorAnswer>,
    },
    /// Nothing came because whoever started this has enough.
    Interrupted(Signal),
    /// Whoever read standard output has enough, as `head` has.
    Unread,
}

/// What helps where the server wants to know who asks.
const LOGIN: &str = "\n`mcp login URL` logs in, and asks for more with `--scope`";

/// What helps where nobody can log in before the authorization server knows this program.
const REGISTERED: &str =
    "\nRegister this program there by hand, and name it with `mcp login URL --client-id ID`";

/// What helps with a fault of authorization, if `login` is not what has just failed.
fn remedy(fault: &HttpFault, login: &'static str) -> &'static str {
    match fault.to_string().contains("does not register this program") {
        true => REGISTERED,
        false => login,
    }
}

/// What ended it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
}

impl Failure {
    /// Says why on standard error, and returns the code that says it to programs.
    pub(crate) fn report(self, command: &str) -> ExitCode {
        screen::clear_bar();
        let (code, text) = match self {
            Self::Unread => return ExitCode::SUCCESS,
            Self::Tool => return ExitCode::from(1),
            Self::Usage(text) => (2, text),
            Self::Server(text) | Self::Refused { text, .. } => (3, text),
            // As shells have it: 128 and the number of the signal.
            Self::Interrupted(Signal::Interrupt) => (130, "interrupted".to_owned()),
            Self::Interrupted(Signal::Terminate) => (143, "terminated".to_owned()),
        };
        // What a server says may be of any length.
        let text = printable_lines(&cut(text.trim_end(), 8000));
        screen::print(&format!("mcp {command}: {text}\n"));
        ExitCode::from(code)
    }

    /// What programs read of it: `{"error":{"code":…,"message":…,"data":…}}`, if the server answered so.
    pub(crate) fn json(&self) -> Option<String> {
        let Self::Refused { answer, .. } = self else {
            return None;
        };
        let json = Json::written(|json| {
            json.begin_object();
            json.key("error");
            json.begin_object();
            json.key("code");
            json.integer(answer.code.value());
            json.key("message");
            json.string(&answer.message);
            if let Some(data) = &answer.data {
                json.key("data");
                json.raw(data.raw());
            }
            json.end_object();
            json.end_object();
        });
        Some(format!("{json}\n"))
    }

    /// A call did not bring what it was to bring. `hint` is what may help if the server does not know the name, or the
    /// arguments are not as it wants them.
    pub(crate) fn call(error: &CallError, hint: &str) -> Self {
        let text = match error {
            CallError::Protocol(answer) => {
                let mut text = error.to_string();
                if let Some(data) = &answer.data {
                    let _ = write!(text, "\n  data: {}", cut(data.as_str(), 1000));
                }
                let needs = |data: &Json<'_>| data.as_str().contains("\"requiredCapabilities\"");
                if answer.data.as_ref().is_some_and(needs) {
                    text.push_str("\nThis program cannot do that for a server");
                } else if answer.code == ErrorCode::INVALID_PARAMS || answer.is_not_found() {
                    let _ = write!(text, "\n{hint}");
                }
                let answer = Box::new(answer.clone());
                return Self::Refused { text, answer };
            }
            CallError::UrlElicitationRequired { answer, .. } => {
                let answer = Box::new(answer.clone());
                let text = error.to_string();
                return Self::Refused { text, answer };
            }
            CallError::Timeout(Timeout::Request(time)) => format!(
                "no answer and no progress within {time:?}; the server was told to stop. `--timeout SECONDS` allows more"
            ),
            CallError::Timeout(Timeout::Total(time)) => format!(
                "progress, but no answer within {time:?}; the server was told to stop. `--max-time SECONDS` allows more"
            ),
            CallError::Closed(closed) => self::closed(closed),
            CallError::Arguments(fault) => return Self::Usage(fault.clone()),
            CallError::Unsupported(Unsupported::Revision(_) | Unsupported::Capability(_)) => {
                format!("{error}. `mcp list` shows what it offers")
            }
            CallError::Declined { what, reason, .. } => {
                format!("the server needs `{what}` to go on, and got none: {reason}")
            }
            CallError::TooManyRounds { limit, .. } => {
                format!("the server asked for input {limit} times without an end")
            }
            CallError::Http {
                fault: fault @ HttpFault::Unauthorized { .. },
                ..
            } => format!("{error}{}", remedy(fault, LOGIN)),
            CallError::Tool(_)
            | CallError::Timeout(_)
            | CallError::Cancelled
            | CallError::Decode { .. }
            | CallError::Answer { .. }
            | CallError::Unsupported(_)
            | CallError::Paging(_)
            | CallError::Schema(_)
            | _ => error.to_string(),
        };
        Self::Server(text)
    }

    /// The same with the last lines of the server's standard error.
    pub(crate) fn with_last_words(self, lines: &[String]) -> Self {
        let mut failure = self;
        let (Self::Server(text) | Self::Refused { text, .. }) = &mut failure else {
            return failure;
        };
        if !lines.is_empty() {
            text.truncate(text.trim_end().len());
            text.push_str("\nThe end of the server's standard error:");
            for line in lines {
                let _ = write!(text, "\n  {}", cut(&printable(line), 500));
            }
        }
        failure
    }

    /// No connection came about, with a program that repeats what it is told.
    pub(crate) fn echo(program: &str) -> Self {
        Self::Server(format!(
            "{program} is no MCP server: it says back what it is told"
        ))
    }

    /// The answer is there, and not what it is to be.
    pub(crate) fn undecoded(error: DecodeError) -> Self {
        Self::Server(format!(
            "the answer is not as the protocol has it: {error}. `--trace` shows it"
        ))
    }

    /// There is no login.
    pub(crate) fn login(error: &ConnectError, url: &str) -> Self {
        if let ConnectError::Http(fault @ HttpFault::Unauthorized { .. }) = error {
            return Self::Server(format!("{error}{}", remedy(fault, "")));
        }
        Self::connect(error, url, false, None)
    }

    /// No connection came about. `program` is what was started; `chosen` whether the command line says what to speak;
    /// `chatter` the first line of its output that is no message.
    pub(crate) fn connect(
        error: &ConnectError,
        program: &str,
        chosen: bool,
        chatter: Option<&str>,
    ) -> Self {
        let mut text = match error {
            ConnectError::Spawn(error) if is_url(program) => {
                format!("{error}\nA server at a URL is named with `--url`: --url {program}")
            }
            ConnectError::Spawn(error) => {
                format!(
                    "{error}\nWhat follows `--` has to start an MCP server on standard input and output."
                )
            }
            // No process, and no output that could be closed.
            ConnectError::Closed(_) if is_url(program) => error.to_string(),
            ConnectError::Closed(closed) => format!(
                "{program} is no MCP server, or could not start: {}",
                self::closed(closed)
            ),
            ConnectError::Handshake(error) => match error {
                HandshakeError::TimedOut { .. } => {
                    format!("{error}. It is no MCP server, or needs more time: `--timeout SECONDS`")
                }
                HandshakeError::NoCommonVersion { .. } if chosen => {
                    format!("{error}. Leave out `--revision` and `--era`")
                }
                HandshakeError::Refused { .. }
                | HandshakeError::NoCommonVersion { .. }
                | HandshakeError::Malformed { .. }
                | HandshakeError::Closed { .. }
                | _ => error.to_string(),
            },
            ConnectError::Http(fault @ HttpFault::Unauthorized { .. }) => {
                format!("{error}{}", remedy(fault, LOGIN))
            }
            // Of the command line: nothing was sent.
            ConnectError::Config(_) => return Self::Usage(error.to_string()),
            ConnectError::Http(_) | _ => error.to_string(),
        };
        if let Some(line) = chatter {
            let line = cut(&printable(line), 200);
            let _ = write!(text, "\nIt printed what is no message: {line}");
        }
        Self::Server(text)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::call(&error, "")
    }
}

/// How the connection ended.
fn closed(closed: &Closed) -> String {
    let exit = closed.exit();
    let mut text = match closed.reason() {
        ClosedReason::Server if exit.is_some_and(|exit| exit.step == Step::Itself) => {
            "its process ended".to_owned()
        }
        ClosedReason::Server => "it closed its output".to_owned(),
        ClosedReason::Transport(error) => format!("the connection failed: {error}"),
        ClosedReason::Us | ClosedReason::Silent(_) | ClosedReason::Connect(_) | _ => {
            "the connection was closed".to_owned()
        }
    };
    // What became of a process that was sent a signal says nothing of why the connection ended.
    if let Some(exit) = exit.filter(|exit| exit.step <= Step::Closed) {
        let _ = write!(text, " ({exit})");
    }
    text
}

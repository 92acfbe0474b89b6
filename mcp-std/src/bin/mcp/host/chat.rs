//! `mcp host chat`: a model with the tools of all servers.

use core::future::{Future, pending};
use core::pin::pin;
use std::io::{self, Read as _};
use std::sync::Arc;

use async_signal::Signals;
use clap::ValueEnum;
use futures_lite::future::or;
use mcp_std::client::Canceller;
use mcp_std::host::adapters::{Turn, Usage};
use mcp_std::host::model::{ApiKey, HttpModel};
use mcp_std::host::{Agent, AskAbout, Finish, Host, HostBuilder, Outcome, Session};
use serde_json::json;

use self::view::View;
use super::signal;
use crate::connect::{output, signals};
use crate::failure::{Failure, Signal};
use crate::{ask, screen};

mod view;

#[derive(clap::Args)]
pub(super) struct Chat {
    /// What to ask; without it the standard input is, or at a terminal line by line
    prompt: Option<String>,
    /// Whose interface the model has
    #[arg(long, value_enum, default_value = "openai")]
    provider: ProviderChoice,
    /// The model, by its provider's name
    #[arg(long, value_name = "NAME")]
    model: String,
    /// Where the interface is [default: OPENAI_BASE_URL and the like in the environment, or the provider's own]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The variable of the environment that holds the key [default: OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY; with
    /// `--base-url` none]
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// The header that holds the key, where it is not the provider's: `api-key` for Azure
    #[arg(long, value_name = "NAME")]
    key_header: Option<String>,
    /// How the model is to behave
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// The most tokens of one answer
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,
    /// How often the model is asked at most before it has to have its answer
    #[arg(long, value_name = "ROUNDS", default_value = "16")]
    max_rounds: u16,
    /// Calls the tools of this name without asking; `*` stands for anything; may be given several times
    #[arg(long, value_name = "PATTERN")]
    approve: Vec<String>,
    /// Asks for answers as a whole, for what cannot give them in pieces
    #[arg(long)]
    no_stream: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProviderChoice {
    /// OpenAI's Chat Completions, and what offers the same
    Openai,
    /// OpenAI's Responses
    Responses,
    /// Anthropic's Messages
    Anthropic,
    /// Gemini's generateContent
    Gemini,
}

/// How a turn went that was not an error.
enum Ended {
    Done(Outcome),
    /// The user wants to end more than the turn.
    By(Signal),
}

impl Chat {
    /// Whether a person is asked, line by line.
    pub(super) fn is_interactive(&self) -> bool {
        self.prompt.is_none() && ask::is_possible()
    }

    pub(super) fn approving(&self, builder: HostBuilder) -> HostBuilder {
        builder.approval(
            AskAbout::All,
            ask::approver(&self.approve, self.is_interactive()),
        )
    }

    fn model(&self) -> Result<HttpModel, Failure> {
        let name = self.model.clone();
        let mut builder = match self.provider {
            ProviderChoice::Openai => HttpModel::openai(name),
            ProviderChoice::Responses => HttpModel::openai_responses(name),
            ProviderChoice::Anthropic => HttpModel::anthropic(name),
            ProviderChoice::Gemini => HttpModel::gemini(name),
        };
        if let Some(url) = &self.base_url {
            builder = builder.base_url(url);
        }
        if let Some(variable) = &self.key_env {
            let key = ApiKey::from_env(variable).ok_or_else(|| {
                Failure::Usage(format!("{variable} is not in the environment, or empty"))
            })?;
            builder = builder.api_key(key);
        }
        if let Some(header) = &self.key_header {
            builder = builder.key_header(header);
        }
        let model = builder.stream(!self.no_stream).build();
        model.map_err(|error| Failure::Usage(error.to_string()))
    }

    pub(super) async fn run(&self, command: &super::Host, host: &Host) -> Result<(), Failure> {
        let model = self.model()?;
        let signals = signals().map_err(|error| Failure::Server(error.to_string()));
        let signals = &mut signals?;
        let stopped = async { Err(Failure::Interrupted(signal(signals).await)) };
        or(stopped, async {
            command.ready(host).await;
            Ok(())
        })
        .await?;
        let mut conversation = Conversation {
            chat: self,
            model: Arc::new(model),
            session: host.session(),
            turns: Vec::new(),
            as_json: command.json,
        };
        if self.is_interactive() {
            return conversation.talk(signals).await;
        }
        let prompt = match &self.prompt {
            Some(prompt) => prompt.clone(),
            None => {
                or(
                    async { Err(Failure::Interrupted(signal(signals).await)) },
                    input(),
                )
                .await?
            }
        };
        match conversation.turn(&prompt, signals).await? {
            Ended::By(signal) => Err(Failure::Interrupted(signal)),
            Ended::Done(outcome) => match outcome.finish {
                Finish::Answered => Ok(()),
                Finish::Cancelled => Err(Failure::Interrupted(Signal::Interrupt)),
                other
                @ (Finish::Length | Finish::Refused | Finish::Rounds | Finish::Budget | _) => {
                    screen::print(&format!("mcp host: {}\n", unfinished(other)));
                    Err(Failure::Tool)
                }
            },
        }
    }
}

/// All of standard input.
async fn input() -> Result<String, Failure> {
    let read = smol::unblock(|| {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    });
    let text = read
        .await
        .map_err(|error| Failure::Usage(format!("the prompt on standard input: {error}")))?;
    if text.trim().is_empty() {
        return Err(Failure::Usage(
            "there is no prompt: it is an argument, or standard input".to_owned(),
        ));
    }
    Ok(text)
}

/// Why there is no answer.
const fn unfinished(finish: Finish) -> &'static str {
    match finish {
        Finish::Length => "the answer was cut: it has the most tokens; `--max-tokens` allows more",
        Finish::Refused => "the model, or its provider, does not want to answer",
        Finish::Rounds => {
            "the model has no answer after the most rounds; `--max-rounds` allows more"
        }
        Finish::Answered | Finish::Budget | Finish::Cancelled | _ => {
            "the model was stopped before it had its answer"
        }
    }
}

struct Conversation<'c> {
    chat: &'c Chat,
    model: Arc<HttpModel>,
    session: Session,
    turns: Vec<Turn>,
    as_json: bool,
}

impl Conversation<'_> {
    /// Line by line, until the input ends. Ctrl-C ends a turn; where there is none, it says how to end the rest.
    async fn talk(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        screen::print("Ctrl-C stops the model, Ctrl-D ends.\n");
        loop {
            screen::print("> ");
            let line = ask::next_line();
            let typed = async { Ok(line.recv().await.ok().flatten()) };
            let stopped = async { Err(signal(signals).await) };
            let prompt = match or(typed, stopped).await {
                Ok(Some(line)) => line,
                Ok(None) => {
                    screen::print("\n");
                    return Ok(());
                }
                Err(Signal::Interrupt) => {
                    screen::print("\nCtrl-D ends.\n");
                    continue;
                }
                Err(other) => return Err(Failure::Interrupted(other)),
            };
            if prompt.trim().is_empty() {
                continue;
            }
            match self.turn(prompt.trim(), signals).await {
                Ok(Ended::By(signal)) => return Err(Failure::Interrupted(signal)),
                Ok(Ended::Done(outcome)) => match outcome.finish {
                    Finish::Answered => {}
                    Finish::Cancelled => screen::print("Stopped.\n"),
                    other @ (Finish::Length
                    | Finish::Refused
                    | Finish::Rounds
                    | Finish::Budget
                    | _) => screen::print(&format!("({})\n", unfinished(other))),
                },
                Err(Failure::Server(text)) => {
                    screen::print(&format!(
                        "mcp host: {}\n",
                        crate::text::printable_lines(&text)
                    ));
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// One prompt, until the model has answered it.
    async fn turn(&mut self, prompt: &str, signals: &mut Signals) -> Result<Ended, Failure> {
        let canceller = Canceller::new();
        let mut agent = Agent::new(self.model.clone(), self.session.clone())
            .max_rounds(self.chat.max_rounds.into())
            .canceller(&canceller);
        if let Some(system) = &self.chat.system {
            agent = agent.system(system);
        }
        if let Some(tokens) = self.chat.max_tokens {
            agent = agent.max_tokens(tokens);
        }
        let before = self.turns.len();
        self.turns.push(Turn::user(prompt));
        let mut view = View::new(self.as_json, canceller.clone());
        let (outcome, by) = {
            let mut show = |event: mcp_std::host::AgentEvent<'_>| view.show(&event);
            let run = agent.run(&mut self.turns, &mut show);
            until(run, signals, &canceller).await
        };
        view.end();
        if self.turns.len() == before + 1 {
            // Nothing was answered: it can be asked again.
            self.turns.truncate(before);
        }
        if let Some(failure) = view.failure() {
            return Err(failure);
        }
        if let Some(signal @ Signal::Terminate) = by {
            return Ok(Ended::By(signal));
        }
        let outcome = outcome.map_err(|error| Failure::Server(error.to_string()))?;
        if self.as_json {
            output(format!("{}\n", told(&outcome)).as_bytes())?;
        }
        Ok(Ended::Done(outcome))
    }
}

/// What comes of it, and the signal by which it was cancelled.
async fn until<O>(
    run: impl Future<Output = O>,
    signals: &mut Signals,
    canceller: &Canceller,
) -> (O, Option<Signal>) {
    let mut by = None;
    let stopped = async {
        by = Some(signal(signals).await);
        // Before the calls are dropped: who waits for an answer is not to take the next prompt for it.
        ask::abandon();
        canceller.cancel();
        pending().await
    };
    let done = or(pin!(run), stopped).await;
    (done, by)
}

fn told(outcome: &Outcome) -> serde_json::Value {
    let finish = match outcome.finish {
        Finish::Answered => "answered",
        Finish::Length => "length",
        Finish::Refused => "refused",
        Finish::Rounds => "rounds",
        Finish::Budget => "budget",
        Finish::Cancelled | _ => "cancelled",
    };
    let Usage { input, output, .. } = outcome.usage;
    json!({
        "text": outcome.text,
        "finish": finish,
        "rounds": outcome.rounds,
        "usage": {"input": input, "output": output},
    })
}

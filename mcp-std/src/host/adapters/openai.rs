//! OpenAI's Chat Completions (API reference, "Create chat completion"; streaming: "The chat completion chunk object").

use mcp_core::json::{Json, RawJson, Writer};

use super::content::{FAILED, Kind, Media, Part, as_text, of_result, parts};
use super::read::{arguments_again, count, elements, fault, member, place, stop, text};
use super::stream::room;
use super::toolset::write_tools;
use super::{CallResult, Delta, Options, Prompt, Reply, ReplyFault, Toolset, Turn, Usage};

type Out<'w> = Writer<'w, Vec<u8>>;

pub(super) fn request(model: &str, prompt: &Prompt<'_>, stream: bool) -> Json<'static> {
    Json::written(|json| {
        json.begin_object();
        json.key("model");
        json.string(model);
        json.key("messages");
        json.begin_array();
        if let Some(system) = prompt.system {
            message("system", system, json);
        }
        for turn in prompt.turns {
            write_turn(turn, prompt.tools.options(), json);
        }
        json.end_array();
        write_tools(prompt, stream, json);
        if let Some(tokens) = prompt.max_tokens {
            json.key("max_completion_tokens");
            json.unsigned(tokens);
        }
        if stream {
            json.key("stream_options");
            json.fragment(r#"{"include_usage":true}"#);
        }
        json.end_object();
    })
}

fn message(role: &str, content: &str, json: &mut Out<'_>) {
    json.begin_object();
    json.key("role");
    json.string(role);
    json.key("content");
    json.string(content);
    json.end_object();
}

fn write_turn(turn: &Turn, options: Options, json: &mut Out<'_>) {
    match turn {
        Turn::User(blocks) => {
            let parts = parts(blocks);
            if let [Part::Text(text)] = &parts[..] {
                message("user", text, json);
                return;
            }
            json.begin_object();
            json.key("role");
            json.string("user");
            json.key("content");
            json.begin_array();
            for part in &parts {
                write_part(part, options, json);
            }
            json.end_array();
            json.end_object();
        }
        Turn::Model(reply) => write_reply(reply, json),
        Turn::Results(all) => {
            for result in results(all, options) {
                json.raw(result.raw());
            }
        }
    }
}

fn write_reply(reply: &Reply, json: &mut Out<'_>) {
    if reply.text.is_empty() && reply.calls.is_empty() {
        return;
    }
    json.begin_object();
    json.key("role");
    json.string("assistant");
    json.key("content");
    if reply.text.is_empty() {
        json.null();
    } else {
        json.string(&reply.text);
    }
    if !reply.calls.is_empty() {
        json.key("tool_calls");
        json.begin_array();
        for call in &reply.calls {
            json.begin_object();
            json.key("id");
            json.string(&call.id);
            json.key("type");
            json.string("function");
            json.key("function");
            json.begin_object();
            json.key("name");
            json.string(&call.given_name);
            json.key("arguments");
            json.string(arguments_again(call).as_str());
            json.end_object();
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

fn is_shown(media: &Media<'_>, options: Options) -> bool {
    options.media && matches!(media.kind, Kind::Image | Kind::Audio)
}

fn write_part(part: &Part<'_>, options: Options, json: &mut Out<'_>) {
    json.begin_object();
    json.key("type");
    match part {
        Part::Media(media) if is_shown(media, options) && media.kind == Kind::Image => {
            json.string("image_url");
            json.key("image_url");
            json.begin_object();
            json.key("url");
            json.string(&media.url());
            json.end_object();
        }
        Part::Media(media) if is_shown(media, options) => {
            json.string("input_audio");
            json.key("input_audio");
            json.begin_object();
            json.key("data");
            json.string(media.data);
            json.key("format");
            json.string(media.sound());
            json.end_object();
        }
        Part::Text(words) => write_text(words, json),
        Part::Media(media) => write_text(&media.note(), json),
    }
    json.end_object();
}

fn write_text(words: &str, json: &mut Out<'_>) {
    json.string("text");
    json.key("text");
    json.string(words);
}

/// One message for each result, and one with what these cannot show: all results have to be beside their calls.
pub(super) fn results(results: &[CallResult], options: Options) -> Vec<Json<'static>> {
    let mut messages = Vec::new();
    let mut media = Vec::new();
    for result in results {
        let parts = of_result(&result.result);
        let mut words = as_text(&parts, |media| is_shown(media, options));
        if result.result.is_error {
            words = format!("{FAILED}\n{words}");
        }
        messages.push(Json::written(|json| {
            json.begin_object();
            json.key("role");
            json.string("tool");
            json.key("tool_call_id");
            json.string(&result.id);
            json.key("content");
            json.string(&words);
            json.end_object();
        }));
        let shown = parts
            .into_iter()
            .filter(|part| matches!(part, Part::Media(media) if is_shown(media, options)));
        let shown: Vec<_> = shown.collect();
        if !shown.is_empty() {
            media.push(Part::Text(
                format!("From the result of `{}` ({}):", result.name, result.id).into(),
            ));
            media.extend(shown);
        }
    }
    if !media.is_empty() {
        messages.push(Json::written(|json| {
            json.begin_object();
            json.key("role");
            json.string("user");
            json.key("content");
            json.begin_array();
            for part in &media {
                write_part(part, options, json);
            }
            json.end_array();
            json.end_object();
        }));
    }
    messages
}

pub(super) fn read(tools: &Toolset, answer: RawJson<'_>) -> Result<Reply, ReplyFault> {
    if let Some(fault) = fault(answer) {
        return Err(fault);
    }
    let choice = elements(answer, "choices").next();
    let choice = choice.ok_or_else(|| ReplyFault::Malformed("it has no `choices`".to_owned()))?;
    let message = member(choice, "message")
        .ok_or_else(|| ReplyFault::Malformed("it has no `message`".to_owned()))?;
    let mut reply = Reply {
        text: content(message),
        usage: usage(answer),
        ..Reply::default()
    };
    for call in elements(message, "tool_calls") {
        room(reply.calls.len())?;
        let function = call.member("function").unwrap_or(call);
        let id = text(call, "id").filter(|id| !id.is_empty());
        let id = id.map_or_else(|| place(reply.calls.len()), |id| id.into_owned());
        let name = text(function, "name").unwrap_or_default();
        let call = tools.asked(id, name.into_owned(), given(function));
        reply.calls.push(call);
    }
    let word = text(choice, "finish_reason");
    let refused = reply.text.is_empty() && member(message, "refusal").is_some();
    if refused {
        reply.text = text(message, "refusal").unwrap_or_default().into_owned();
    }
    reply.stop = stop(
        if refused {
            Some("refusal")
        } else {
            word.as_deref()
        },
        &reply.calls,
    );
    Ok(reply)
}

/// A text, an object where a provider means well, or nothing.
fn given(function: RawJson<'_>) -> String {
    match function.member("arguments") {
        None => String::new(),
        Some(arguments) => match arguments.as_string() {
            Some(text) => text.decode().into_owned(),
            None => arguments.as_str().to_owned(),
        },
    }
}

/// A text, or parts that are.
fn content(message: RawJson<'_>) -> String {
    let Some(content) = message.member("content") else {
        return String::new();
    };
    if let Some(text) = content.as_string() {
        return text.decode().into_owned();
    }
    let parts = content.as_array().into_iter().flatten();
    parts.filter_map(|part| text(part, "text")).collect()
}

fn usage(answer: RawJson<'_>) -> Usage {
    member(answer, "usage").map_or_else(Usage::default, |usage| {
        Usage::new(
            count(usage, "prompt_tokens"),
            count(usage, "completion_tokens"),
        )
    })
}

/// An answer in chunks.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    text: String,
    refusal: String,
    calls: Vec<Call>,
    finished: Option<String>,
    done: bool,
    usage: Usage,
}

#[derive(Debug, Default)]
struct Call {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Chunks {
    pub(super) const fn done(&mut self) {
        self.done = true;
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.done
    }

    pub(super) fn event(
        &mut self,
        chunk: RawJson<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReplyFault> {
        if member(chunk, "usage").is_some() {
            self.usage = usage(chunk);
        }
        let Some(choice) = elements(chunk, "choices").next() else {
            return Ok(());
        };
        if let Some(delta) = member(choice, "delta") {
            let words = content(delta);
            if !words.is_empty() {
                self.text.push_str(&words);
                deltas.push(Delta::Text(words));
            }
            self.refusal
                .push_str(&text(delta, "refusal").unwrap_or_default());
            for call in elements(delta, "tool_calls") {
                self.call(call, deltas)?;
            }
        }
        if let Some(word) = text(choice, "finish_reason") {
            self.finished = Some(word.into_owned());
        }
        Ok(())
    }

    fn call(&mut self, piece: RawJson<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        let id = text(piece, "id").unwrap_or_default();
        let index = piece.member("index").and_then(RawJson::as_number);
        let index = index.and_then(|index| index.as_u64());
        // Some have no index, or the same for all: then another id is another call.
        let known = match index {
            Some(index) => self.calls.iter_mut().rev().find(|call| call.index == index),
            None => self.calls.last_mut(),
        };
        let known = known.filter(|call| id.is_empty() || call.id.is_empty() || call.id == id);
        let function = piece.member("function").unwrap_or(piece);
        let name = text(function, "name").unwrap_or_default();
        let call = match known {
            Some(call) => call,
            None => {
                room(self.calls.len())?;
                let index = index.unwrap_or(self.calls.len() as u64);
                self.calls.push(Call {
                    index,
                    ..Call::default()
                });
                deltas.push(Delta::Call(name.clone().into_owned()));
                let last = self.calls.len() - 1;
                &mut self.calls[last]
            }
        };
        if call.id.is_empty() {
            call.id = id.into_owned();
        }
        // Some repeat it in each piece, none has been seen to cut it.
        if call.name.is_empty() {
            call.name = name.into_owned();
        }
        call.arguments.push_str(&given(function));
        Ok(())
    }

    pub(super) fn finish(self, tools: &Toolset) -> Result<Reply, ReplyFault> {
        if self.finished.is_none() && !self.done {
            return Err(ReplyFault::Cut);
        }
        let calls = self.calls.into_iter().enumerate().map(|(at, call)| {
            let id = if call.id.is_empty() {
                place(at)
            } else {
                call.id
            };
            tools.asked(id, call.name, call.arguments)
        });
        let calls: Vec<_> = calls.collect();
        let refused = self.text.is_empty() && !self.refusal.is_empty();
        let word = if refused {
            Some("refusal")
        } else {
            self.finished.as_deref()
        };
        Ok(Reply {
            stop: stop(word, &calls),
            text: if refused { self.refusal } else { self.text },
            calls,
            usage: self.usage,
            echo: None,
        })
    }
}

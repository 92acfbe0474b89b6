//! Anthropic's Messages (API reference, "Create a message"; "Streaming messages").

use mcp_core::json::{Json, RawJson, Writer};

use super::content::{Kind, Media, Part, of_result, parts};
use super::read::{arguments_again, count, fault, member, place, stop, text};
use super::stream::room;
use super::toolset::write_tools;
use super::{
    CallResult, Delta, Options, Prompt, Provider, Reply, ReplyFault, Toolset, Turn, Usage,
};

type Out<'w> = Writer<'w, Vec<u8>>;

/// The most tokens of an answer have to be said.
const MAX_TOKENS: u64 = 4096;

pub(super) fn request(model: &str, prompt: &Prompt<'_>, stream: bool) -> Json<'static> {
    Json::written(|json| {
        json.begin_object();
        json.key("model");
        json.string(model);
        json.key("max_tokens");
        json.unsigned(prompt.max_tokens.unwrap_or(MAX_TOKENS));
        if let Some(system) = prompt.system {
            json.key("system");
            json.string(system);
        }
        json.key("messages");
        json.begin_array();
        for turn in prompt.turns {
            write_turn(turn, prompt.tools.options(), json);
        }
        json.end_array();
        write_tools(prompt, stream, json);
        json.end_object();
    })
}

fn write_turn(turn: &Turn, options: Options, json: &mut Out<'_>) {
    match turn {
        Turn::User(blocks) => {
            begin("user", json);
            write_parts(&parts(blocks), options, json);
            json.end_object();
        }
        Turn::Model(Reply {
            echo: Some((Provider::Anthropic, content)),
            ..
        }) => {
            // A message without content is refused.
            if content
                .raw()
                .as_array()
                .is_some_and(|mut blocks| blocks.next().is_some())
            {
                begin("assistant", json);
                json.raw(content.raw());
                json.end_object();
            }
        }
        Turn::Model(reply) => {
            if reply.text.is_empty() && reply.calls.is_empty() {
                return;
            }
            begin("assistant", json);
            json.begin_array();
            if !reply.text.is_empty() {
                write_text(&reply.text, json);
            }
            for call in &reply.calls {
                json.begin_object();
                json.key("type");
                json.string("tool_use");
                json.key("id");
                json.string(&call.id);
                json.key("name");
                json.string(&call.given_name);
                json.key("input");
                json.raw(arguments_again(call).raw());
                json.end_object();
            }
            json.end_array();
            json.end_object();
        }
        Turn::Results(all) => {
            for message in results(all, options) {
                json.raw(message.raw());
            }
        }
    }
}

/// Up to its content.
fn begin(role: &str, json: &mut Out<'_>) {
    json.begin_object();
    json.key("role");
    json.string(role);
    json.key("content");
}

fn is_shown(media: &Media<'_>, options: Options) -> bool {
    options.media && matches!(media.kind, Kind::Image | Kind::Document)
}

fn write_parts(parts: &[Part<'_>], options: Options, json: &mut Out<'_>) {
    json.begin_array();
    for part in parts {
        match part {
            // Empty text blocks are refused.
            Part::Text(words) if words.trim().is_empty() => {}
            Part::Text(words) => write_text(words, json),
            Part::Media(media) if is_shown(media, options) => {
                json.begin_object();
                json.key("type");
                json.string(if media.kind == Kind::Image {
                    "image"
                } else {
                    "document"
                });
                json.key("source");
                json.begin_object();
                json.key("type");
                json.string("base64");
                json.key("media_type");
                json.string(&media.mime_type.to_ascii_lowercase());
                json.key("data");
                json.string(media.data);
                json.end_object();
                json.end_object();
            }
            Part::Media(media) => write_text(&media.note(), json),
        }
    }
    json.end_array();
}

fn write_text(words: &str, json: &mut Out<'_>) {
    json.begin_object();
    json.key("type");
    json.string("text");
    json.key("text");
    json.string(words);
    json.end_object();
}

/// One message with all of them: each call has to be answered in the message after it.
pub(super) fn results(results: &[CallResult], options: Options) -> Vec<Json<'static>> {
    if results.is_empty() {
        return Vec::new();
    }
    vec![Json::written(|json| {
        begin("user", json);
        json.begin_array();
        for result in results {
            json.begin_object();
            json.key("type");
            json.string("tool_result");
            json.key("tool_use_id");
            json.string(&result.id);
            json.key("content");
            write_parts(&of_result(&result.result), options, json);
            if result.result.is_error {
                json.key("is_error");
                json.boolean(true);
            }
            json.end_object();
        }
        json.end_array();
        json.end_object();
    })]
}

pub(super) fn read(tools: &Toolset, answer: RawJson<'_>) -> Result<Reply, ReplyFault> {
    if let Some(fault) = fault(answer) {
        return Err(fault);
    }
    let content = answer
        .member("content")
        .filter(|content| content.as_array().is_some());
    let content = content.ok_or_else(|| ReplyFault::Malformed("it has no `content`".to_owned()))?;
    let word = text(answer, "stop_reason");
    let usage = member(answer, "usage").map_or_else(Usage::default, usage);
    read_content(tools, content, word.as_deref(), usage)
}

fn read_content(
    tools: &Toolset,
    content: RawJson<'_>,
    word: Option<&str>,
    usage: Usage,
) -> Result<Reply, ReplyFault> {
    let mut reply = Reply {
        usage,
        ..Reply::default()
    };
    for block in content.as_array().into_iter().flatten() {
        match text(block, "type").as_deref() {
            Some("text") => reply
                .text
                .push_str(&text(block, "text").unwrap_or_default()),
            Some("tool_use") => {
                room(reply.calls.len())?;
                let id = text(block, "id").filter(|id| !id.is_empty());
                let id = id.map_or_else(|| place(reply.calls.len()), |id| id.into_owned());
                let name = text(block, "name").unwrap_or_default().into_owned();
                let given = block.member("input").map_or("", RawJson::as_str).to_owned();
                let call = tools.asked(id, name, given);
                reply.calls.push(call);
            }
            _ => {}
        }
    }
    reply.stop = stop(word, &reply.calls);
    reply.echo = Some((Provider::Anthropic, Json::from(content).into_owned()));
    Ok(reply)
}

/// Tokens that were read from a cache, or written to one, are of the prompt too.
fn usage(usage: RawJson<'_>) -> Usage {
    let input = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ];
    let input = input
        .iter()
        .fold(0, |sum: u64, name| sum.saturating_add(count(usage, name)));
    Usage::new(input, count(usage, "output_tokens"))
}

/// An answer in blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    usage: Usage,
    stop_reason: Option<String>,
    stopped: bool,
}

/// A block as it began, and what was added to it.
#[derive(Debug)]
struct Block {
    index: u64,
    start: Json<'static>,
    text: String,
    input: String,
    thinking: String,
    signature: String,
    citations: Vec<Json<'static>>,
}

impl Blocks {
    pub(super) const fn is_whole(&self) -> bool {
        self.stopped
    }

    pub(super) fn event(
        &mut self,
        event: RawJson<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReplyFault> {
        match text(event, "type").as_deref() {
            Some("message_start") => {
                let known = event
                    .member("message")
                    .and_then(|message| member(message, "usage"));
                self.usage = known.map_or_else(Usage::default, usage);
            }
            Some("content_block_start") => {
                let Some(start) = event.member("content_block") else {
                    return Err(ReplyFault::Malformed(
                        "a block without `content_block`".to_owned(),
                    ));
                };
                // As many blocks as calls, and as many texts and thoughts between them.
                room(self.blocks.len() / 4)?;
                match text(start, "type").as_deref() {
                    Some("tool_use") => deltas.push(Delta::Call(
                        text(start, "name").unwrap_or_default().into_owned(),
                    )),
                    Some("text") => say(&text(start, "text").unwrap_or_default(), deltas),
                    _ => {}
                }
                self.blocks.push(Block {
                    index: count(event, "index"),
                    start: Json::from(start).into_owned(),
                    text: String::new(),
                    input: String::new(),
                    thinking: String::new(),
                    signature: String::new(),
                    citations: Vec::new(),
                });
            }
            Some("content_block_delta") => {
                let index = count(event, "index");
                let block = self
                    .blocks
                    .iter_mut()
                    .rev()
                    .find(|block| block.index == index);
                let (Some(block), Some(delta)) = (block, event.member("delta")) else {
                    return Err(ReplyFault::Malformed("a delta of no block".to_owned()));
                };
                block.add(delta, deltas);
            }
            Some("message_delta") => {
                let delta = event.member("delta");
                if let Some(word) = delta.and_then(|delta| text(delta, "stop_reason")) {
                    self.stop_reason = Some(word.into_owned());
                }
                if let Some(known) = member(event, "usage") {
                    let now = usage(known);
                    self.usage = Usage::new(self.usage.input.max(now.input), now.output);
                }
            }
            Some("message_stop") => self.stopped = true,
            // `content_block_stop`, `ping`, and what is new.
            _ => {}
        }
        Ok(())
    }

    pub(super) fn finish(self, tools: &Toolset) -> Result<Reply, ReplyFault> {
        if !self.stopped {
            return Err(ReplyFault::Cut);
        }
        let content = Json::written(|json| {
            json.begin_array();
            self.blocks.iter().for_each(|block| block.write(json));
            json.end_array();
        });
        let mut reply = read_content(
            tools,
            content.raw(),
            self.stop_reason.as_deref(),
            self.usage,
        )?;
        // The arguments as they came, which need not be an object: what stands for them in `content` is none of them.
        let calls = self
            .blocks
            .iter()
            .filter(|block| text(block.start.raw(), "type").as_deref() == Some("tool_use"));
        for (call, block) in reply.calls.iter_mut().zip(calls) {
            if !block.input.trim().is_empty() {
                *call = tools.asked(
                    call.id.clone(),
                    call.given_name.clone(),
                    block.input.clone(),
                );
            }
        }
        Ok(reply)
    }
}

fn say(words: &str, deltas: &mut Vec<Delta>) {
    if !words.is_empty() {
        deltas.push(Delta::Text(words.to_owned()));
    }
}

impl Block {
    fn add(&mut self, delta: RawJson<'_>, deltas: &mut Vec<Delta>) {
        let piece = |name| text(delta, name).unwrap_or_default();
        match text(delta, "type").as_deref() {
            Some("text_delta") => {
                let words = piece("text");
                self.text.push_str(&words);
                say(&words, deltas);
            }
            Some("input_json_delta") => self.input.push_str(&piece("partial_json")),
            Some("thinking_delta") => self.thinking.push_str(&piece("thinking")),
            Some("signature_delta") => self.signature.push_str(&piece("signature")),
            Some("citations_delta") => {
                self.citations.extend(
                    delta
                        .member("citation")
                        .map(|citation| Json::from(citation).into_owned()),
                );
            }
            _ => {}
        }
    }

    /// The block as if it had come as a whole.
    fn write(&self, json: &mut Out<'_>) {
        json.begin_object();
        for (name, value) in self.start.raw().as_object().into_iter().flatten() {
            let name = name.decode();
            json.key(&name);
            let more = match &*name {
                "text" => &self.text,
                "thinking" => &self.thinking,
                "signature" => &self.signature,
                "input" if !self.input.trim().is_empty() => {
                    self.write_input(json);
                    continue;
                }
                "citations" => {
                    json.begin_array();
                    value
                        .as_array()
                        .into_iter()
                        .flatten()
                        .for_each(|known| json.raw(known));
                    self.citations
                        .iter()
                        .for_each(|citation| json.raw(citation.raw()));
                    json.end_array();
                    continue;
                }
                _ => {
                    json.raw(value);
                    continue;
                }
            };
            let first = value
                .as_string()
                .map(|text| text.decode())
                .unwrap_or_default();
            json.string(&format!("{first}{more}"));
        }
        // A block may begin without what is added to it.
        let is_new = |name| self.start.raw().member(name).is_none();
        for (name, added) in [
            ("text", &self.text),
            ("thinking", &self.thinking),
            ("signature", &self.signature),
        ] {
            if is_new(name) && !added.is_empty() {
                json.key(name);
                json.string(added);
            }
        }
        if is_new("input") && !self.input.trim().is_empty() {
            json.key("input");
            self.write_input(json);
        }
        if is_new("citations") && !self.citations.is_empty() {
            json.key("citations");
            json.begin_array();
            self.citations.iter().for_each(|it| json.raw(it.raw()));
            json.end_array();
        }
        json.end_object();
    }

    fn write_input(&self, json: &mut Out<'_>) {
        match super::call::normalise(&self.input) {
            Ok(object) => json.raw(object.raw()),
            // What is no object cannot be given back: the model is told so anyway.
            Err(_) => {
                json.begin_object();
                json.key("invalid_arguments");
                json.string(&super::read::shorten(&self.input));
                json.end_object();
            }
        }
    }
}

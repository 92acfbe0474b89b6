//! OpenAI's Responses (API reference, "Create a model response"; "Streaming events").

use mcp_core::json::{Json, RawJson, Writer};

use super::content::{FAILED, Kind, Media, Part, of_result, parts};
use super::read::{arguments_again, count, elements, fault, member, place, stop, text};
use super::stream::room;
use super::toolset::write_tools;
use super::{
    CallResult, Delta, Options, Prompt, Provider, Reply, ReplyFault, Toolset, Turn, Usage,
};

type Out<'w> = Writer<'w, Vec<u8>>;

pub(super) fn request(model: &str, prompt: &Prompt<'_>, stream: bool) -> Json<'static> {
    Json::written(|json| {
        json.begin_object();
        json.key("model");
        json.string(model);
        if let Some(system) = prompt.system {
            json.key("instructions");
            json.string(system);
        }
        json.key("input");
        json.begin_array();
        for turn in prompt.turns {
            write_turn(turn, prompt.tools.options(), json);
        }
        json.end_array();
        write_tools(prompt, stream, json);
        if prompt.tools.options().stateless {
            json.key("store");
            json.boolean(false);
            json.key("include");
            json.fragment(r#"["reasoning.encrypted_content"]"#);
        }
        if let Some(tokens) = prompt.max_tokens {
            json.key("max_output_tokens");
            json.unsigned(tokens);
        }
        json.end_object();
    })
}

fn write_turn(turn: &Turn, options: Options, json: &mut Out<'_>) {
    match turn {
        Turn::User(blocks) => {
            json.begin_object();
            json.key("role");
            json.string("user");
            json.key("content");
            write_parts(&parts(blocks), options, json);
            json.end_object();
        }
        Turn::Model(Reply {
            echo: Some((Provider::OpenAiResponses, items)),
            ..
        }) => {
            for item in items.raw().as_array().into_iter().flatten() {
                json.raw(item);
            }
        }
        Turn::Model(reply) => {
            if !reply.text.is_empty() {
                json.begin_object();
                json.key("role");
                json.string("assistant");
                json.key("content");
                json.string(&reply.text);
                json.end_object();
            }
            for call in &reply.calls {
                json.begin_object();
                json.key("type");
                json.string("function_call");
                json.key("call_id");
                json.string(&call.id);
                json.key("name");
                json.string(&call.given_name);
                json.key("arguments");
                json.string(arguments_again(call).as_str());
                json.end_object();
            }
        }
        Turn::Results(all) => {
            for result in results(all, options) {
                json.raw(result.raw());
            }
        }
    }
}

fn is_shown(media: &Media<'_>, options: Options) -> bool {
    options.media && matches!(media.kind, Kind::Image | Kind::Document)
}

fn write_parts(parts: &[Part<'_>], options: Options, json: &mut Out<'_>) {
    json.begin_array();
    for part in parts {
        json.begin_object();
        json.key("type");
        match part {
            Part::Media(media) if is_shown(media, options) && media.kind == Kind::Image => {
                json.string("input_image");
                json.key("image_url");
                json.string(&media.url());
            }
            Part::Media(media) if is_shown(media, options) => {
                json.string("input_file");
                json.key("filename");
                let name = media.uri.and_then(|uri| uri.rsplit('/').next());
                json.string(
                    name.filter(|name| !name.is_empty())
                        .unwrap_or("document.pdf"),
                );
                json.key("file_data");
                json.string(&media.url());
            }
            Part::Text(words) => write_text(words, json),
            Part::Media(media) => write_text(&media.note(), json),
        }
        json.end_object();
    }
    json.end_array();
}

fn write_text(words: &str, json: &mut Out<'_>) {
    json.string("input_text");
    json.key("text");
    json.string(words);
}

pub(super) fn results(results: &[CallResult], options: Options) -> Vec<Json<'static>> {
    let one = |result: &CallResult| {
        let mut parts = of_result(&result.result);
        if result.result.is_error {
            parts.insert(0, Part::Text(FAILED.into()));
        }
        Json::written(|json| {
            json.begin_object();
            json.key("type");
            json.string("function_call_output");
            json.key("call_id");
            json.string(&result.id);
            json.key("output");
            let media = parts
                .iter()
                .any(|part| matches!(part, Part::Media(media) if is_shown(media, options)));
            if media {
                write_parts(&parts, options, json);
            } else {
                json.string(&super::content::as_text(&parts, |_| false));
            }
            json.end_object();
        })
    };
    results.iter().map(one).collect()
}

pub(super) fn read(tools: &Toolset, answer: RawJson<'_>) -> Result<Reply, ReplyFault> {
    if let Some(fault) = fault(answer) {
        return Err(fault);
    }
    let items = answer
        .member("output")
        .filter(|items| items.as_array().is_some());
    let items = items.ok_or_else(|| ReplyFault::Malformed("it has no `output`".to_owned()))?;
    let items: Vec<RawJson<'_>> = items.as_array().into_iter().flatten().collect();
    read_items(tools, &items, answer)
}

fn read_items(
    tools: &Toolset,
    items: &[RawJson<'_>],
    answer: RawJson<'_>,
) -> Result<Reply, ReplyFault> {
    let mut reply = Reply::default();
    let mut refused = false;
    for item in items {
        match text(*item, "type").as_deref() {
            Some("message") => {
                for part in elements(*item, "content") {
                    if let Some(words) = text(part, "text") {
                        reply.text.push_str(&words);
                    } else if let Some(words) = text(part, "refusal") {
                        refused = true;
                        reply.text.push_str(&words);
                    }
                }
            }
            Some("function_call") => {
                room(reply.calls.len())?;
                let id = text(*item, "call_id").filter(|id| !id.is_empty());
                let id = id.map_or_else(|| place(reply.calls.len()), |id| id.into_owned());
                let name = text(*item, "name").unwrap_or_default().into_owned();
                let given = match item.member("arguments") {
                    Some(arguments) => match arguments.as_string() {
                        Some(text) => text.decode().into_owned(),
                        None => arguments.as_str().to_owned(),
                    },
                    None => String::new(),
                };
                let call = tools.asked(id, name, given);
                reply.calls.push(call);
            }
            _ => {}
        }
    }
    let details = member(answer, "incomplete_details");
    let reason = details.and_then(|details| text(details, "reason"));
    let word = if refused {
        Some("refusal")
    } else {
        reason.as_deref()
    };
    reply.stop = stop(word, &reply.calls);
    if let Some(usage) = member(answer, "usage") {
        reply.usage = Usage::new(count(usage, "input_tokens"), count(usage, "output_tokens"));
    }
    // Thoughts are to be given back with what came of them. Those at the end of an answer that was cut led to nothing, and
    // would be refused.
    let is_thought = |item: &RawJson<'_>| text(*item, "type").as_deref() == Some("reasoning");
    let end = items.iter().rposition(|item| !is_thought(item));
    let kept = &items[..end.map_or(0, |end| end + 1)];
    let echo = Json::written(|json| {
        json.begin_array();
        kept.iter().for_each(|item| json.raw(*item));
        json.end_array();
    });
    reply.echo = Some((Provider::OpenAiResponses, echo));
    Ok(reply)
}

/// An answer in events.
#[derive(Debug, Default)]
pub(super) struct Events {
    items: Vec<Json<'static>>,
    /// The response without its output, once it is whole.
    whole: Option<Json<'static>>,
}

impl Events {
    pub(super) const fn is_whole(&self) -> bool {
        self.whole.is_some()
    }

    pub(super) fn event(
        &mut self,
        event: RawJson<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReplyFault> {
        let kind = text(event, "type").unwrap_or_default();
        match &*kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                if let Some(words) = text(event, "delta").filter(|words| !words.is_empty()) {
                    deltas.push(Delta::Text(words.into_owned()));
                }
            }
            "response.output_item.added" => {
                let item = event.member("item");
                let call =
                    item.filter(|item| text(*item, "type").as_deref() == Some("function_call"));
                if let Some(name) = call.and_then(|call| text(call, "name")) {
                    deltas.push(Delta::Call(name.into_owned()));
                }
            }
            "response.output_item.done" => {
                // As many items as calls, and as many thoughts and messages between them.
                room(self.items.len() / 4)?;
                self.items.extend(
                    event
                        .member("item")
                        .map(|item| Json::from(item).into_owned()),
                );
            }
            "response.completed" | "response.incomplete" => {
                let whole = event.member("response");
                let whole = whole
                    .ok_or_else(|| ReplyFault::Malformed("it has no `response`".to_owned()))?;
                self.whole = Some(Json::from(whole).into_owned());
            }
            "response.failed" => {
                let known = event.member("response").and_then(fault);
                return Err(known.unwrap_or_else(|| {
                    ReplyFault::Malformed("it failed, and does not say why".to_owned())
                }));
            }
            "error" => {
                return Err(ReplyFault::Provider {
                    kind: text(event, "code").unwrap_or_default().into_owned(),
                    message: super::read::shorten(&text(event, "message").unwrap_or_default()),
                });
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn finish(self, tools: &Toolset) -> Result<Reply, ReplyFault> {
        let whole = self.whole.ok_or(ReplyFault::Cut)?;
        let output: Vec<RawJson<'_>> = elements(whole.raw(), "output").collect();
        if output.is_empty() {
            let items: Vec<RawJson<'_>> = self.items.iter().map(Json::raw).collect();
            return read_items(tools, &items, whole.raw());
        }
        read_items(tools, &output, whole.raw())
    }
}

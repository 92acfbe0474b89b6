//! Gemini's `generateContent` (API reference, "Generating content"; streaming: the same answers, one after the other).

use mcp_core::json::{Json, RawJson, Writer};

use super::content::{Kind, Media, Part, as_text, of_result, parts};
use super::read::{
    arguments_again, count, elements, fault, given_id, member, place, shorten, stop, text,
};
use super::stream::room;
use super::{
    CallResult, Delta, Options, Prompt, Provider, Reply, ReplyFault, Stop, Toolset, Turn, Usage,
};

type Out<'w> = Writer<'w, Vec<u8>>;

/// The model is in the URL there.
pub(super) fn request(prompt: &Prompt<'_>) -> Json<'static> {
    Json::written(|json| {
        json.begin_object();
        if let Some(system) = prompt.system {
            json.key("systemInstruction");
            json.begin_object();
            json.key("parts");
            json.begin_array();
            write_text(system, json);
            json.end_array();
            json.end_object();
        }
        json.key("contents");
        json.begin_array();
        for turn in prompt.turns {
            write_turn(turn, prompt.tools.options(), json);
        }
        json.end_array();
        if !prompt.tools.is_empty() {
            json.key("tools");
            json.raw(prompt.tools.definitions().raw());
        }
        if let Some(tokens) = prompt.max_tokens {
            json.key("generationConfig");
            json.begin_object();
            json.key("maxOutputTokens");
            json.unsigned(tokens);
            json.end_object();
        }
        json.end_object();
    })
}

/// Up to its first part.
fn begin(role: &str, json: &mut Out<'_>) {
    json.begin_object();
    json.key("role");
    json.string(role);
    json.key("parts");
    json.begin_array();
}

fn end(json: &mut Out<'_>) {
    json.end_array();
    json.end_object();
}

fn write_turn(turn: &Turn, options: Options, json: &mut Out<'_>) {
    match turn {
        Turn::User(blocks) => {
            begin("user", json);
            for part in &parts(blocks) {
                write_part(part, options, json);
            }
            end(json);
        }
        Turn::Model(Reply {
            echo: Some((Provider::Gemini, parts)),
            ..
        }) => {
            if parts
                .raw()
                .as_array()
                .is_some_and(|mut parts| parts.next().is_some())
            {
                begin("model", json);
                parts
                    .raw()
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|part| json.raw(part));
                end(json);
            }
        }
        Turn::Model(reply) => {
            if reply.text.is_empty() && reply.calls.is_empty() {
                return;
            }
            begin("model", json);
            if !reply.text.is_empty() {
                write_text(&reply.text, json);
            }
            for call in &reply.calls {
                json.begin_object();
                json.key("functionCall");
                json.begin_object();
                if let Some(id) = given_id(&call.id) {
                    json.key("id");
                    json.string(id);
                }
                json.key("name");
                json.string(&call.given_name);
                json.key("args");
                json.raw(arguments_again(call).raw());
                json.end_object();
                json.end_object();
            }
            end(json);
        }
        Turn::Results(all) => {
            for content in results(all, options) {
                json.raw(content.raw());
            }
        }
    }
}

fn is_shown(media: &Media<'_>, options: Options) -> bool {
    options.media && media.kind != Kind::Other
}

fn write_part(part: &Part<'_>, options: Options, json: &mut Out<'_>) {
    match part {
        Part::Text(words) => write_text(words, json),
        Part::Media(media) if is_shown(media, options) => {
            json.begin_object();
            json.key("inlineData");
            json.begin_object();
            json.key("mimeType");
            json.string(media.mime_type);
            json.key("data");
            json.string(media.data);
            json.end_object();
            json.end_object();
        }
        Part::Media(media) => write_text(&media.note(), json),
    }
}

fn write_text(words: &str, json: &mut Out<'_>) {
    json.begin_object();
    json.key("text");
    json.string(words);
    json.end_object();
}

/// One content with all responses, in the order of the calls, by which those without an id are told apart; and one with
/// what responses cannot show.
pub(super) fn results(results: &[CallResult], options: Options) -> Vec<Json<'static>> {
    if results.is_empty() {
        return Vec::new();
    }
    let mut media = Vec::new();
    let responses = Json::written(|json| {
        begin("user", json);
        for result in results {
            let parts = of_result(&result.result);
            json.begin_object();
            json.key("functionResponse");
            json.begin_object();
            if let Some(id) = given_id(&result.id) {
                json.key("id");
                json.string(id);
            }
            json.key("name");
            json.string(&result.name);
            json.key("response");
            json.begin_object();
            json.key(if result.result.is_error {
                "error"
            } else {
                "output"
            });
            json.string(&as_text(&parts, |media| is_shown(media, options)));
            json.end_object();
            json.end_object();
            json.end_object();
            let shown = parts
                .into_iter()
                .filter(|part| matches!(part, Part::Media(media) if is_shown(media, options)));
            let shown: Vec<_> = shown.collect();
            if !shown.is_empty() {
                media.push(Part::Text(
                    format!("From the result of `{}`:", result.name).into(),
                ));
                media.extend(shown);
            }
        }
        end(json);
    });
    let mut contents = vec![responses];
    if !media.is_empty() {
        contents.push(Json::written(|json| {
            begin("user", json);
            for part in &media {
                write_part(part, options, json);
            }
            end(json);
        }));
    }
    contents
}

pub(super) fn read(tools: &Toolset, answer: RawJson<'_>) -> Result<Reply, ReplyFault> {
    if let Some(fault) = fault(answer) {
        return Err(fault);
    }
    let mut parts = Parts::default();
    parts.event(answer, &mut Vec::new())?;
    parts.finish(tools)
}

/// An answer in parts, of one answer or of several.
#[derive(Debug, Default)]
pub(super) struct Parts {
    text: String,
    calls: Vec<(String, String, String)>,
    parts: Vec<Json<'static>>,
    finished: Option<String>,
    blocked: bool,
    usage: Usage,
}

impl Parts {
    pub(super) fn event(
        &mut self,
        answer: RawJson<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReplyFault> {
        if let Some(usage) = member(answer, "usageMetadata") {
            let output = count(usage, "candidatesTokenCount")
                .saturating_add(count(usage, "thoughtsTokenCount"));
            let input = count(usage, "promptTokenCount")
                .saturating_add(count(usage, "toolUsePromptTokenCount"));
            self.usage = Usage::new(input, output);
        }
        let feedback = member(answer, "promptFeedback");
        if let Some(word) = feedback.and_then(|feedback| text(feedback, "blockReason")) {
            self.blocked = true;
            self.finished = Some(shorten(&word));
        }
        let Some(candidate) = elements(answer, "candidates").next() else {
            return Ok(());
        };
        if let Some(content) = member(candidate, "content") {
            for part in elements(content, "parts") {
                self.part(part, deltas)?;
            }
        }
        if let Some(word) = text(candidate, "finishReason") {
            self.finished = Some(word.into_owned());
        }
        Ok(())
    }

    fn part(&mut self, part: RawJson<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        if let Some(call) = member(part, "functionCall") {
            room(self.calls.len())?;
            let id = text(call, "id").filter(|id| !id.is_empty());
            let id = id.map_or_else(|| place(self.calls.len()), |id| id.into_owned());
            let name = text(call, "name").unwrap_or_default().into_owned();
            let given = call.member("args").map_or("", RawJson::as_str).to_owned();
            deltas.push(Delta::Call(name.clone()));
            self.calls.push((id, name, given));
        } else if part.member("thought").and_then(RawJson::as_bool) != Some(true)
            && let Some(words) = text(part, "text").filter(|words| !words.is_empty())
        {
            self.text.push_str(&words);
            deltas.push(Delta::Text(words.into_owned()));
        }
        self.parts.push(Json::from(part).into_owned());
        Ok(())
    }

    pub(super) fn finish(self, tools: &Toolset) -> Result<Reply, ReplyFault> {
        let Some(word) = self.finished else {
            return Err(ReplyFault::Cut);
        };
        let calls = self
            .calls
            .into_iter()
            .map(|(id, name, given)| tools.asked(id, name, given));
        let calls: Vec<_> = calls.collect();
        let echo = Json::written(|json| {
            json.begin_array();
            self.parts.iter().for_each(|part| json.raw(part.raw()));
            json.end_array();
        });
        Ok(Reply {
            stop: if self.blocked {
                Stop::Refused
            } else {
                stop(Some(&word), &calls)
            },
            text: self.text,
            calls,
            usage: self.usage,
            echo: Some((Provider::Gemini, echo)),
        })
    }
}

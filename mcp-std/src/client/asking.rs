//! How a call is made: from the cache or the server, with input where it is required, and again where that is allowed.

use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_io::Timer;
use mcp_core::ErrorCode;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::request::{self, Request};
use mcp_core::model::{
    Decode, DecodeError, Encode, Era, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Prompt, Resource, ResourceTemplate, Tool,
};

use super::Client;
use super::cache::Kind;
use super::ceiling::Ceiling;
use super::error::CallError;
use super::handle::{CallKind, Progressing, Wishes};
use super::options::{CacheUse, CallOptions};
use super::pager::{Page, Pager};
use super::rounds::{Done, Rounds, written};
use super::task::Followed;

/// The pauses before a call is made again whose exchange broke.
const AGAIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(400)];

impl Client {
    pub(super) async fn ask<R: Request>(
        &self,
        params: &R::Params<'_>,
        options: CallOptions,
    ) -> Result<Arc<Json<'static>>, CallError> {
        let params = params.to_json(self.version());
        let answer = self.ask_raw::<R>(Some(params), options).await?;
        Ok(answer.json)
    }

    /// The answer to a request, from the cache if it is there.
    pub(super) async fn ask_raw<R: Request>(
        &self,
        params: Option<Json<'static>>,
        options: CallOptions,
    ) -> Result<Answer, CallError> {
        let params = params.unwrap_or(Json::EMPTY_OBJECT);
        let kind = Kind::of(R::METHOD.as_str()).filter(|_| options.cache != CacheUse::Bypass);
        let key = kind.and_then(|kind| cache_key(kind, params.raw()));
        let Some((kind, key)) = kind.zip(key) else {
            let done = self
                .rounds(R::METHOD.as_str().into(), params, &options)
                .await?;
            return Ok(Answer::fresh(Arc::new(done.result)));
        };
        let cache = &self.shared().cache;
        if options.cache == CacheUse::Use
            && let Some(json) = cache.get(kind, &key)
        {
            return Ok(Answer { json, cached: true });
        }
        let asked = cache.asked(kind);
        let done = self
            .rounds(R::METHOD.as_str().into(), params, &options)
            .await?;
        let json = Arc::new(done.result);
        // What took input is nobody else's (CAC-04), and older revisions know no time to live.
        if done.rounds == 0 && self.era() == Era::Modern {
            cache.put(kind, &key, asked, time_to_live(json.raw()), &json);
        }
        Ok(Answer::fresh(json))
    }

    /// The answer to a request, whatever the server requires for it, and however often the connection has to be made anew.
    pub(super) async fn rounds(
        &self,
        method: Cow<'static, str>,
        params: Json<'static>,
        options: &CallOptions,
    ) -> Result<Done, CallError> {
        let shared = self.shared();
        let followed = Followed::default();
        let safe = options.retry || is_idempotent(&method);
        let retry = shared.settings.restarts && safe;
        let total = options.max_total.unwrap_or(shared.timeouts.max_total);
        let ceiling = Ceiling::new(total);
        let wishes = Wishes {
            timeout: options.timeout,
            ceiling,
            log_level: options.log_level.or(shared.settings.log_level),
            meta: options.meta.clone(),
            on_progress: Progressing(options.on_progress.clone()),
        };
        let call = async {
            let mut attempts = 0;
            let mut refreshed = false;
            loop {
                let server = shared.server();
                let rounds = Rounds {
                    method: method.clone(),
                    ceiling,
                    handlers: &shared.handlers,
                    server: server.and_then(|server| server.implementation.clone()),
                    version: self.version(),
                    limit: shared.settings.max_rounds,
                    knows_tasks: shared.settings.tasks,
                };
                let done = rounds
                    .run(|input| {
                        self.handle.call(
                            method.clone(),
                            CallKind::Request,
                            params.clone(),
                            input,
                            wishes.clone(),
                        )
                    })
                    .await;
                match done {
                    // There may be another connection soon; if not, this ends here.
                    Err(CallError::Closed(_)) if retry && shared.why_closed().is_none() => {
                        tracing::debug!(method = &*method, "connection lost, calling again");
                    }
                    // HTTP-20: another request, with another id. What the server cannot have heard is safe in any case.
                    Err(CallError::Http { fault, .. })
                        if attempts < AGAIN.len()
                            && fault.is_transient()
                            && (safe || fault.is_uncommitted()) =>
                    {
                        tracing::debug!(method = &*method, %fault, "calling again");
                        Timer::after(AGAIN[attempts]).await;
                        attempts += 1;
                    }
                    // XH-13: the server's list of tools has changed, and with it what is said in headers. The call was
                    // not carried out.
                    Err(CallError::Protocol(answer))
                        if answer.code == ErrorCode::HEADER_MISMATCH
                            && method == "tools/call"
                            && !refreshed =>
                    {
                        tracing::debug!("headers did not match: reading the list of tools again");
                        refreshed = true;
                        self.pages::<request::ListTools>(CacheUse::Refresh, &Arc::default())
                            .collect()
                            .await?;
                    }
                    Ok(done) if done.is_task && !options.begin => {
                        let rounds = done.rounds;
                        let result = self.follow(done.result, options, ceiling, &followed);
                        return Ok(Done {
                            result: result.await?,
                            rounds,
                            is_task: false,
                        });
                    }
                    done => return done,
                }
            }
        };
        match &options.canceller {
            Some(canceller) => {
                let done = canceller.guard(call).await;
                if matches!(done, Err(CallError::Cancelled)) {
                    self.give_up(&followed).await;
                }
                done
            }
            None => call.await,
        }
    }

    pub(super) fn pages<L: Listing>(
        &self,
        cache: CacheUse,
        cached: &Arc<AtomicBool>,
    ) -> Pager<L::Item> {
        let (client, cached) = (self.clone(), cached.clone());
        let fingerprints = super::pager::Fingerprints::default();
        Pager::new(move |cursor| {
            let (client, cached) = (client.clone(), cached.clone());
            let fingerprints = fingerprints.clone();
            async move {
                let params = match &cursor {
                    None => Json::EMPTY_OBJECT,
                    Some(cursor) => written(|json| {
                        json.begin_object();
                        json.key("cursor");
                        json.string(cursor);
                        json.end_object();
                    })?,
                };
                let options = CallOptions::new().cache(cache);
                let answer = client.ask_raw::<L>(Some(params), options).await?;
                if answer.cached {
                    cached.store(true, Ordering::Relaxed);
                }
                let (items, next) =
                    L::page(answer.json.raw()).map_err(|error| CallError::Decode {
                        method: L::METHOD.as_str().into(),
                        error,
                    })?;
                Ok(Page {
                    items,
                    next,
                    fingerprint: fingerprints.of(answer.json.as_str()),
                    bytes: answer.json.as_str().len(),
                })
            }
        })
    }

    pub(super) async fn all<L: Listing>(&self) -> Result<Vec<L::Item>, CallError> {
        let cached = Arc::new(AtomicBool::new(false));
        match self.pages::<L>(CacheUse::Use, &cached).collect().await {
            // A cursor of a page that was at hand is not known any more: all over again (CAC-12).
            Err(CallError::Protocol(answer))
                if answer.code == ErrorCode::INVALID_PARAMS && cached.load(Ordering::Relaxed) =>
            {
                if let Some(kind) = Kind::of(L::METHOD.as_str()) {
                    self.shared().cache.forget(kind);
                }
                self.pages::<L>(CacheUse::Refresh, &cached).collect().await
            }
            all => all,
        }
    }
}

/// An answer, and where it was.
pub(super) struct Answer {
    pub(super) json: Arc<Json<'static>>,
    cached: bool,
}

impl Answer {
    const fn fresh(json: Arc<Json<'static>>) -> Self {
        Self {
            json,
            cached: false,
        }
    }
}

/// A method that lists something in pages.
pub(super) trait Listing: Request {
    type Item: Send + 'static;

    fn page(result: RawJson<'_>) -> Result<(Vec<Self::Item>, Option<String>), DecodeError>;
}

macro_rules! listing {
    ($request:ident, $item:ident, $result:ident, $field:ident) => {
        impl Listing for request::$request {
            type Item = $item<'static>;

            fn page(
                result: RawJson<'_>,
            ) -> Result<(Vec<$item<'static>>, Option<String>), DecodeError> {
                let page = $result::decode(result)?;
                let next = page.next_cursor.map(Cow::into_owned);
                let items = page.$field.into_vec().into_iter();
                Ok((items.map($item::into_owned).collect(), next))
            }
        }
    };
}

listing!(ListTools, Tool, ListToolsResult, tools);
listing!(ListResources, Resource, ListResourcesResult, resources);
listing!(
    ListResourceTemplates,
    ResourceTemplate,
    ListResourceTemplatesResult,
    resource_templates
);
listing!(ListPrompts, Prompt, ListPromptsResult, prompts);

/// Whether a call of this method changes nothing, so that it can be made again when nobody knows what became of it. What
/// methods of extensions do is not known.
fn is_idempotent(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "ping"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "completion/complete"
            | "logging/setLevel"
    )
}

/// What decides the answer: the cursor, or the URI. `None`: something else does too, and the answer is not cached.
fn cache_key(kind: Kind, params: RawJson<'_>) -> Option<String> {
    let mut key = String::new();
    for (name, value) in params.as_object()? {
        match (kind, &*name.decode()) {
            (_, "_meta") => {}
            (Kind::Reads, "uri") => key.push_str(&value.as_string()?.decode()),
            (Kind::Discovery | Kind::Reads, _) => return None,
            // With its quotes, so that an empty one is not none.
            (_, "cursor") => key.push_str(value.as_str()),
            _ => return None,
        }
    }
    Some(key)
}

/// How long a result may be kept: absent, negative or no integer is not at all (CAC-05).
fn time_to_live(result: RawJson<'_>) -> Duration {
    let mut members = result.as_object().into_iter().flatten();
    let ttl = members
        .find(|(name, _)| *name == "ttlMs")
        .and_then(|(_, value)| value.as_number()?.as_u64());
    Duration::from_millis(ttl.unwrap_or(0))
}

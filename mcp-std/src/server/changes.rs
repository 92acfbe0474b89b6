//! What a server offers can change while it is served: every connection is told, and looks when it has its turn.
//!
//! ```text
//!  add_tool ──> new offer, in the hub ──> a letter in each mailbox, a higher number ──> connections are woken
//!                                                                                             │
//!  turn of a connection: is the number still the one I saw? ──no──> empty the mailbox, take the offer
//! ```
//!
//! A mailbox holds marks, and URIs without repetition: however many changes come while a client does not read, there is
//! one letter of each kind. Of topics of extensions it holds those that its client listens for.

use core::mem;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use async_channel::Sender;
use mcp_core::json::Json;

use super::Server;
use super::context::Note;
use super::handler::Sharing;
use super::offer::{BuildError, Definitions, Offer};
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::settings::Settings;
use super::tool::Tool;
use super::topics::Topics;

/// What all connections of a server share.
pub(crate) struct Hub<S: Sharing> {
    pub(crate) settings: Settings,
    pub(crate) board: Arc<Board>,
    /// Locked before the board's mailboxes, so that a connection joins before a change or after it.
    offer: Mutex<Arc<Offer<S>>>,
}

/// Where changes are told. It knows nothing of the server's handlers, so that any handler can have it.
#[derive(Debug)]
pub(crate) struct Board {
    /// Higher after each change.
    changes: AtomicU64,
    mailboxes: Mutex<Vec<Weak<Mailbox>>>,
    /// How long a URI may be that can be subscribed to; `None` if none can.
    max_uri: Option<usize>,
}

/// What one connection has not heard of yet.
#[derive(Debug)]
pub(crate) struct Mailbox {
    news: Mutex<News>,
    topics: Mutex<Topics>,
    /// Wakes the connection.
    bell: Sender<Note>,
    /// The connection serves nobody now: it wants no letters, and looks at the offer when it is needed again.
    asleep: AtomicBool,
}

/// What has changed.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) tools: bool,
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
    pub(crate) updated: HashSet<Box<str>>,
}

impl News {
    /// So many updated resources wait for a client that does not read. When there are more, it is told that the list has
    /// changed.
    const UPDATED: usize = 16_384;

    fn updated(&mut self, uri: &str) {
        if self.updated.contains(uri) {
            return;
        }
        if self.updated.len() < Self::UPDATED {
            self.updated.insert(uri.into());
        } else {
            self.resources = true;
        }
    }
}

impl Mailbox {
    pub(crate) fn take(&self) -> News {
        mem::take(&mut *lock(&self.news))
    }

    /// What the connection listens for.
    pub(crate) fn topics(&self) -> MutexGuard<'_, Topics> {
        lock(&self.topics)
    }

    #[cfg(feature = "http")]
    pub(crate) fn set_asleep(&self, asleep: bool) {
        self.asleep.store(asleep, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .expect("nothing panics while it holds this lock")
}

impl<S: Sharing> Hub<S> {
    pub(crate) fn new(settings: Settings, offer: Arc<Offer<S>>) -> Self {
        let max_uri = settings.limits.max_subscribed_uri;
        let board = Board {
            changes: AtomicU64::new(0),
            mailboxes: Mutex::default(),
            max_uri: settings.subscriptions.then_some(max_uri),
        };
        Self {
            settings,
            board: Arc::new(board),
            offer: Mutex::new(offer),
        }
    }

    /// How many changes there have been. The one thing that a connection looks at in each turn.
    pub(crate) fn changes(&self) -> u64 {
        self.board.changes.load(Ordering::Acquire)
    }

    pub(crate) fn offer(&self) -> Arc<Offer<S>> {
        lock(&self.offer).clone()
    }

    /// A new connection: what is offered now, and where it hears of later changes.
    pub(crate) fn join(&self, bell: Sender<Note>) -> (Arc<Offer<S>>, Arc<Mailbox>) {
        let mailbox = Arc::new(Mailbox {
            news: Mutex::default(),
            topics: Mutex::default(),
            bell,
            asleep: AtomicBool::new(false),
        });
        let offer = lock(&self.offer);
        let mut mailboxes = lock(&self.board.mailboxes);
        if mailboxes.len() == mailboxes.capacity() {
            // Only where there is no room, so that it costs little for each of many connections.
            mailboxes.retain(|mailbox| mailbox.strong_count() > 0);
            let open = mailboxes.len();
            mailboxes.reserve(open + 1);
        }
        mailboxes.push(Arc::downgrade(&mailbox));
        (offer.clone(), mailbox)
    }

    /// Makes all connections look around.
    #[cfg(feature = "http")]
    pub(crate) fn wake(&self) {
        self.board.tell(|_| {});
    }

    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Definitions<S>) -> T,
        letter: impl Fn(&mut News),
    ) -> Result<T, BuildError> {
        // What authors made may end here: after the lock is given back, since destructors of theirs may come here again.
        let (_all, _before);
        let mut offer = lock(&self.offer);
        let mut definitions = offer.definitions.clone();
        if !definitions.identity.list_changes {
            return Err(BuildError::Unchanging);
        }
        let before = definitions.len();
        let changed = change(&mut definitions);
        _all = definitions.clone();
        if definitions.len() == before {
            // To take back what is not there changes nothing (LI-03).
            return Ok(changed);
        }
        _before = mem::replace(&mut *offer, definitions.offer()?);
        self.board.tell(letter);
        Ok(changed)
    }
}

impl Board {
    /// Tells all connections.
    fn tell(&self, letter: impl Fn(&mut News)) {
        self.post(|mailbox| {
            letter(&mut lock(&mailbox.news));
            true
        });
    }

    /// Tells the connections that it is of use to, which `letter` says.
    fn post(&self, letter: impl Fn(&Mailbox) -> bool) {
        let all = lock(&self.mailboxes);
        let awake = |mailbox: &Arc<Mailbox>| !mailbox.asleep.load(Ordering::Acquire);
        let mailboxes = all.iter().filter_map(Weak::upgrade).filter(awake);
        let mailboxes: Vec<_> = mailboxes.filter(|mailbox| letter(mailbox)).collect();
        // After the letters, so that whoever sees the number finds them.
        self.changes.fetch_add(1, Ordering::Release);
        for mailbox in &mailboxes {
            // If it is full, the connection is about to look anyway.
            let _ = mailbox.bell.try_send(Note::Wake);
        }
    }

    pub(crate) fn resource_updated(&self, uri: &str) {
        if self.max_uri.is_some_and(|max| uri.len() <= max) {
            self.tell(|news| news.updated(uri));
        }
    }
}

impl Board {
    /// Tells whoever listens for a topic of an extension.
    pub(crate) fn announce(&self, extension: usize, topic: &str, params: Json<'static>) {
        let params = Arc::new(params);
        self.post(|mailbox| mailbox.topics().tell(extension, topic, &params));
    }
}

impl<S: Sharing> Server<S> {
    /// Something happened to a thing of an extension: clients that [listen](super::Extension::topics) for this topic are
    /// told, with these params, an object. While a client does not read, it is told the latest of each topic only. Whether
    /// there is such an extension.
    pub fn announce(&self, extension: &str, topic: &str, params: Json<'static>) -> bool {
        let found = self.hub.offer().catalog.extension(extension);
        if let Some(at) = found {
            self.hub.board.announce(at, topic, params);
        }
        found.is_some()
    }
}

/// Takes out what is meant. Whether there was one.
fn remove<T>(list: &mut Vec<Arc<T>>, is_meant: impl Fn(&T) -> bool) -> bool {
    let before = list.len();
    list.retain(|it| !is_meant(it));
    list.len() < before
}

impl<S: Sharing> Server<S> {
    /// Whether it offers a tool of this name now.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        let offer = self.hub.offer();
        let mut tools = offer.definitions.tools.iter();
        tools.any(|tool| tool.definition.name == name)
    }
}

/// Changes while the server is served. Every client that wants to know is told once, however many changes come together;
/// requests that run keep the handler they began with. The server has to be built with
/// [`list_changes`](super::ServerBuilder::list_changes).
impl<S: Sharing> Server<S> {
    /// Offers one more tool, at the end of the list.
    ///
    /// # Errors
    ///
    /// There is one of its name, its schema is none, or the server is built not to change. Then nothing has changed.
    pub fn add_tool(&self, tool: Tool<S>) -> Result<(), BuildError> {
        tool.tell_name();
        let add = |it: &mut Definitions<S>| it.tools.push(Arc::new(tool));
        self.hub.change(add, |news| news.tools = true)
    }

    /// Takes a tool back. Whether there was one of this name.
    ///
    /// # Errors
    ///
    /// The server is built not to change.
    pub fn remove_tool(&self, name: &str) -> Result<bool, BuildError> {
        let meant = |tool: &Tool<S>| tool.definition.name == name;
        let take = |it: &mut Definitions<S>| remove(&mut it.tools, meant);
        self.hub.change(take, |news| news.tools = true)
    }

    /// Offers one more resource.
    ///
    /// # Errors
    ///
    /// There is one of its URI, that is none, or the server is built not to change. Then nothing has changed.
    pub fn add_resource(&self, resource: Resource<S>) -> Result<(), BuildError> {
        let add = |it: &mut Definitions<S>| it.resources.push(Arc::new(resource));
        self.hub.change(add, |news| news.resources = true)
    }

    /// Takes a resource back. Whether there was one of this URI.
    ///
    /// # Errors
    ///
    /// The server is built not to change.
    pub fn remove_resource(&self, uri: &str) -> Result<bool, BuildError> {
        let meant = |resource: &Resource<S>| resource.definition.uri == uri;
        let take = |it: &mut Definitions<S>| remove(&mut it.resources, meant);
        self.hub.change(take, |news| news.resources = true)
    }

    /// Offers one more resource template.
    ///
    /// # Errors
    ///
    /// It is none, there is one like it, or the server is built not to change. Then nothing has changed.
    pub fn add_template(&self, template: ResourceTemplate<S>) -> Result<(), BuildError> {
        let add = |it: &mut Definitions<S>| it.templates.push(Arc::new(template));
        self.hub.change(add, |news| news.resources = true)
    }

    /// Takes a resource template back. Whether there was one of this text.
    ///
    /// # Errors
    ///
    /// The server is built not to change.
    pub fn remove_template(&self, template: &str) -> Result<bool, BuildError> {
        let meant = |it: &ResourceTemplate<S>| it.definition.uri_template == template;
        let take = |it: &mut Definitions<S>| remove(&mut it.templates, meant);
        self.hub.change(take, |news| news.resources = true)
    }

    /// Offers one more prompt, at the end of the list.
    ///
    /// # Errors
    ///
    /// There is one of its name, or the server is built not to change. Then nothing has changed.
    pub fn add_prompt(&self, prompt: Prompt<S>) -> Result<(), BuildError> {
        let add = |it: &mut Definitions<S>| it.prompts.push(Arc::new(prompt));
        self.hub.change(add, |news| news.prompts = true)
    }

    /// Takes a prompt back. Whether there was one of this name.
    ///
    /// # Errors
    ///
    /// The server is built not to change.
    pub fn remove_prompt(&self, name: &str) -> Result<bool, BuildError> {
        let meant = |prompt: &Prompt<S>| prompt.definition.name == name;
        let take = |it: &mut Definitions<S>| remove(&mut it.prompts, meant);
        self.hub.change(take, |news| news.prompts = true)
    }

    /// What is in the resource of this URI has changed: clients that subscribed to it are told. Those who subscribed to
    /// a whole of which it is a part are not, unless this is said of the whole as well. Without
    /// [`subscriptions`](super::ServerBuilder::subscriptions) there is nobody to tell.
    ///
    /// While a client does not read, updates of one resource are one; of more than 16 384 resources it is told instead
    /// that the list has changed. A handler has [`Context::resource_updated`](super::Context::resource_updated) for it.
    pub fn resource_updated(&self, uri: &str) {
        self.hub.board.resource_updated(uri);
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::mpsc;

    use async_channel::bounded;

    use super::*;
    use crate::server::topics::Told;

    /// Changes the server when it ends, as a destructor of an author's may.
    struct Last(Server);

    impl Drop for Last {
        fn drop(&mut self) {
            self.0
                .remove_tool("another")
                .expect("the server can change");
        }
    }

    /// Many connections whose clients do not read hold nothing of what others are told.
    #[test]
    fn a_mailbox_takes_what_its_client_listens_for() {
        let server = Server::builder("s", "1").build().expect("it is one");
        let ((bell, rung), (other, unheard)) = (bounded(9), bounded(9));
        let (_, listens) = server.hub.join(bell);
        let (_, hears_nothing) = server.hub.join(other);
        listens.topics().want(0, "mine");
        for at in 0..1000 {
            for topic in [format!("task {at}"), "mine".to_owned()] {
                let params = Json::owned(format!("{{\"at\":{at}}}")).expect("JSON");
                server.hub.board.announce(0, &topic, params);
            }
        }
        assert!(hears_nothing.topics().next(|_, _| true).is_none());
        assert!(unheard.is_empty(), "it was not woken");
        assert!(!rung.is_empty());
        let next = listens.topics().next(|_, _| true);
        let Some((0, topic, Told::News(params))) = next else {
            panic!("{next:?}");
        };
        assert_eq!((&*topic, params.as_str()), ("mine", r#"{"at":999}"#));
        assert!(listens.topics().next(|_, _| true).is_none());
        // Its client listens no longer.
        server.hub.board.announce(0, "mine", Json::EMPTY_OBJECT);
        assert!(listens.topics().next(|_, _| false).is_none());
        server.hub.board.announce(0, "mine", Json::EMPTY_OBJECT);
        assert!(listens.topics().next(|_, _| true).is_none());
    }

    #[test]
    fn destructors_of_definitions_may_change_the_server() {
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let server = Server::builder("s", "1").list_changes().build();
            let server = server.expect("it is one");
            let tool = || {
                let last = Last(server.clone());
                Tool::new("t", "", move || {
                    let _ = &last;
                    async { "" }
                })
            };
            server.add_tool(tool()).expect("there is none");
            server.add_tool(tool()).expect_err("there is one");
            server.remove_tool("t").expect("the server can change");
            done.send(()).expect("the test waits");
        });
        // It would wait for itself.
        let done = is_done.recv_timeout(Duration::from_secs(10));
        done.expect("the lock was given back");
    }
}

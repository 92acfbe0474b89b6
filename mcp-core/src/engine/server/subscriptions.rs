//! Who wants to be told of which changes, and what is due to be told.
//!
//! ```text
//!  announce(change) --> marks each listener or watched URI that wants it, once --> due: one entry for each mark
//!                                                                                   |
//!  next_notification  <-- takes the oldest entry, clears its mark  <----------------+
//! ```
//!
//! A mark that is set already is not set again: however many changes come while the peer does not read, each listener is
//! told once, and the memory is that of the subscriptions.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::fmt;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;

use crate::engine::CallKey;
use crate::engine::memory::{Index as _, Memory, Queue as _, Rows as _, Standard, Text as _};
use crate::json::{JsonStr, RawJson};

/// Something that subscribers are told of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The list of tools.
    ToolsList,
    /// The list of prompts.
    PromptsList,
    /// The list of resources, or that of templates.
    ResourcesList,
    /// What is in the resource of this URI. Only those are told who subscribed to this very URI: whoever changes a part
    /// of a resource says so of the resource as well.
    ResourceUpdated(&'a str),
    /// Something of an extension. Only those are told who listen for this very topic, and they are told the latest: what was
    /// not told before the next is not told any more.
    #[non_exhaustive]
    Extension {
        /// Which extension: its position in the catalog.
        extension: usize,
        /// What they listen for.
        topic: &'a str,
        /// The params of the notification: an object.
        params: RawJson<'a>,
    },
}

impl<'a> Change<'a> {
    /// What happened to something of an extension.
    #[must_use]
    pub const fn extension(extension: usize, topic: &'a str, params: RawJson<'a>) -> Self {
        Self::Extension {
            extension,
            topic,
            params,
        }
    }
}

/// A set of lists.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Lists(u8);

impl Lists {
    pub(super) const NONE: Self = Self(0);
    pub(super) const TOOLS: Self = Self(1);
    pub(super) const PROMPTS: Self = Self(1 << 1);
    pub(super) const RESOURCES: Self = Self(1 << 2);
    const EACH: [Self; 3] = [Self::TOOLS, Self::PROMPTS, Self::RESOURCES];

    pub(super) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// This set and `other`, if `also`.
    pub(super) const fn with(self, other: Self, also: bool) -> Self {
        if also { Self(self.0 | other.0) } else { self }
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Names a listener as long as it is open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ListenerId(u32);

/// The notification that is due next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice<'s> {
    /// The `subscriptions/listen` it is for; `None`: the legacy session.
    pub(super) listen: Option<CallKey>,
    pub(super) change: Change<'s>,
}

#[derive(Debug)]
struct Listener {
    listen: Option<CallKey>,
    wants: Lists,
    /// Those that have an entry in the queue, or will have when it is no longer held.
    due: Lists,
    /// Marks are kept, and nothing is queued: the session is not ready to be told (INIT-05).
    held: bool,
}

struct Watch<M: Memory> {
    /// The extension that the topic belongs to; `None`: it is the URI of a resource.
    extension: Option<usize>,
    uri: M::Uri,
    /// What is due to be told of a topic.
    #[cfg(feature = "alloc")]
    params: Option<Box<str>>,
    listener: ListenerId,
    due: bool,
}

impl<M: Memory> Watch<M> {
    /// What is due.
    fn change(&self) -> Change<'_> {
        let text = self.uri.as_str();
        #[cfg(feature = "alloc")]
        if let (Some(extension), Some(params)) = (self.extension, &self.params) {
            return Change::extension(extension, text, RawJson::new(params));
        }
        Change::ResourceUpdated(text)
    }
}

#[derive(Clone, Copy, Debug)]
enum Due {
    List(ListenerId, Lists),
    /// By the place of the watch.
    Updated(u32),
}

/// The listeners of one connection: the legacy session, and each `subscriptions/listen`.
pub(super) struct Subscriptions<M: Memory = Standard> {
    listeners: M::Listeners<Option<Listener>>,
    watches: M::Watches<Option<Watch<M>>>,
    free: M::Watches<u32>,
    /// Places of watches, found by URI; several listeners may watch one.
    by_uri: M::Index,
    hasher: FixedState,
    due: M::Due<Due>,
}

impl<M: Memory> fmt::Debug for Subscriptions<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watches = self.watches.iter().flatten();
        f.debug_struct("Subscriptions")
            .field("listeners", &&*self.listeners)
            .field("watches", &watches.count())
            .finish_non_exhaustive()
    }
}

impl<M: Memory> Subscriptions<M> {
    /// Nobody. URIs come from the peer: `seed` keeps it from choosing ones that collide.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            listeners: Default::default(),
            watches: Default::default(),
            free: Default::default(),
            by_uri: Default::default(),
            hasher: FixedState::with_seed(seed),
            due: Default::default(),
        }
    }

    /// How many `subscriptions/listen` are open.
    pub(super) fn listens(&self) -> usize {
        let open = self.listeners.iter().flatten();
        open.filter(|listener| listener.listen.is_some()).count()
    }

    /// How many URIs are watched, counted once for each listener.
    pub(super) fn watched(&self) -> usize {
        self.by_uri.len()
    }

    /// `None`: there is no room for one more.
    pub(super) fn open(
        &mut self,
        listen: Option<CallKey>,
        wants: Lists,
        held: bool,
    ) -> Option<ListenerId> {
        let listener = Some(Listener {
            listen,
            wants,
            due: Lists::NONE,
            held,
        });
        // As many as `Limits::max_subscriptions`, and one.
        let at = match self.listeners.iter().position(Option::is_none) {
            Some(at) => {
                self.listeners[at] = listener;
                at
            }
            None => {
                self.listeners.push(listener)?;
                self.listeners.len() - 1
            }
        };
        Some(ListenerId(at as u32))
    }

    /// The listener that a `subscriptions/listen` opened.
    pub(super) fn find(&self, listen: CallKey) -> Option<ListenerId> {
        let at = self.listeners.iter().position(|listener| {
            listener
                .as_ref()
                .is_some_and(|listener| listener.listen == Some(listen))
        })?;
        Some(ListenerId(at as u32))
    }

    /// Any `subscriptions/listen` that is open.
    pub(super) fn any_listen(&self) -> Option<(ListenerId, CallKey)> {
        let mut listeners = (0..).zip(self.listeners.iter());
        listeners.find_map(|(at, listener)| Some((ListenerId(at), listener.as_ref()?.listen?)))
    }

    /// From now on what is due to this listener is told.
    pub(super) fn release(&mut self, id: ListenerId) {
        let Some(Some(listener)) = self.listeners.get_mut(id.0 as usize) else {
            return;
        };
        if !core::mem::take(&mut listener.held) {
            return;
        }
        for list in Lists::EACH {
            if listener.due.contains(list) {
                self.due.push_back(Due::List(id, list));
            }
        }
        for (at, watch) in (0..).zip(self.watches.iter()) {
            if watch.as_ref().is_some_and(|it| it.listener == id && it.due) {
                self.due.push_back(Due::Updated(at));
            }
        }
    }

    /// Ends what a listener wants, and takes back what was due to it.
    pub(super) fn close(&mut self, id: ListenerId) {
        let watches = &self.watches;
        let of_it = |at: u32| {
            let watch = watches[at as usize].as_ref();
            watch.is_some_and(|watch| watch.listener == id)
        };
        self.due.retain(|due| match *due {
            Due::List(listener, _) => listener != id,
            Due::Updated(at) => !of_it(at),
        });
        self.by_uri.retain(watches.len(), |at| !of_it(at));
        for (at, watch) in (0..).zip(self.watches.iter_mut()) {
            if watch.take_if(|watch| watch.listener == id).is_some() {
                // As many as there are watches.
                let _ = self.free.push(at);
            }
        }
        self.listeners[id.0 as usize] = None;
    }

    /// Adds a URI; whoever watches it already goes on to. `None`: there is no room for it.
    pub(super) fn watch(
        &mut self,
        listener: ListenerId,
        extension: Option<usize>,
        uri: JsonStr<'_>,
    ) -> Option<()> {
        if self.find_watch(listener, extension, uri).is_some() {
            return Some(());
        }
        let watch = Some(Watch {
            extension,
            uri: M::Uri::decoded(uri)?,
            #[cfg(feature = "alloc")]
            params: None,
            listener,
            due: false,
        });
        let at = match self.free.pop() {
            Some(at) => {
                self.watches[at as usize] = watch;
                at
            }
            None => {
                self.watches.push(watch)?;
                (self.watches.len() - 1) as u32
            }
        };
        let hash = self.hash(uri);
        let (watches, hasher) = (&self.watches, &self.hasher);
        self.by_uri.insert(hash, at, |other| {
            let watch = watches[other as usize].as_ref();
            watch.map_or(0, |watch| hasher.hash_one(watch.uri.as_str()))
        });
        Some(())
    }

    fn hash(&self, uri: JsonStr<'_>) -> u64 {
        M::Index::hash(|| self.hasher.hash_one(uri))
    }

    pub(super) fn unwatch(&mut self, listener: ListenerId, uri: JsonStr<'_>) {
        let Some(at) = self.find_watch(listener, None, uri) else {
            return;
        };
        let hash = self.hash(uri);
        self.by_uri.remove(hash, at);
        self.watches[at as usize] = None;
        // As many as there are watches.
        let _ = self.free.push(at);
        self.due
            .retain(|due| !matches!(*due, Due::Updated(other) if other == at));
    }

    pub(super) fn find_watch(
        &self,
        listener: ListenerId,
        extension: Option<usize>,
        uri: JsonStr<'_>,
    ) -> Option<u32> {
        let (hash, places) = (self.hash(uri), self.watches.len());
        self.by_uri.find(hash, places, |at| {
            let watch = self.watches[at as usize].as_ref();
            watch.is_some_and(|watch| {
                watch.listener == listener
                    && watch.extension == extension
                    && uri == watch.uri.as_str()
            })
        })
    }

    /// Whether somebody listens for this topic.
    #[cfg(feature = "alloc")]
    pub(super) fn has_listener(&self, extension: usize, topic: &str) -> bool {
        let hash = M::Index::hash(|| self.hasher.hash_one(topic));
        let found = self.by_uri.find(hash, self.watches.len(), |at| {
            let watch = self.watches[at as usize].as_ref();
            watch.is_some_and(|it| it.extension == Some(extension) && it.uri.as_str() == topic)
        });
        found.is_some()
    }

    /// Marks what is due because of a change.
    pub(super) fn announce(&mut self, change: Change<'_>) {
        let list = match change {
            Change::ToolsList => Lists::TOOLS,
            Change::PromptsList => Lists::PROMPTS,
            Change::ResourcesList => Lists::RESOURCES,
            Change::ResourceUpdated(uri) => return self.announce_update(None, uri, None),
            Change::Extension {
                extension,
                topic,
                params,
            } => return self.announce_update(Some(extension), topic, Some(params)),
        };
        for (at, listener) in (0..).zip(self.listeners.iter_mut()) {
            let Some(listener) = listener else { continue };
            if listener.wants.contains(list) && !listener.due.contains(list) {
                listener.due = listener.due.with(list, true);
                if !listener.held {
                    self.due.push_back(Due::List(ListenerId(at), list));
                }
            }
        }
    }

    #[cfg_attr(
        not(feature = "alloc"),
        expect(unused_variables, reason = "there are no topics")
    )]
    fn announce_update(
        &mut self,
        extension: Option<usize>,
        uri: &str,
        params: Option<RawJson<'_>>,
    ) {
        let Self {
            listeners,
            watches,
            by_uri,
            hasher,
            due,
            ..
        } = self;
        let hash = M::Index::hash(|| hasher.hash_one(uri));
        by_uri.each(hash, watches.len(), |at| {
            let Some(watch) = &mut watches[at as usize] else {
                return;
            };
            if watch.extension != extension || watch.uri.as_str() != uri {
                return;
            }
            #[cfg(feature = "alloc")]
            {
                watch.params = params.map(|params| params.as_str().into());
            }
            if watch.due {
                return;
            }
            watch.due = true;
            let listener = listeners[watch.listener.0 as usize].as_ref();
            if listener.is_some_and(|listener| !listener.held) {
                due.push_back(Due::Updated(at));
            }
        });
    }

    /// What is due next, if anything is.
    pub(super) fn next(&self) -> Option<Notice<'_>> {
        let (listener, change) = match *self.due.front()? {
            Due::List(listener, Lists::TOOLS) => (listener, Change::ToolsList),
            Due::List(listener, Lists::PROMPTS) => (listener, Change::PromptsList),
            Due::List(listener, _) => (listener, Change::ResourcesList),
            Due::Updated(at) => {
                let watch = self.watches[at as usize].as_ref()?;
                (watch.listener, watch.change())
            }
        };
        let listener = self.listeners[listener.0 as usize].as_ref()?;
        Some(Notice {
            listen: listener.listen,
            change,
        })
    }

    /// It has been told: the next change of it is due again.
    pub(super) fn told(&mut self) {
        match self.due.pop_front() {
            Some(Due::List(id, list)) => {
                if let Some(listener) = &mut self.listeners[id.0 as usize] {
                    listener.due = listener.due.without(list);
                }
            }
            Some(Due::Updated(at)) => {
                if let Some(watch) = &mut self.watches[at as usize] {
                    watch.due = false;
                    #[cfg(feature = "alloc")]
                    {
                        watch.params = None;
                    }
                }
            }
            None => {}
        }
    }
    #[cfg(test)]
    pub(super) fn due_capacity(&self) -> usize {
        self.due.capacity()
    }

    /// How many places there are for listeners and for watches.
    #[cfg(test)]
    pub(super) fn places(&self) -> (usize, usize) {
        (self.listeners.len(), self.watches.len())
    }
}

//! The streams of one session: which of them a message belongs to, and what is kept of them.
//!
//! ```text
//!  about a request --> the reply of the POST it came with      \
//!  about nothing   --> the oldest GET stream, and no other      > an event each, kept in the stream's log
//!  2024-11-05      --> the one stream there is                 /
//! ```

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use super::Accepts;
use super::reply::{Log, Output, Reply};
use crate::engine::CallKey;
use crate::model::ProtocolVersion;

/// Bounds of the streams of one session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct StreamLimits {
    /// How many responses may be open at once. Default: 1,024.
    pub max_open: usize,
    /// How many bytes of events are kept for clients that come back, in all streams together. Of more, the oldest are
    /// forgotten. Default: 1 MiB.
    pub max_kept: usize,
    /// How many bytes may wait for the reader of one stream, and the last message. A slower one is disconnected when it has
    /// read them; what came after is kept as long as there is room for it. Default: 1 MiB.
    pub max_buffered: usize,
    /// How many bytes may wait in all streams together. When there are more, the slowest reader loses what waits for it,
    /// and is disconnected. Default: 8 MiB.
    pub max_buffered_in_all: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            max_open: 1_024,
            max_kept: 1024 * 1024,
            max_buffered: 1024 * 1024,
            max_buffered_in_all: 8 * 1024 * 1024,
        }
    }
}

/// Names a stream for as long as it is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamId {
    index: u32,
    number: u32,
}

impl StreamId {
    /// The place in the table, good for an index into one of the caller's: used again when the stream is gone.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// The streams of one legacy session. Events have ids that are unique in it and name their stream (LH-16).
#[derive(Debug)]
pub struct Streams {
    limits: StreamLimits,
    slots: Vec<Option<Slot>>,
    /// By the place of a call: the stream its answer goes to.
    calls: Vec<Option<(CallKey, StreamId)>>,
    next: u32,
    /// The stream of the message that is being taken.
    sender: Option<StreamId>,
    /// Those that have something new for their readers.
    changed: Vec<StreamId>,
    /// Places in `slots` that are empty.
    free: Vec<u32>,
    /// Places of the streams for what is about no request.
    listeners: Vec<u32>,
    totals: Totals,
    /// By the place of a stream: its part of the totals. What was written to it since is counted when it is `changed`.
    counted: Vec<Counted>,
}

/// What all streams hold together, so that nobody has to look at each of them.
#[derive(Debug, Default)]
struct Totals {
    open: usize,
    left: usize,
    kept: usize,
    buffered: usize,
    /// Those that something can be forgotten of, first what is forgotten first.
    forgettable: BTreeSet<Age>,
}

/// Streams that are only kept to be read again come first, then the oldest; its place is the last.
type Age = (bool, u32, u32);

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Counted {
    open: bool,
    left: bool,
    kept: usize,
    buffered: usize,
    age: Option<Age>,
}

#[derive(Debug)]
struct Slot {
    number: u32,
    kind: Kind,
    reply: Reply,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// With so many requests that are not answered.
    Post(usize),
    Get,
    /// The one stream of a session of 2024-11-05.
    Only,
}

impl Slot {
    /// Whether it is kept only to be read again: nothing is added to it.
    fn is_left(&self) -> bool {
        self.reply.is_detached() && (self.reply.is_ended() || self.kind == Kind::Get)
    }

    fn count(&self, at: u32) -> Counted {
        let (left, kept) = (self.is_left(), self.reply.log_size());
        Counted {
            open: !self.reply.is_detached(),
            left,
            kept,
            buffered: self.reply.buffered(),
            age: (left || kept > 0).then_some((!left, self.number, at)),
        }
    }
}

impl Streams {
    /// No streams yet.
    #[must_use]
    pub const fn new(limits: StreamLimits) -> Self {
        Self {
            limits,
            slots: Vec::new(),
            calls: Vec::new(),
            next: 0,
            sender: None,
            changed: Vec::new(),
            free: Vec::new(),
            listeners: Vec::new(),
            totals: Totals {
                open: 0,
                left: 0,
                kept: 0,
                buffered: 0,
                forgettable: BTreeSet::new(),
            },
            counted: Vec::new(),
        }
    }

    /// The same, and the ids of events begin with this number, modulo 2³¹. It is one of chance, so that an id of another
    /// session names nothing in this one (SN-08).
    #[must_use]
    pub const fn numbered_from(mut self, first: u32) -> Self {
        // The oldest is the one with the least number: so it stays for the next two thousand million streams.
        self.next = first >> 1;
        self
    }

    /// How many responses are open.
    #[must_use]
    pub const fn open(&self) -> usize {
        self.totals.open
    }

    /// Whether one more response may be opened.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.open() < self.limits.max_open
    }

    /// Opens the reply to a POST. Until [`taken`](Self::taken) it is where answers go that need no call.
    pub fn post(&mut self, accepts: Accepts, version: Option<ProtocolVersion>) -> StreamId {
        let log = Log::new(self.next, version.is_some_and(primes));
        let reply = Reply::new(accepts).logged(Some(log), self.limits.max_buffered);
        let id = self.insert(Kind::Post(0), reply);
        self.sender = Some(id);
        id
    }

    /// The message of the last [`post`](Self::post) has been taken: if no call of it is open, its reply is complete.
    pub fn taken(&mut self) {
        if let Some(id) = self.sender.take() {
            self.settle(id);
        }
    }

    /// Opens a stream for what is about no request (LH-18).
    pub fn get(&mut self, version: ProtocolVersion) -> StreamId {
        let log = Log::new(self.next, primes(version));
        let reply = Reply::events(None, Some(log), self.limits.max_buffered);
        self.insert(Kind::Get, reply)
    }

    /// Opens the stream of a session of 2024-11-05, which begins with where to POST to (SSE-02): a reference relative to
    /// the URL of the stream, so that it holds behind any proxy.
    pub fn only(&mut self, endpoint: &str) -> StreamId {
        let mut reply = Reply::events(Some("message"), None, self.limits.max_buffered);
        reply.announce("endpoint", endpoint);
        self.insert(Kind::Only, reply)
    }

    /// Takes up the stream that the event of this id was of (LH-15). `None`: nothing is known of it.
    pub fn resume(&mut self, last_event_id: &str) -> Option<StreamId> {
        let (stream, event) = last_event_id.split_once('-')?;
        let stream: u32 = stream.parse().ok()?;
        let event: u64 = event.parse().ok()?;
        let at = self.slots.iter().position(|slot| {
            let reply = slot.as_ref().map(|slot| &slot.reply);
            reply.is_some_and(|it| it.log_stream() == Some(stream) && it.knows(event))
        })?;
        let slot = self.slots[at].as_mut()?;
        // A reader that is still there has lost it: each message goes to one stream only (LH-21). Under a new number, so
        // that the old one reads no further.
        slot.number = self.next;
        self.next = self.next.wrapping_add(1);
        slot.reply.resume(event);
        let id = StreamId {
            index: at as u32,
            number: slot.number,
        };
        for (_, stream) in self.calls.iter_mut().flatten() {
            if stream.index == id.index {
                *stream = id;
            }
        }
        self.recount(id.index);
        self.changed.push(id);
        Some(id)
    }

    /// The message that is being taken began this call.
    pub fn began(&mut self, key: CallKey) {
        let Some(id) = self.sender else { return };
        let Some(slot) = self.slot(id) else { return };
        if let Kind::Post(calls) = &mut slot.kind {
            *calls += 1;
        }
        if self.calls.len() <= key.index() {
            self.calls.resize(key.index() + 1, None);
        }
        self.calls[key.index()] = Some((key, id));
    }

    /// The call was answered or given up.
    pub fn ended(&mut self, key: CallKey) {
        let call = self.calls.get_mut(key.index());
        let Some((_, id)) = call.and_then(|call| call.take_if(|(known, _)| *known == key)) else {
            return;
        };
        if let Some(slot) = self.slot(id)
            && let Kind::Post(calls) = &mut slot.kind
        {
            *calls -= 1;
        }
        if self.sender != Some(id) {
            self.settle(id);
        }
    }

    /// Where answers go to what is being taken. `None`: nobody is there to be answered.
    pub fn sender(&mut self) -> Option<&mut Reply> {
        let id = self.sender.or_else(|| self.the_only())?;
        self.reply(id)
    }

    /// Where the answer of a call goes. `None`: its client has left, and cannot ask again.
    pub fn answer(&mut self, key: CallKey) -> Option<&mut Reply> {
        let id = self.of(key).or_else(|| self.the_only())?;
        self.reply(id)
    }

    /// Where messages about a call go: with its answer, or if they cannot, where those about nothing go.
    pub fn about(&mut self, key: CallKey) -> Option<&mut Reply> {
        let id = self.of(key);
        let id = id.filter(|&id| {
            self.slot(id)
                .is_some_and(|slot| slot.reply.takes_messages())
        });
        match id {
            Some(id) => {
                let reply = self.reply(id)?;
                reply.begin_stream();
                Some(reply)
            }
            None => self.unrelated(),
        }
    }

    /// Where messages about no request go: to one stream only (LH-20, LH-21). `None`: there is none.
    pub fn unrelated(&mut self) -> Option<&mut Reply> {
        let id = self.listening()?;
        self.reply(id)
    }

    /// Whether there is a stream for messages about no request.
    #[must_use]
    pub fn is_listened_to(&self) -> bool {
        self.listening().is_some()
    }

    /// Lets the client of a call go, and ask again after `retry`. Whether it can: its revision knows this (LH-12).
    pub fn disconnect(&mut self, key: CallKey, retry: Duration) -> bool {
        let id = self.of(key);
        let reply = id.and_then(|id| self.reply(id));
        reply.is_some_and(|reply| reply.disconnect(retry))
    }

    /// The stream of this id.
    pub fn reply(&mut self, id: StreamId) -> Option<&mut Reply> {
        self.changed.push(id);
        self.slot(id).map(|slot| &mut slot.reply)
    }

    /// Adds a comment to a stream that has been quiet for long; one whose form was not decided begins.
    pub fn keep_alive(&mut self, id: StreamId) {
        if let Some(slot) = self.slot(id) {
            slot.reply.begin_stream();
            slot.reply.keep_alive();
            self.recount(id.index);
        }
    }

    /// A stream that has something new to be [taken](Self::take); each is named at least once.
    pub fn next_changed(&mut self) -> Option<StreamId> {
        let id = self.changed.pop()?;
        self.recount(id.index);
        Some(id)
    }

    /// Takes what is ready of a stream. One that was taken up by somebody else has ended.
    pub fn take(&mut self, id: StreamId) -> Output {
        let Some(slot) = self.slot(id) else {
            return Output::End;
        };
        let output = slot.reply.take();
        match output {
            // All is said, and nobody can ask for it again.
            Output::Json { .. } | Output::Accepted => self.remove(id.index),
            Output::End => self.leave(id),
            Output::Undecided | Output::Events(_) => self.recount(id.index),
        }
        output
    }

    /// The reader of a stream has left. That is not a cancellation (LH-17): what comes is kept.
    pub fn leave(&mut self, id: StreamId) {
        let Some(slot) = self.slot(id) else { return };
        slot.reply.detach();
        let useless = match slot.kind {
            Kind::Post(calls) => calls == 0 && slot.reply.log_size() == 0,
            Kind::Get => slot.reply.log_size() == 0,
            Kind::Only => true,
        };
        match useless {
            true => self.remove(id.index),
            false => self.recount(id.index),
        }
        self.trim();
    }

    /// Ends all streams, as the session has ended.
    pub fn end(&mut self) {
        for (index, slot) in (0..).zip(&mut self.slots) {
            let Some(slot) = slot else { continue };
            slot.reply.end();
            let number = slot.number;
            self.changed.push(StreamId { index, number });
        }
    }

    /// Ends the streams of what is about no request: the server shuts down, and nothing will come.
    pub fn end_listening(&mut self) {
        for (index, slot) in (0..).zip(&mut self.slots) {
            let Some(slot) = slot else { continue };
            if matches!(slot.kind, Kind::Get | Kind::Only) && !slot.reply.is_ended() {
                slot.reply.end();
                let number = slot.number;
                self.changed.push(StreamId { index, number });
            }
        }
    }

    /// Forgets events, and streams, until no more is kept than may be. To be called when something was written.
    pub fn trim(&mut self) {
        for at in 0..self.changed.len() {
            self.recount(self.changed[at].index);
        }
        self.cut_off_the_slowest();
        while self.totals.kept > self.limits.max_kept || self.totals.left > self.limits.max_open {
            let Some(&(in_use, _, at)) = self.totals.forgettable.first() else {
                return;
            };
            match &mut self.slots[at as usize] {
                Some(slot) if in_use => {
                    slot.reply.forget_oldest();
                    self.recount(at);
                }
                _ => self.remove(at),
            }
        }
    }

    fn cut_off_the_slowest(&mut self) {
        while self.totals.buffered > self.limits.max_buffered_in_all {
            let slots = (0..).zip(&mut self.slots);
            // A body of JSON is one answer, which has to be read or given up as a whole.
            let slowest = slots
                .filter_map(|(at, slot)| Some((at, slot.as_mut()?)))
                .filter(|(_, slot)| slot.reply.is_stream())
                .max_by_key(|(_, slot)| slot.reply.buffered());
            let Some((at, slot)) = slowest else { return };
            if !slot.reply.cut_off() {
                return;
            }
            self.recount(at);
        }
    }

    /// Brings the totals up to date with the stream of this place, if there is one.
    fn recount(&mut self, at: u32) {
        let index = at as usize;
        let now = match &self.slots[index] {
            Some(slot) => slot.count(at),
            None => Counted::default(),
        };
        let before = core::mem::replace(&mut self.counted[index], now);
        let totals = &mut self.totals;
        totals.open = totals.open + usize::from(now.open) - usize::from(before.open);
        totals.left = totals.left + usize::from(now.left) - usize::from(before.left);
        totals.kept = totals.kept + now.kept - before.kept;
        totals.buffered = totals.buffered + now.buffered - before.buffered;
        if now.age != before.age {
            if let Some(age) = before.age {
                totals.forgettable.remove(&age);
            }
            totals.forgettable.extend(now.age);
        }
    }

    fn remove(&mut self, at: u32) {
        if self.slots[at as usize].take().is_some() {
            self.free.push(at);
            self.listeners.retain(|listener| *listener != at);
            self.recount(at);
        }
    }

    fn listening(&self) -> Option<StreamId> {
        let listeners = self.listeners.iter();
        listeners
            .filter_map(|&index| Some((index, self.slots[index as usize].as_ref()?)))
            .filter(|(_, slot)| slot.reply.is_open())
            .map(|(index, slot)| StreamId {
                index,
                number: slot.number,
            })
            .min_by_key(|id| id.number)
    }

    fn the_only(&self) -> Option<StreamId> {
        let listeners = self.listeners.iter();
        listeners
            .filter_map(|&index| Some((index, self.slots[index as usize].as_ref()?)))
            .find(|(_, slot)| slot.kind == Kind::Only)
            .map(|(index, slot)| StreamId {
                index,
                number: slot.number,
            })
    }

    fn of(&self, key: CallKey) -> Option<StreamId> {
        let (known, id) = (*self.calls.get(key.index())?)?;
        (known == key).then_some(id)
    }

    fn slot(&mut self, id: StreamId) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(id.index())?.as_mut()?;
        (slot.number == id.number).then_some(slot)
    }

    fn insert(&mut self, kind: Kind, reply: Reply) -> StreamId {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let slot = Some(Slot {
            number,
            kind,
            reply,
        });
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                self.counted.push(Counted::default());
                self.slots.len() as u32 - 1
            }
        };
        if matches!(kind, Kind::Get | Kind::Only) {
            self.listeners.push(index);
        }
        self.recount(index);
        let id = StreamId { index, number };
        self.changed.push(id);
        id
    }

    /// A POST with nothing left to be answered is answered.
    fn settle(&mut self, id: StreamId) {
        let Some(slot) = self.slot(id) else { return };
        if slot.kind == Kind::Post(0) {
            slot.reply.end();
            let over = slot.reply.is_detached() && slot.reply.log_size() == 0;
            if over {
                self.remove(id.index);
            }
            self.changed.push(id);
        }
    }
}

/// LH-10: older revisions may take an event without data for a message.
fn primes(version: ProtocolVersion) -> bool {
    version == ProtocolVersion::V2025_11_25
}

#[cfg(test)]
mod tests;

//! Subscriptions: what is coalesced, bounded, and taken back.

use super::*;
use crate::frame::Lines;

fn catalog() -> Arc<Catalog> {
    let server = Implementation::new("test", "1");
    let catalog = Catalog::builder(&server)
        .tools_list_changed(true)
        .prompts_list_changed(true)
        .resources_list_changed(true)
        .resources_subscribe(true);
    Arc::new(catalog.build().expect("valid"))
}

fn listen(id: usize, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{{filter}}},{MODERN}}}}}"#
    )
}

const EVERYTHING: &str = r#""toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a://0","a://1"]"#;

/// Takes all that is due.
fn drain(engine: &mut ServerEngine) -> Vec<String> {
    let mut out = Vec::new();
    while engine
        .next_notification(&mut Lines::new(&mut out))
        .expect("a Vec has room")
    {}
    let text = String::from_utf8(out).expect("UTF-8");
    text.lines().map(str::to_string).collect()
}

/// LI-02, LI-03: a slow reader is told once of each thing, and a storm is kept in no queue.
#[test]
fn li_03_a_storm_is_told_once() {
    let mut engine = ServerEngine::new(catalog(), Limits::DEFAULT, SEED);
    for id in 0..3 {
        let _ = engine.receive(listen(id, EVERYTHING).as_bytes(), &mut Vec::new());
    }
    assert_eq!((engine.subscriptions(), engine.in_flight()), (3, 0));
    let storm = |engine: &mut ServerEngine| {
        for n in 0..10_000 {
            engine.announce(Change::ToolsList);
            engine.announce(Change::PromptsList);
            engine.announce(Change::ResourcesList);
            engine.announce(Change::ResourceUpdated(&format!("a://{}", n % 4)));
        }
    };
    storm(&mut engine);
    let capacity = engine.subscriptions.due_capacity();
    let first = drain(&mut engine);
    assert_eq!(first.len(), 3 * 5);
    storm(&mut engine);
    assert_eq!(engine.subscriptions.due_capacity(), capacity);
    // In another order: the storm ended with another change.
    let (mut first, mut again) = (first, drain(&mut engine));
    first.sort();
    again.sort();
    assert_eq!(first, again);
    first.dedup();
    assert_eq!(first.len(), 3 * 5, "each is another one");
    assert_eq!(drain(&mut engine), [""; 0]);
}

/// What comes first is told first, and no change is lost that comes between two notifications.
#[test]
fn nobody_starves() {
    let mut engine = ServerEngine::new(catalog(), Limits::DEFAULT, SEED);
    let _ = engine.receive(listen(1, EVERYTHING).as_bytes(), &mut Vec::new());
    engine.announce(Change::ResourceUpdated("a://1"));
    let mut told = Vec::new();
    for _ in 0..4 {
        engine.announce(Change::ToolsList);
        let mut out = Vec::new();
        assert_eq!(engine.next_notification(&mut out), Ok(true));
        told.push(String::from_utf8(out).expect("UTF-8").contains("updated"));
    }
    assert_eq!(told, [true, false, false, false]);
}

#[test]
fn a_notification_that_did_not_fit_stays_due() {
    for change in [Change::ToolsList, Change::ResourceUpdated("a://1")] {
        let (mut free, mut bounded) = (
            ServerEngine::new(catalog(), Limits::DEFAULT, SEED),
            ServerEngine::new(catalog(), Limits::DEFAULT, SEED),
        );
        for engine in [&mut free, &mut bounded] {
            let _ = engine.receive(listen(1, EVERYTHING).as_bytes(), &mut Vec::new());
            engine.announce(change);
        }
        let expected = whole(|out| {
            assert_eq!(free.next_notification(out), Ok(true));
        });
        let sent = at_every_room(&expected, Err(crate::json::Full), |out| {
            bounded.next_notification(out)
        });
        assert_eq!(sent, Ok(true));
        assert_eq!(bounded.next_notification(&mut Vec::new()), Ok(false));
    }
}

/// SUB-12: two messages for each, whole or not at all, and none of them twice.
#[test]
fn the_end_goes_on_where_it_stopped() {
    let mut engine = ServerEngine::new(catalog(), Limits::DEFAULT, SEED);
    for id in 0..3 {
        let _ = engine.receive(listen(id, EVERYTHING).as_bytes(), &mut Vec::new());
    }
    engine.announce(Change::ToolsList);
    let mut lines = Vec::new();
    for left in (0..3).rev() {
        let mut out = heapless::Vec::<u8, 400>::new();
        let sent = engine.end_subscriptions(&mut Lines::new(&mut out));
        assert_eq!(sent.is_ok(), left == 0);
        let text = core::str::from_utf8(&out).expect("UTF-8");
        let ended: Vec<String> = text.lines().map(str::to_string).collect();
        assert_eq!(ended.len(), 2);
        assert!(text.ends_with('\n') && ended[0].contains("notifications/cancelled"));
        assert_eq!(engine.subscriptions(), left);
        lines.extend(ended);
    }
    lines.dedup();
    assert_eq!(lines.len(), 6);
    assert_eq!(drain(&mut engine), [""; 0], "what was due has gone with it");
    assert_eq!(engine.end_subscriptions(&mut Vec::new()), Ok(()));
    // Ids and places are free again.
    let _ = engine.receive(listen(1, EVERYTHING).as_bytes(), &mut Vec::new());
    engine.announce(Change::PromptsList);
    assert_eq!(drain(&mut engine).len(), 1);
}

/// The worst case that [`Limits`] states; and what a peer gives up is free for the next.
#[test]
fn subscriptions_are_bounded() {
    let mut limits = Limits::DEFAULT;
    limits.max_subscribed_uris = 8;
    let mut engine = ServerEngine::new(catalog(), limits, SEED);
    for round in 0..1_000 {
        let filter = format!(r#""resourceSubscriptions":["a://{round}","b://{round}"]"#);
        for id in 0..4 {
            let text = listen(id, &filter);
            let incoming = engine.receive(text.as_bytes(), &mut Vec::new());
            assert!(matches!(incoming, Incoming::Handled));
        }
        let text = listen(4, &filter);
        let incoming = engine.receive(text.as_bytes(), &mut Vec::new());
        let refused = Incoming::Rejected(PeerFault::Subscriptions { limit: 8 });
        assert_eq!(format!("{incoming:?}"), format!("{refused:?}"));
        engine.announce(Change::ResourceUpdated(&format!("a://{round}")));
        for id in 0..4 {
            let cancel = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            let _ = engine.receive(cancel.as_bytes(), &mut Vec::new());
        }
        assert_eq!(engine.subscriptions(), 0);
        assert_eq!(engine.subscriptions.places(), (4, 8));
        assert_eq!(drain(&mut engine), [""; 0]);
    }
}

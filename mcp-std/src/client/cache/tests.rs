use super::*;

fn json(text: &str) -> Arc<Json<'static>> {
    Arc::new(Json::owned(text.to_owned()).expect("it is JSON"))
}

fn cache(limits: CacheLimits) -> (Cache, Clock) {
    let clock = Clock::simulated();
    (Cache::new(limits, clock.clone()), clock)
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_answer_is_fresh_until_its_time_is_over() {
    let (cache, clock) = cache(CacheLimits::DEFAULT);
    let value = json("{\"tools\":[]}");
    cache.put(Kind::Tools, "", cache.asked(Kind::Tools), SECOND, &value);
    clock.advance(SECOND - Duration::from_millis(1));
    assert_eq!(cache.get(Kind::Tools, ""), Some(value));
    assert_eq!(cache.get(Kind::Tools, "cursor"), None);
    assert_eq!(cache.get(Kind::Prompts, ""), None);
    clock.advance(Duration::from_millis(1));
    assert_eq!(cache.get(Kind::Tools, ""), None);
    assert_eq!(cache.len(), 0, "a stale answer does not stay");
}

#[test]
fn no_time_to_live_keeps_nothing_and_no_server_keeps_for_ever() {
    let (cache, clock) = cache(CacheLimits::DEFAULT);
    let value = json("1");
    cache.put(
        Kind::Reads,
        "a",
        cache.asked(Kind::Reads),
        Duration::ZERO,
        &value,
    );
    assert_eq!(cache.len(), 0);
    cache.put(
        Kind::Reads,
        "a",
        cache.asked(Kind::Reads),
        Duration::MAX,
        &value,
    );
    clock.advance(CacheLimits::DEFAULT.longest);
    assert_eq!(cache.get(Kind::Reads, "a"), None);
}

#[test]
fn an_answer_overtaken_by_a_change_is_not_kept() {
    let (cache, _) = cache(CacheLimits::DEFAULT);
    let asked = cache.asked(Kind::Tools);
    cache.forget(Kind::Tools);
    cache.put(Kind::Tools, "", asked, SECOND, &json("1"));
    assert_eq!(cache.get(Kind::Tools, ""), None);
    let asked = cache.asked(Kind::Tools);
    cache.forget(Kind::Prompts);
    cache.put(Kind::Tools, "", asked, SECOND, &json("1"));
    assert!(cache.get(Kind::Tools, "").is_some(), "another kind changed");
}

#[test]
fn a_changed_resource_takes_its_parts_and_its_whole_with_it() {
    let (cache, _) = cache(CacheLimits::DEFAULT);
    for uri in ["file:///a", "file:///a/b", "file:///a/b/c", "file:///z"] {
        cache.put(
            Kind::Reads,
            uri,
            cache.asked(Kind::Reads),
            SECOND,
            &json("1"),
        );
    }
    cache.forget_resource("file:///a/b");
    assert_eq!(cache.len(), 1);
    assert!(cache.get(Kind::Reads, "file:///z").is_some());
}

#[test]
fn what_was_of_use_longest_ago_makes_room() {
    let limits = CacheLimits {
        entries: 2,
        ..CacheLimits::DEFAULT
    };
    let (cache, _) = cache(limits);
    let put = |uri| {
        cache.put(
            Kind::Reads,
            uri,
            cache.asked(Kind::Reads),
            SECOND,
            &json("1"),
        )
    };
    put("a");
    put("b");
    assert!(cache.get(Kind::Reads, "a").is_some());
    put("c");
    assert!(cache.get(Kind::Reads, "a").is_some());
    assert!(cache.get(Kind::Reads, "b").is_none());
    assert!(cache.get(Kind::Reads, "c").is_some());
}

#[test]
fn bytes_are_bounded_whatever_comes() {
    let limits = CacheLimits {
        bytes: 100,
        ..CacheLimits::DEFAULT
    };
    let (cache, _) = cache(limits);
    let put = |uri: &str, length: usize| {
        let value = json(&format!("\"{}\"", "x".repeat(length)));
        cache.put(Kind::Reads, uri, cache.asked(Kind::Reads), SECOND, &value);
    };
    put("long", 200);
    assert_eq!(cache.len(), 0);
    for index in 0..50 {
        put(&index.to_string(), index);
        assert!(cache.lock().bytes <= 100);
    }
    let state = cache.lock();
    assert_eq!(state.order.len(), state.entries.len());
    let sum: usize = state.entries.values().map(|entry| entry.size).sum();
    assert_eq!(state.bytes, sum);
}

#[test]
fn a_cache_that_is_off_keeps_nothing() {
    let (cache, _) = cache(CacheLimits::OFF);
    cache.put(
        Kind::Tools,
        "",
        cache.asked(Kind::Tools),
        SECOND,
        &json("1"),
    );
    assert_eq!(cache.len(), 0);
}

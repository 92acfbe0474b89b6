//! One value, read by both.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use mcp_core::json::{JsonStr, Kind, Number, RawJson};
use serde_json::value::RawValue;

use crate::reference;

/// Compares a value with all that is in it.
///
/// # Panics
///
/// If they differ.
pub(super) fn agree(ours: RawJson<'_>, theirs: &RawValue) {
    let text = theirs.get();
    assert_eq!(ours.as_str(), text);
    assert_eq!(ours.as_bytes(), text.as_bytes());
    let kind = ours.kind();
    assert_eq!(ours.is_null(), text == "null");
    assert_eq!(ours.as_bool(), text.parse().ok());
    assert_eq!(ours.as_string().is_some(), kind == Kind::String);
    assert_eq!(ours.as_number().is_some(), kind == Kind::Number);
    assert_eq!(ours.as_array().is_some(), kind == Kind::Array);
    assert_eq!(ours.as_object().is_some(), kind == Kind::Object);
    match text.as_bytes().first() {
        Some(b'n') => assert_eq!(kind, Kind::Null),
        Some(b't' | b'f') => assert_eq!(kind, Kind::Bool),
        Some(b'"') => strings_agree(ours.as_string().expect("a string"), theirs),
        Some(b'[') => {
            let theirs = reference::elements(theirs);
            let ours: Vec<RawJson<'_>> = ours.as_array().expect("an array").collect();
            assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.into_iter().zip(theirs) {
                agree(ours, theirs);
            }
        }
        Some(b'{') => {
            let theirs = reference::members(theirs);
            let ours: Vec<_> = ours.as_object().expect("an object").collect();
            assert_eq!(ours.len(), theirs.len());
            for ((name, ours), (their_name, theirs)) in ours.into_iter().zip(theirs) {
                strings_agree(name, their_name);
                agree(ours, theirs);
            }
        }
        Some(_) | None => numbers_agree(ours.as_number().expect("a number"), theirs),
    }
}

fn strings_agree(ours: JsonStr<'_>, theirs: &RawValue) {
    let quoted = theirs.get();
    assert_eq!(ours.raw(), &quoted[1..quoted.len() - 1]);
    assert_eq!(ours.has_escapes(), quoted.contains('\\'));
    assert_eq!(ours.as_plain().is_none(), ours.has_escapes());
    assert_eq!(ours.is_unicode(), !reference::has_lone_surrogate(theirs));
    let text = reference::text(theirs);
    // The naive reading is checked too, by the one that is trusted.
    match serde_json::from_str::<String>(quoted) {
        Ok(trusted) => assert_eq!(text, trusted),
        Err(error) => assert!(reference::has_lone_surrogate(theirs), "{error}"),
    }
    assert_eq!(ours.decode(), text);
    assert!(ours.chars().eq(text.chars()));
    assert!(ours == *text);
    assert!(ours != *format!("{text}."));
    let mut other = text.clone();
    if let Some(last) = other.pop() {
        assert!(ours != *other);
        other.push(if last == 'a' { 'b' } else { 'a' });
        assert!(ours != *other);
    }
    let hasher = BuildHasherDefault::<DefaultHasher>::new();
    assert_eq!(hasher.hash_one(ours), hasher.hash_one(&*text));
}

fn numbers_agree(ours: Number<'_>, theirs: &RawValue) {
    let text = theirs.get();
    assert_eq!(ours.as_str(), text);
    let integer = reference::integer(theirs);
    assert_eq!(
        ours.as_i64(),
        integer.and_then(|value| value.try_into().ok())
    );
    assert_eq!(
        ours.as_u64(),
        integer.and_then(|value| value.try_into().ok())
    );
    if let Ok(trusted) = serde_json::from_str::<i64>(text) {
        assert_eq!(ours.as_i64(), Some(trusted));
    }
    if let Ok(trusted) = serde_json::from_str::<u64>(text) {
        assert_eq!(ours.as_u64(), Some(trusted));
    }
    let double = ours.as_f64();
    assert_eq!(
        double,
        text.parse().ok().filter(|value: &f64| value.is_finite())
    );
    // Without its feature `float_roundtrip` the last digits are not exact, and so the largest doubles may overflow.
    let near = |a: f64, b: f64| (a - b).abs() <= a.abs() * 1e-14 + 1e-322;
    const ALMOST_TOO_LARGE: f64 = 1.797e308;
    match (double, serde_json::from_str::<f64>(text).ok()) {
        (Some(ours), Some(trusted)) => assert!(near(ours, trusted), "{ours:?}, not {trusted:?}"),
        (Some(only), None) | (None, Some(only)) => assert!(only.abs() > ALMOST_TOO_LARGE),
        (None, None) => {}
    }
}

//! One suite, instantiated for every kernel of the machine it runs on, against an oracle too plain to be wrong.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::{ProptestConfig, any, prop, proptest};
use proptest::strategy::Strategy as _;

use super::bytes::string_run as oracle;
use super::{newline, string_run, swar};

/// Longer than two groups of the widest vector, so that every part of every kernel is entered at every offset.
const LONGEST: usize = 200;
const WIDEST_VECTOR: usize = 32;

fn check(kernel: fn(&[u8]) -> usize, bytes: &[u8]) {
    assert_eq!(kernel(bytes), oracle(bytes), "{bytes:02x?}");
}

/// Plain text, a different one at each position, with the neighbours of all special values among it.
fn plain(len: usize) -> Vec<u8> {
    b" !#[]^_~\x7fazAZ09{}"
        .iter()
        .copied()
        .cycle()
        .take(len)
        .collect()
}

/// All bytes that end a run.
fn stops() -> impl Iterator<Item = u8> {
    (0..0x20).chain([b'"', b'\\'])
}

fn every_length_without_a_stop(kernel: fn(&[u8]) -> usize) {
    for len in 0..=LONGEST {
        check(kernel, &plain(len));
        check(kernel, &vec![0xFF; len]);
    }
}

fn every_byte_value(kernel: fn(&[u8]) -> usize) {
    for value in 0..=u8::MAX {
        for len in [1, 7, 8, 15, 16, 17, 33, 129] {
            for position in [0, len / 2, len - 1] {
                let mut bytes = plain(len);
                bytes[position] = value;
                check(kernel, &bytes);
            }
        }
    }
}

fn every_position_in_every_length(kernel: fn(&[u8]) -> usize) {
    for len in 1..=LONGEST {
        let mut bytes = plain(len);
        for position in 0..len {
            let kept = bytes[position];
            for stop in [b'"', b'\\', 0x00, 0x1F] {
                bytes[position] = stop;
                check(kernel, &bytes);
            }
            bytes[position] = kept;
        }
    }
}

fn every_stop_at_every_position(kernel: fn(&[u8]) -> usize) {
    let mut bytes = plain(LONGEST);
    for position in 0..LONGEST {
        let kept = bytes[position];
        for stop in stops() {
            bytes[position] = stop;
            check(kernel, &bytes);
        }
        bytes[position] = kept;
    }
}

/// Bytes from 0x80 up neither stop a run nor hide the stop, also within one word or vector.
fn non_ascii_before_and_after_the_stop(kernel: fn(&[u8]) -> usize) {
    let mut bytes = plain(LONGEST);
    for stop in 0..LONGEST {
        for other in 0..LONGEST {
            let kept = [bytes[stop], bytes[other]];
            bytes[other] = 0x80;
            bytes[stop] = b'"';
            check(kernel, &bytes);
            [bytes[stop], bytes[other]] = kept;
            if stop == other {
                bytes[stop] = kept[0];
            }
        }
    }
}

fn two_stops_the_first_counts(kernel: fn(&[u8]) -> usize) {
    let len = 2 * WIDEST_VECTOR + 3;
    for first in 0..len {
        for second in first..len {
            let mut bytes = plain(len);
            bytes[second] = 0x01;
            bytes[first] = b'\\';
            check(kernel, &bytes);
        }
    }
}

fn every_alignment(kernel: fn(&[u8]) -> usize) {
    let bytes = plain(LONGEST + 2 * WIDEST_VECTOR);
    for start in 0..2 * WIDEST_VECTOR {
        for len in [0, 1, 15, 16, 31, 32, 33, 64, 100, 128, LONGEST] {
            check(kernel, &bytes[start..start + len]);
            let mut own = bytes.clone();
            // Just outside of the slice on both sides: must not be seen.
            own[start + len..].fill(b'"');
            own[..start].fill(0x80);
            check(kernel, &own[start..start + len]);
        }
    }
}

fn random_bytes(kernel: fn(&[u8]) -> usize) {
    // Mostly bytes that go on, so that runs are long; stops and non-ASCII bytes are rare.
    let byte = (any::<u8>(), any::<u8>()).prop_map(|(value, kind)| match kind {
        0..=4 => value,
        5..=9 => value | 0x80,
        _ => value % 0x5C % 0x3A + 0x23,
    });
    let bytes = prop::collection::vec(byte, 0..600);
    proptest!(ProptestConfig::with_cases(256), |(bytes in bytes, start in 0_usize..40)| {
        check(kernel, bytes.get(start..).unwrap_or(&bytes));
    });
}

macro_rules! suite {
    ($name:ident, $kernel:expr, if $available:expr) => {
        mod $name {
            suite!(@case $kernel, $available;
                every_length_without_a_stop
                every_byte_value
                every_position_in_every_length
                every_stop_at_every_position
                non_ascii_before_and_after_the_stop
                two_stops_the_first_counts
                every_alignment
                random_bytes
            );
        }
    };
    (@case $kernel:expr, $available:expr; $($case:ident)+) => {
        $(#[test]
        fn $case() {
            if $available {
                super::$case($kernel);
            }
        })+
    };
}

suite!(dispatched, super::super::string_run, if true);
suite!(swar_kernel, super::super::swar::string_run, if true);
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
suite!(sse2_kernel, super::super::x86_64::sse2, if true);
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
suite!(avx2_kernel, super::avx2, if std::is_x86_feature_detected!("avx2"));
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
suite!(neon_kernel, super::super::aarch64::string_run, if true);

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn avx2(bytes: &[u8]) -> usize {
    assert!(std::is_x86_feature_detected!("avx2"));
    // SAFETY: just checked.
    unsafe { super::x86_64::avx2(bytes) }
}

#[test]
fn heads_agree_with_the_oracle() {
    for stop in stops().chain([0x80, b'a']) {
        for position in 0..super::HEAD {
            for high in 0..super::HEAD {
                let mut pair = [[b'a'; super::HEAD / 2]; 2];
                let bytes = pair.as_flattened_mut();
                bytes[high] = 0xC3;
                bytes[position] = stop;
                let expected = oracle(bytes);
                assert_eq!(super::kernel::head(&pair), expected, "{pair:02x?}");
                assert_eq!(
                    swar::string_run(pair.as_flattened()),
                    expected,
                    "{pair:02x?}"
                );
            }
        }
    }
}

#[test]
fn a_run_ends_at_the_closing_quote_of_a_message() {
    let rest = r#"params":{"text":"é"}}"#.as_bytes();
    assert_eq!(string_run(rest), 6);
    let long = "ünï".repeat(40) + r#"\n"}"#;
    assert_eq!(string_run(long.as_bytes()), 200);
}

#[test]
fn newline_finds_the_first_in_every_length() {
    for len in 0..=LONGEST {
        let mut bytes = vec![b'\r'; len];
        assert_eq!(newline(&bytes), None);
        for position in (0..len).rev() {
            bytes[position] = b'\n';
            assert_eq!(newline(&bytes), Some(position));
        }
    }
}

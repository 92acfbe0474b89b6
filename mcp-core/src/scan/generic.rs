//! The algorithm for long runs, once for all instruction sets.

use super::vector::Vector;
use super::{StringRun, swar};

/// Blocks examined between two branches.
const GROUP: usize = 4;

/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn string_run<V: Vector<N>, const N: usize>(bytes: &[u8]) -> StringRun {
    let mut high = 0;
    let mut len = 0;
    for group in bytes.as_chunks::<N>().0.as_chunks::<GROUP>().0 {
        // SAFETY: the instruction set is there, as our caller promises.
        let (stopped, group_high) = unsafe {
            let [a, b, c, d] = [
                V::load(&group[0]),
                V::load(&group[1]),
                V::load(&group[2]),
                V::load(&group[3]),
            ];
            let stops = a.stops().or(b.stops()).or(c.stops().or(d.stops()));
            (stops.high_bits() != 0, a.or(b).or(c.or(d)).high_bits())
        };
        if stopped {
            break;
        }
        high |= group_high;
        len += GROUP * N;
    }
    // The run ends within the next four blocks, or there are fewer than four left.
    for block in bytes[len..].as_chunks::<N>().0 {
        // SAFETY: as above.
        let block = unsafe { Block::of::<V, N>(block) };
        high |= block.high;
        if let Some(position) = block.stop {
            return StringRun {
                len: len + position,
                ascii: high == 0,
            };
        }
        len += N;
    }
    let tail = bytes.len() - len;
    if tail == 0 {
        return StringRun {
            len,
            ascii: high == 0,
        };
    }
    let Some(last) = bytes.last_chunk::<N>() else {
        return swar::string_run(bytes);
    };
    // The last N bytes; those of them that have been seen hold no stop and belong to the run.
    // SAFETY: as above.
    let last = unsafe { Block::of::<V, N>(last) };
    StringRun {
        len: bytes.len() - N + last.stop.unwrap_or(N),
        ascii: high | last.high == 0,
    }
}

/// What one block says.
struct Block {
    /// Position of the first byte that ends the run.
    stop: Option<usize>,
    /// Not zero if one of the bytes before it is not ASCII.
    high: u64,
}

impl Block {
    /// # Safety
    ///
    /// The CPU must have the instruction set of `V`.
    #[inline(always)]
    unsafe fn of<V: Vector<N>, const N: usize>(bytes: &[u8; N]) -> Self {
        // SAFETY: the instruction set is there, as our caller promises.
        let (stops, high) = unsafe {
            let vector = V::load(bytes);
            (vector.stops().high_bits(), vector.high_bits())
        };
        let below = stops.wrapping_sub(1) & !stops;
        let stop = (stops != 0).then(|| (stops.trailing_zeros() / V::LANE_BITS) as usize);
        Self {
            stop,
            high: high & below,
        }
    }
}

/// The run within one block.
///
/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn block_run<V: Vector<N>, const N: usize>(bytes: &[u8; N]) -> StringRun {
    // SAFETY: the instruction set is there, as our caller promises.
    let block = unsafe { Block::of::<V, N>(bytes) };
    StringRun {
        len: block.stop.unwrap_or(N),
        ascii: block.high == 0,
    }
}

//! The vector algorithm, once for all instruction sets, and what it needs from one.

use super::{StringRun, swar};

/// `N` bytes in one register.
///
/// # Safety
///
/// Every method is unsafe for one reason: the CPU must have the instruction set the implementation is named after.
/// Memory is no concern of the caller, since loads take arrays of the register's size.
pub(super) trait Vector<const N: usize>: Copy {
    /// How many bits of a mask stand for one byte.
    const LANE_BITS: u32;

    unsafe fn load(bytes: &[u8; N]) -> Self;

    unsafe fn or(self, other: Self) -> Self;

    /// 0xFF for each byte that ends a run (`"`, `\`, below 0x20), 0 for the others.
    unsafe fn stops(self) -> Self;

    /// [`LANE_BITS`](Self::LANE_BITS) set bits for each byte from 0x80 up, the first byte lowest.
    unsafe fn high_bits(self) -> u64;
}

/// Blocks examined between two branches.
const GROUP: usize = 4;

/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn string_run<V: Vector<N>, const N: usize>(bytes: &[u8]) -> StringRun {
    let (blocks, tail) = bytes.as_chunks::<N>();
    let mut run = Run { len: 0, high: 0 };
    for group in blocks.as_chunks::<GROUP>().0 {
        // SAFETY: the instruction set is there, as our caller promises.
        let (stopped, high) = unsafe {
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
        run.high |= high;
        run.len += GROUP * N;
    }
    // The run ends within the next group, or there are fewer blocks left than make a group.
    let (pairs, single) = blocks[run.len / N..].as_chunks::<2>();
    for pair in pairs {
        // SAFETY: as above.
        if run.append(2 * N, unsafe { Found::in_pair::<V, N>(pair) }) {
            return run.finish();
        }
    }
    for block in single {
        // SAFETY: as above.
        if run.append(N, unsafe { Found::in_block::<V, N>(block) }) {
            return run.finish();
        }
    }
    if tail.is_empty() {
        return run.finish();
    }
    let Some(last) = bytes.last_chunk::<N>() else {
        return swar::string_run(bytes);
    };
    // The last N bytes. Those of them that have been seen hold no stop and belong to the run.
    run.len = bytes.len() - N;
    // SAFETY: as above.
    run.append(N, unsafe { Found::in_block::<V, N>(last) });
    run.finish()
}

/// The run within two blocks.
///
/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn pair_run<V: Vector<N>, const N: usize>(pair: &[[u8; N]; 2]) -> StringRun {
    let mut run = Run { len: 0, high: 0 };
    // SAFETY: the instruction set is there, as our caller promises.
    run.append(2 * N, unsafe { Found::in_pair::<V, N>(pair) });
    run.finish()
}

/// What has been seen of a run.
struct Run {
    len: usize,
    /// Not zero if one of its bytes is not ASCII.
    high: u64,
}

impl Run {
    /// Adds `len` bytes or as many of them as come before a stop, and tells whether there was one.
    #[inline(always)]
    fn append(&mut self, len: usize, found: Found) -> bool {
        self.high |= found.high;
        self.len += found.stop.unwrap_or(len);
        found.stop.is_some()
    }

    #[inline(always)]
    fn finish(self) -> StringRun {
        StringRun {
            len: self.len,
            ascii: self.high == 0,
        }
    }
}

/// What one or two blocks say.
struct Found {
    /// Position of the first byte that ends the run.
    stop: Option<usize>,
    /// Not zero if one of the bytes before it is not ASCII.
    high: u64,
}

impl Found {
    /// # Safety
    ///
    /// The CPU must have the instruction set of `V`.
    #[inline(always)]
    unsafe fn in_block<V: Vector<N>, const N: usize>(block: &[u8; N]) -> Self {
        // SAFETY: the instruction set is there, as our caller promises.
        let [stops, high] = unsafe {
            let vector = V::load(block);
            [vector.stops().high_bits(), vector.high_bits()]
        };
        Self::in_masks::<V, N>(stops, high)
    }

    /// # Safety
    ///
    /// The CPU must have the instruction set of `V`.
    #[inline(always)]
    unsafe fn in_pair<V: Vector<N>, const N: usize>([first, second]: &[[u8; N]; 2]) -> Self {
        let width = V::LANE_BITS * N as u32;
        if 2 * width > u64::BITS {
            // SAFETY: the instruction set is there, as our caller promises.
            let first = unsafe { Self::in_block::<V, N>(first) };
            if first.stop.is_some() {
                return first;
            }
            // SAFETY: as above.
            let second = unsafe { Self::in_block::<V, N>(second) };
            return Self {
                stop: second.stop.map(|at| N + at),
                high: first.high | second.high,
            };
        }
        // Both masks in one word: no branch that depends on where in the two blocks the run ends.
        // SAFETY: the instruction set is there, as our caller promises.
        let [stops, high] = unsafe {
            let [first, second] = [V::load(first), V::load(second)];
            [
                first.stops().high_bits() | second.stops().high_bits() << width,
                first.high_bits() | second.high_bits() << width,
            ]
        };
        Self::in_masks::<V, N>(stops, high)
    }

    #[inline(always)]
    fn in_masks<V: Vector<N>, const N: usize>(stops: u64, high: u64) -> Self {
        let below = stops.wrapping_sub(1) & !stops;
        let stop = (stops != 0).then(|| (stops.trailing_zeros() / V::LANE_BITS) as usize);
        Self {
            stop,
            high: high & below,
        }
    }
}

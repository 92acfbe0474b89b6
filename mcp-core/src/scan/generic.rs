//! The vector algorithm, once for all instruction sets, and what it needs from one.

use super::swar;

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

    /// [`LANE_BITS`](Self::LANE_BITS) set bits for each 0xFF, as many zeros for each 0, the first byte lowest. For no
    /// other bytes.
    unsafe fn mask(self) -> u64;
}

/// Blocks examined between two branches.
const GROUP: usize = 4;

/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[cfg_attr(feature = "alloc", inline(always))]
pub(super) unsafe fn string_run<V: Vector<N>, const N: usize>(bytes: &[u8]) -> usize {
    let (blocks, tail) = bytes.as_chunks::<N>();
    let mut len = 0;
    for group in blocks.as_chunks::<GROUP>().0 {
        // SAFETY: the instruction set is there, as our caller promises.
        let stops = unsafe {
            let [a, b, c, d] = [
                V::load(&group[0]).stops(),
                V::load(&group[1]).stops(),
                V::load(&group[2]).stops(),
                V::load(&group[3]).stops(),
            ];
            a.or(b).or(c.or(d)).mask()
        };
        if stops != 0 {
            break;
        }
        len += GROUP * N;
    }
    // The run ends within the next group, or there are fewer blocks left than make a group.
    let (pairs, single) = blocks[len / N..].as_chunks::<2>();
    for pair in pairs {
        // SAFETY: as above.
        if let Some(at) = unsafe { stop_in_pair::<V, N>(pair) } {
            return len + at;
        }
        len += 2 * N;
    }
    for block in single {
        // SAFETY: as above.
        if let Some(at) = unsafe { stop_in_block::<V, N>(block) } {
            return len + at;
        }
        len += N;
    }
    if tail.is_empty() {
        return len;
    }
    let Some(last) = bytes.last_chunk::<N>() else {
        return swar::string_run(bytes);
    };
    // The last N bytes. Those of them that have been seen hold no stop and belong to the run.
    // SAFETY: as above.
    match unsafe { stop_in_block::<V, N>(last) } {
        Some(at) => bytes.len() - N + at,
        None => bytes.len(),
    }
}

/// The position of the first byte in two blocks that ends a run.
///
/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[cfg_attr(feature = "alloc", inline(always))]
pub(super) unsafe fn stop_in_pair<V: Vector<N>, const N: usize>(
    [first, second]: &[[u8; N]; 2],
) -> Option<usize> {
    let width = V::LANE_BITS * N as u32;
    if 2 * width > u64::BITS {
        // SAFETY: the instruction set is there, as our caller promises.
        return unsafe {
            stop_in_block::<V, N>(first).or_else(|| stop_in_block::<V, N>(second).map(|at| N + at))
        };
    }
    // Both masks in one word: no branch that depends on where in the two blocks the run ends.
    // SAFETY: the instruction set is there, as our caller promises.
    let stops = unsafe {
        let [first, second] = [V::load(first), V::load(second)];
        first.stops().mask() | second.stops().mask() << width
    };
    lowest::<V, N>(stops)
}

/// The same for one block.
///
/// # Safety
///
/// The CPU must have the instruction set of `V`.
#[cfg_attr(feature = "alloc", inline(always))]
unsafe fn stop_in_block<V: Vector<N>, const N: usize>(block: &[u8; N]) -> Option<usize> {
    // SAFETY: the instruction set is there, as our caller promises.
    lowest::<V, N>(unsafe { V::load(block).stops().mask() })
}

/// Which byte is the first that a mask has bits for.
#[cfg_attr(feature = "alloc", inline(always))]
fn lowest<V: Vector<N>, const N: usize>(mask: u64) -> Option<usize> {
    (mask != 0).then(|| (mask.trailing_zeros() / V::LANE_BITS) as usize)
}

//! What the algorithms in `generic.rs` need from an instruction set.

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

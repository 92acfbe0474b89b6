//! NEON, which is compiled in here. Little-endian only: the order of bytes in a mask depends on it.

use core::arch::aarch64::{
    uint8x16_t, vceqq_u8, vcltq_u8, vdupq_n_u8, vget_lane_u64, vld1q_u8, vorrq_u8,
    vreinterpret_u64_u8, vreinterpretq_u16_u8, vshrn_n_u16,
};

use super::HEAD;
use super::generic::{self, Vector};

#[inline]
pub(super) fn head(pair: &[[u8; HEAD / 2]; 2]) -> usize {
    // SAFETY: this module is compiled for targets with NEON only.
    unsafe { generic::stop_in_pair::<Neon, 16>(pair) }.unwrap_or(HEAD)
}

pub(super) fn string_run(bytes: &[u8]) -> usize {
    // SAFETY: this module is compiled for targets with NEON only.
    unsafe { generic::string_run::<Neon, 16>(bytes) }
}

#[derive(Clone, Copy)]
struct Neon(uint8x16_t);

impl Vector<16> for Neon {
    // There is no movemask. Shifting 16-bit lanes right by four and narrowing them leaves four bits of each byte.
    const LANE_BITS: u32 = 4;

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the array has the 16 bytes that are read, the load asks for no alignment, and our caller promises NEON.
        Self(unsafe { vld1q_u8(bytes.as_ptr()) })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: our caller promises NEON.
        Self(unsafe { vorrq_u8(self.0, other.0) })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn stops(self) -> Self {
        // SAFETY: our caller promises NEON.
        unsafe {
            let quote = vceqq_u8(self.0, vdupq_n_u8(b'"'));
            let backslash = vceqq_u8(self.0, vdupq_n_u8(b'\\'));
            let control = vcltq_u8(self.0, vdupq_n_u8(0x20));
            Self(vorrq_u8(vorrq_u8(quote, backslash), control))
        }
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn mask(self) -> u64 {
        // SAFETY: our caller promises NEON.
        unsafe {
            let nibbles = vshrn_n_u16::<4>(vreinterpretq_u16_u8(self.0));
            vget_lane_u64::<0>(vreinterpret_u64_u8(nibbles))
        }
    }
}

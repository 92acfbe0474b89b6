//! SSE2, which is compiled in here, and AVX2, which may be found at run time.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8,
    _mm_or_si128, _mm_set1_epi8, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
};

use super::HEAD;
use super::generic::{self, Vector};

#[inline]
pub(super) fn head(pair: &[[u8; HEAD / 2]; 2]) -> usize {
    // SAFETY: this module is compiled for targets with SSE2 only.
    unsafe { generic::stop_in_pair::<Sse2, 16>(pair) }.unwrap_or(HEAD)
}

/// The widest kernel this CPU has.
pub(super) fn string_run(bytes: &[u8]) -> usize {
    if avx2_is_available() {
        // SAFETY: just checked.
        unsafe { avx2(bytes) }
    } else {
        sse2(bytes)
    }
}

/// A constant without feature `std`; with it, one load from the cache in which std keeps what it has detected.
#[inline]
pub(super) fn avx2_is_available() -> bool {
    #[cfg(feature = "std")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(feature = "std"))]
    return cfg!(target_feature = "avx2");
}

pub(super) fn sse2(bytes: &[u8]) -> usize {
    // SAFETY: this module is compiled for targets with SSE2 only.
    unsafe { generic::string_run::<Sse2, 16>(bytes) }
}

#[target_feature(enable = "avx2")]
pub(super) fn avx2(bytes: &[u8]) -> usize {
    // SAFETY: AVX2 is enabled for this function.
    unsafe { generic::string_run::<Avx2, 32>(bytes) }
}

#[derive(Clone, Copy)]
struct Sse2(__m128i);

impl Vector<16> for Sse2 {
    const LANE_BITS: u32 = 1;

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the array has the 16 bytes that are read, the load asks for no alignment, and our caller promises SSE2.
        Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: our caller promises SSE2.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn stops(self) -> Self {
        // SAFETY: our caller promises SSE2.
        unsafe {
            let quote = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'"'.cast_signed()));
            let backslash = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\\'.cast_signed()));
            // There is no unsigned comparison: x <= 0x1F is min(x, 0x1F) == x.
            let control = _mm_cmpeq_epi8(_mm_min_epu8(self.0, _mm_set1_epi8(0x1F)), self.0);
            Self(_mm_or_si128(_mm_or_si128(quote, backslash), control))
        }
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn mask(self) -> u64 {
        // SAFETY: our caller promises SSE2.
        u64::from(unsafe { _mm_movemask_epi8(self.0) }.cast_unsigned())
    }
}

#[derive(Clone, Copy)]
struct Avx2(__m256i);

impl Vector<32> for Avx2 {
    const LANE_BITS: u32 = 1;

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn load(bytes: &[u8; 32]) -> Self {
        // SAFETY: the array has the 32 bytes that are read, the load asks for no alignment, and our caller promises AVX2.
        Self(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: our caller promises AVX2.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn stops(self) -> Self {
        // SAFETY: our caller promises AVX2.
        unsafe {
            let quote = _mm256_cmpeq_epi8(self.0, _mm256_set1_epi8(b'"'.cast_signed()));
            let backslash = _mm256_cmpeq_epi8(self.0, _mm256_set1_epi8(b'\\'.cast_signed()));
            let control =
                _mm256_cmpeq_epi8(_mm256_min_epu8(self.0, _mm256_set1_epi8(0x1F)), self.0);
            Self(_mm256_or_si256(_mm256_or_si256(quote, backslash), control))
        }
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    unsafe fn mask(self) -> u64 {
        // SAFETY: our caller promises AVX2.
        u64::from(unsafe { _mm256_movemask_epi8(self.0) }.cast_unsigned())
    }
}

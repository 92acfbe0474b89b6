//! See `mcp_fuzz::line`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz::line(data));

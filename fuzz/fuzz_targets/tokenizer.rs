//! See `mcp_fuzz::tokenizer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz::tokenizer(data));

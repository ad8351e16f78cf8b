#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| firstflight_fuzz_bodies::trace_reader(data));

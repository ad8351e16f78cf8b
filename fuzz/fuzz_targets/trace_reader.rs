#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| firstflight_hostile::trace_reader(data));

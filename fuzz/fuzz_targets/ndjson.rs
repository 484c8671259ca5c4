#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fizeau_fuzz::ndjson(bytes);
});

//! Arbitrary bytes for every target, on stable: the same bytes each time, so that every machine runs the same tests (`.cargo/config.toml`).
//! `PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=20000` uses others.

use std::fs;
use std::path::Path;

use firstflight_fuzz_bodies::{
    TARGETS, capture_reader, endpoint_segments, packetdrill_script, qlog_reader, quick_start_options,
    scheme_events, toml_reader, two_endpoints, units, wire_decode,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) }
}

/// Returns the files of a target's corpus, in order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.expect("it is listed").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("it is there")).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn schemes_keep_their_laws_under_any_sequence_of_events(data in vec(any::<u8>(), 0..800)) {
        scheme_events(&data);
    }

    #[test]
    fn an_endpoint_keeps_its_laws_whatever_segments_arrive(data in vec(any::<u8>(), 0..1_500)) {
        endpoint_segments(&data);
    }

    #[test]
    fn every_byte_arrives_in_order_through_a_network_that_does_its_worst(data in vec(any::<u8>(), 0..400)) {
        two_endpoints(&data);
    }

    #[test]
    fn only_an_untouched_answer_approves_a_rate(data in vec(any::<u8>(), 0..80)) {
        quick_start_options(&data);
    }

    #[test]
    fn readers_take_any_text(text in "[ -~\n]{0,80}|(rate|rtt|size|queue) ?= ?\"?[0-9a-zA-Z.%,:]{0,12}\"?") {
        for body in [toml_reader, units, packetdrill_script] {
            body(text.as_bytes());
        }
    }

    #[test]
    fn a_packet_of_any_bytes_is_read_or_refused(mut data in vec(any::<u8>(), 0..200), version in 0_u8..3) {
        if let Some(first) = data.first_mut() {
            *first = [0x45, 0x60, *first][usize::from(version)];
        }
        wire_decode(&data);
    }

    #[test]
    fn a_capture_of_any_bytes_is_read_or_refused(mut data in vec(any::<u8>(), 0..400), magic in 0_usize..4) {
        let magics: [&[u8]; 4] = [&[0xD4, 0xC3, 0xB2, 0xA1, 2, 0], &[0xA1, 0xB2, 0x3C, 0x4D, 0, 2], b"\n\r\r\n", &[]];
        data.splice(..0, magics[magic].iter().copied());
        capture_reader(&data);
    }

    #[test]
    fn a_qlog_of_any_text_is_read_or_refused(text in "[\\[\\]{}\",:0-9\x1e a-z_]{0,200}", form in 0_usize..3) {
        let heads = ["", "{\"qlog_version\":\"0.3\",\"traces\":[{\"events\":[", "\x1e{\"qlog_version\":\"0.3\"}\n\x1e"];
        qlog_reader(format!("{}{text}", heads[form]).as_bytes());
    }

    #[test]
    fn inputs_near_the_corpora_satisfy_the_laws(
        target in select(&TARGETS[..]),
        file in any::<Index>(),
        changes in vec((any::<Index>(), any::<u8>()), 1..8),
        end in any::<Index>(),
    ) {
        let (name, body) = target;
        let mut data = file.get(&corpus(name)).clone();
        for (place, value) in changes {
            if !data.is_empty() {
                let place = place.index(data.len());
                data[place] = value;
            }
        }
        // Half of them end early.
        data.truncate((2 * end.index(data.len() + 1)).max(1));
        body(&data);
    }
}

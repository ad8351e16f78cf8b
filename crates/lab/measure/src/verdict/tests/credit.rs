//! Tests that a scheme gets no credit for the gain of counting bytes.

use super::*;

/// Returns a scheme that never left start-up, with its growth class and its completion time.
fn grown(name: &str, counts: &str, time: f64) -> SchemeResult {
    let mut result = timed(name, &[Some(time)]);
    (result.rows[0].su_counts, result.rows[0].exit_cause) = (counts.to_owned(), "none".to_owned());
    result
}

fn beside(of: &[&str], time: f64) -> [Reference; 1] {
    let of = of.iter().map(|name| (*name).to_owned()).collect();
    [Reference { of, result: grown("slow-start", "bytes", time) }]
}

#[test]
fn byte_counting_schemes_without_exit_are_not_better_than_their_reference() {
    let ranked = [
        grown("h", "bytes", 0.86),
        grown("h++", "bytes", 0.86),
        grown("s", "acks", 1.26),
        grown("t", "acks", 1.26),
    ];
    assert_eq!(
        super::super::verdict(&sized(), &ranked, &beside(&["h", "h++"], 0.86)),
        "No scheme beats byte-counting slow start by cost: h and h++ alike, 860 ms, 0.43 x ideal. Worst: s and t alike, 1.26 s, \
         0.63 x.\nnote: h and h++ never exited start-up and are no better than byte-counting slow start (860 ms).\n\
         note: s and t count ACKs; --slow-start-counts bytes makes all schemes count bytes."
    );
}

#[test]
fn a_scheme_is_credited_only_with_gain_over_its_counting_reference() {
    let ranked = [grown("twice", "beyond", 0.70), grown("h", "bytes", 0.86), grown("s", "acks", 1.26)];
    let line = super::super::verdict(&sized(), &ranked, &beside(&["twice", "h"], 0.86));
    assert!(
        line.starts_with("Best by cost: twice, 700 ms")
            && line.contains("note: h never exited start-up and is no better than "),
        "{line}"
    );
    let line =
        super::super::verdict(&sized(), &[ranked[0].clone(), ranked[2].clone()], &beside(&["twice"], 0.86));
    assert!(line.ends_with("\nnote: byte-counting slow start: 860 ms.\nnote: s counts ACKs; --slow-start-counts bytes makes all schemes count bytes."), "{line}");
}

#[test]
fn schemes_with_an_exit_are_not_described_as_never_leaving_start_up() {
    let mut ranked = [grown("h", "bytes", 0.86), grown("h++", "bytes", 0.86), grown("s", "acks", 1.26)];
    ranked[0].rows[0].exit_cause = "delay".to_owned();
    let line = super::super::verdict(&sized(), &ranked, &beside(&["h", "h++"], 0.86));
    assert!(
        line.contains(
            "note: h and h++ are no better than byte-counting slow start (860 ms).\nnote: s counts ACKs"
        ),
        "{line}"
    );
}

#[test]
fn in_a_given_time_throughput_is_compared() {
    let of = |name: &str, counts: &str, mbps: f64| {
        let mut result = grown(name, counts, 1.0);
        result.rows[0].throughput_bps = mbps * 1e6;
        result
    };
    let ranked = [of("h", "bytes", 9.0), of("s", "acks", 6.0)];
    assert_eq!(wants_reference(&THROUGHPUT, &ranked), ["h"]);
    let references = [Reference { of: vec!["h".to_owned()], result: of("slow-start", "bytes", 9.05) }];
    let line = super::super::verdict(&THROUGHPUT, &ranked, &references);
    assert!(
        line.starts_with("No scheme beats byte-counting slow start by throughput")
            && line.contains("(9.050 Mbit/s with no su-loss)."),
        "{line}"
    );
    // The scheme ranks before byte-counting slow start, which lost more in start-up.
    let mut lossy = of("slow-start", "bytes", 9.05);
    lossy.rows[0].su_loss = Some(0.08);
    let line =
        super::super::verdict(&THROUGHPUT, &ranked, &[Reference { of: vec!["h".to_owned()], result: lossy }]);
    assert!(line.starts_with("Best by throughput") && !line.contains("no better"), "{line}");
    assert!(line.contains("byte-counting slow start: 9.050 Mbit/s with su-loss 8.00 %"), "{line}");
}

#[test]
fn ack_counting_schemes_are_listed_directly_or_by_exclusion() {
    let said = |acks: usize, bytes: usize| {
        let of = |what: &'static str, count: usize, time: f64| {
            (0..count).map(move |one| grown(&format!("{what}{one}"), what, time))
        };
        let ranked: Vec<_> = of("bytes", bytes, 0.86).chain(of("acks", acks, 1.26)).collect();
        let line = super::super::verdict(&sized(), &ranked, &beside(&["bytes0"], 0.86));
        let clause = line.split("(860 ms).\nnote: ").nth(1).and_then(|rest| rest.split("; --").next());
        clause.map(str::to_owned).expect(&line)
    };
    assert_eq!(said(1, 1), "acks0 counts ACKs");
    assert_eq!(said(6, 1), "acks0, acks1, acks2, acks3, acks4 and acks5 count ACKs");
    assert_eq!(said(9, 2), "all but bytes0 and bytes1 count ACKs");
    assert_eq!(said(9, 8), "acks0, acks1, acks2, acks3, acks4 and 4 more count ACKs");
}

#[test]
fn a_reference_is_wanted_only_where_counting_bytes_may_have_gained() {
    let wants = |ranked: &[SchemeResult]| wants_reference(&sized(), ranked);
    let (bytes, acks) = (grown("h", "bytes", 0.86), grown("s", "acks", 1.26));
    assert_eq!(wants(&[bytes.clone(), acks.clone()]), ["h"]);
    assert_eq!(wants(&[grown("h", "bytes", 1.2599), acks.clone()]), ["h"], "however little it is better");
    assert!(wants(&[bytes.clone(), grown("s", "bytes", 1.26)]).is_empty(), "all count alike");
    assert!(wants(&[bytes.clone(), grown("s", "either", 1.26)]).is_empty(), "it made no difference");
    assert!(wants(&[acks.clone(), grown("h", "bytes", 1.26)]).is_empty(), "it gained nothing");
    let mut left = bytes.clone();
    left.rows[0].exit_cause = "delay".to_owned();
    assert_eq!(wants(&[left.clone(), acks.clone()]), ["h"], "it is the best");
    assert!(
        wants(&[grown("own", "beyond", 0.5), left.clone(), acks.clone()]).len() == 1,
        "another is the best"
    );
    let mut beyond = left.clone();
    beyond.rows[0].su_counts = "beyond".to_owned();
    assert!(
        wants(&[beyond, acks.clone()]).is_empty(),
        "it does more than count bytes, and its exit decided, too"
    );
    assert!(wants_reference(&rounds(), &[bytes, acks]).is_empty(), "later replies are restarts");
}

#[test]
fn start_up_counting_is_classified_by_growth_per_ack() {
    use crate::evidence::SuCounts;
    let said = [
        (1000, 0),
        (1000, 1000),
        (2000, 1000),
        (2000, 1500),
        (2000, 2000),
        (2000, 2001),
        (1000, 1500),
        // The last segment is not full; its FIN adds one.
        (1700, 2000),
        (1701, 2000),
        (700, 1000),
    ]
    .map(|(acked, growth)| SuCounts::said_by(acked, growth, 1000).name());
    assert_eq!(
        said,
        ["either", "either", "acks", "bytes", "bytes", "beyond", "beyond", "bytes", "bytes", "either"]
    );
    assert!(SuCounts::ALL.into_iter().all(|counts| SuCounts::of(counts.name()) == counts));
}

//! What keys of the path do in a run.

use firstflight_lab::{How, race, record};
use firstflight_measure::Row;
use firstflight_scenario::{Options, Scenario, parse_choices};

type Given<'a> = &'a [(&'a str, &'a str)];

fn scenario(given: Given<'_>) -> Scenario {
    let mut options = Options::default();
    for (key, text) in given {
        options.set(key, text).expect(text);
    }
    Scenario::resolve(&options).expect("a scenario")
}

fn rows(path: Given<'_>, more: Given<'_>) -> Vec<Row> {
    let choices = parse_choices("slow-start").expect("a scheme");
    let results = race(&scenario(&[path, more].concat()), &choices, &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

fn row(path: Given<'_>, more: Given<'_>) -> Row {
    rows(path, more).remove(0)
}

/// A run of slow start as its trace.
fn trace(path: Given<'_>, more: Given<'_>) -> String {
    let choices = parse_choices("slow-start").expect("a scheme");
    record(&scenario(&[path, more].concat()), &choices[0], 1).expect("a run")
}

#[test]
fn ack_loss_keeps_acks_from_the_sender_and_no_data_from_the_receiver() {
    let path = [("rate", "10mbit"), ("rtt", "20ms"), ("size", "300kB"), ("queue", "1000p"), ("ack", "every")];
    let acks = |more| trace(&path, more).lines().filter(|line| line.contains("\"acked\"")).count();
    let (all, fewer) = (acks(&[]), acks(&[("ack-loss", "20%")]));
    assert!(fewer * 10 < all * 9 && fewer * 10 > all * 7, "{fewer} of {all}");
    let row = row(&path, &[("ack-loss", "20%")]);
    assert_eq!(row.packets_lost, 0);
    assert!(row.fct_s.flatten() >= row.ideal_fct_s.flatten(), "{row:?}");
}

//! Tests of schemes that can be deployed alone, of the gain from help, and of the effect of laws.

use super::*;

/// Returns a scheme that left start-up, with its law, what it needs beyond the sender, and its completion times by seed.
fn scheme(name: &str, law: &str, deploy: &str, times: &[Option<f64>]) -> SchemeResult {
    let mut result = timed(name, times);
    for row in &mut result.rows {
        (row.avoidance, row.deploy, row.exit_cause) = (law.to_owned(), deploy.to_owned(), "loss".to_owned());
    }
    result
}

fn four() -> Vec<SchemeResult> {
    vec![
        scheme("quick-start", "reno", "router-help", &[Some(0.4)]),
        scheme("careful-resume", "reno", "memory", &[Some(0.5)]),
        scheme("suss", "cubic", "alone", &[Some(0.6)]),
        scheme("slow-start", "reno", "alone", &[Some(2.0)]),
    ]
}

#[test]
fn the_best_scheme_is_deployable_alone_and_gains_of_help_are_stated() {
    assert_eq!(
        verdict(&sized(), &four()),
        "Best without help by cost: suss (cubic), 600 ms, 0.30 x ideal. Worst: slow-start (reno), 2.00 s, 1.00 x.\n\
         note: with router help, quick-start (reno) takes 400 ms.\n\
         note: with memory, careful-resume (reno) takes 500 ms.\n\
         note: avoidance laws differ (cubic, reno); --avoidance reno compares start-ups alone."
    );
    let line = verdict(&rounds(), &four());
    assert!(
        line.starts_with(
            "Best without help by elapsed time after an idle time: suss (cubic), 600 ms with nothing dropped. \
             Worst: slow-start (reno), 2.00 s with nothing dropped.\n\
             note: with router help, quick-start (reno) takes 400 ms with nothing dropped.\n\
             note: with memory, careful-resume"
        ),
        "{line}"
    );
    let mut ranked = four();
    ranked[0].rows[0].throughput_bps = 2e6;
    let line = verdict(&THROUGHPUT, &ranked);
    assert!(
        line.contains("note: with router help, quick-start (reno) reaches 2.000 Mbit/s with no su-loss.\nnote: memory changes nothing"),
        "{line}"
    );
}

#[test]
fn help_that_gains_nothing_is_said_to() {
    let mut ranked = four();
    ranked.rotate_left(2);
    ranked[2].rows[0].cost = Some(Some(1.5));
    ranked[3].rows[0].cost = Some(Some(0.3));
    ranked.swap(1, 3);
    let line = verdict(&sized(), &ranked);
    for says in [
        "Best without help by cost: suss (cubic), 600 ms",
        "\nnote: memory changes nothing: careful-resume (reno) takes 500 ms.",
        "\nnote: router help shows no gain: quick-start (reno) takes 400 ms.",
    ] {
        assert!(line.contains(says), "{says}: {line}");
    }
}

#[test]
fn kinds_of_help_are_named_and_represented_by_their_best_scheme() {
    let ranked = [
        scheme("both", "reno", "router-help+memory", &[Some(0.3)]),
        scheme("marked", "reno", "marks", &[Some(0.4)]),
        scheme("marked-too", "reno", "marks", &[Some(0.5)]),
        scheme("own", "reno", "alone", &[Some(0.6)]),
    ];
    assert_eq!(
        verdict(&sized(), &ranked),
        "Best without help by cost: own (reno), 600 ms, 0.30 x ideal.\n\
         note: with router help and memory, both (reno) takes 300 ms.\n\
         note: with marks (ECN), marked (reno) takes 400 ms."
    );
    assert_eq!(
        verdict(&sized(), &ranked[..2]),
        "Best by cost: both (reno), with router help and memory, 300 ms, 0.15 x ideal.\n\
         note: marks (ECN) shows no gain: marked (reno) takes 400 ms."
    );
}

#[test]
fn help_may_finish_what_nobody_does_alone() {
    let mut ranked = four();
    for result in &mut ranked[2..] {
        (result.rows[0].fct_s, result.rows[0].cost) = (Some(None), Some(None));
    }
    let line = verdict(&sized(), &ranked);
    assert!(
        line.starts_with(
            "No scheme without help finished every transfer within the limit: suss and slow-start did not finish within the \
             limit.\nnote: with router help, quick-start (reno) takes 400 ms.\nnote: with memory, "
        ),
        "{line}"
    );
}

#[test]
fn a_gain_from_help_may_be_reported_as_chance() {
    let ranked = [
        scheme("asks", "reno", "router-help", &[Some(1.0), Some(5.0), Some(9.0)]),
        scheme("own", "reno", "alone", &[Some(1.9), Some(4.9), Some(9.1)]),
    ];
    let line = verdict(&sized(), &ranked);
    assert!(
        line.starts_with(
            "Best without help by cost: own (reno), 5.30 s, 2.65 x ideal.\nnote: with router help, asks (reno) takes 5.00 s, \
             which 3 runs do not distinguish from chance (at least 5 would, about 15 if further runs are like these)."
        ),
        "{line}"
    );
}

#[test]
fn differing_laws_are_reported_only_where_active_with_useful_advice() {
    let differ = |ranked: &[SchemeResult]| {
        let line = verdict(&sized(), ranked);
        line.split_once("note: avoidance laws differ ").map(|(_, laws)| laws.to_owned())
    };
    let two =
        |law: &str| [scheme("a", "cubic", "alone", &[Some(1.0)]), scheme("b", law, "alone", &[Some(2.0)])];
    assert_eq!(differ(&two("cubic")), None);
    assert_eq!(
        differ(&two("reno")).as_deref(),
        Some("(cubic, reno); --avoidance cubic compares start-ups alone.")
    );
    let mut own = two("reno");
    own[1].rows[0].params = "iw=4p,avoidance=reno".to_owned();
    assert_eq!(differ(&own).as_deref(), Some("(cubic, reno)."), "its own law heeds no option");
    let mut never = two("reno");
    for result in &mut never {
        result.rows[0].exit_cause = "none".to_owned();
    }
    assert_eq!(differ(&never), None, "no law governed");
}

#[test]
fn a_law_that_differs_in_the_middle_of_a_ranking_is_said() {
    let ranked = [
        scheme("a", "cubic", "alone", &[Some(1.0)]),
        scheme("b", "reno", "alone", &[Some(1.5)]),
        scheme("c", "cubic", "alone", &[Some(2.0)]),
    ];
    let line = verdict(&sized(), &ranked);
    assert!(
        !line.contains("b (reno)") && line.contains("laws differ (cubic, reno); --avoidance cubic "),
        "{line}"
    );
}

#[test]
fn cost_below_one_exceeds_a_fair_share_only_for_that_ideal() {
    let best = |kind: &str, cost| {
        let mut ranked = super::results(&[("a", 40.0, 0.0, Some(cost))]);
        ranked[0].rows[0].ideal_kind = kind.to_owned();
        verdict(&sized(), &ranked)
    };
    let more = "0.80 x fair-share ideal.\nnote: a took more than a fair share.";
    assert!(best("fair-share", 0.8).contains(more), "{}", best("fair-share", 0.8));
    for (kind, cost) in [("fair-share", 1.2), ("fair-share", 0.998), ("exact", 0.8)] {
        assert!(!best(kind, cost).contains("more than"), "{}", best(kind, cost));
    }
}

#[test]
fn laws_differ_among_all_that_the_verdict_compares() {
    // These runs do not distinguish the result from the best.
    let line = verdict(
        &sized(),
        &[
            scheme("a", "cubic", "alone", &[Some(1.0), Some(2.0), Some(3.0)]),
            scheme("b", "reno", "alone", &[Some(1.1), Some(1.9), Some(3.1)]),
        ],
    );
    assert!(line.contains("3 runs do not decide between a and b"), "{line}");
    assert!(line.contains("laws differ (cubic, reno); "), "{line}");
    // Without a transfer, the result is the one that loses most.
    let mut ranked = super::results(&[("a", 40.0, 0.0, None), ("b", 20.0, 0.1, None)]);
    for (result, law) in ranked.iter_mut().zip(["bbr", "reno"]) {
        (result.rows[0].avoidance, result.rows[0].exit_cause) = (law.to_owned(), "loss".to_owned());
    }
    let line = verdict(&super::THROUGHPUT, &ranked);
    assert!(
        line.contains(
            "Highest su-loss: b, 20.00 Mbit/s with su-loss 10.0 %.\nnote: avoidance laws differ (bbr, reno); "
        ),
        "{line}"
    );
}

#[test]
fn schemes_that_are_alike_show_a_shared_law_once_or_each_law() {
    let alike = |law: &str| {
        verdict(
            &sized(),
            &[scheme("a", "reno", "alone", &[Some(1.0)]), scheme("b", law, "alone", &[Some(1.0)])],
        )
    };
    assert!(alike("reno").starts_with("By cost: a and b (reno) alike, 1.00 s"), "{}", alike("reno"));
    assert!(
        alike("cubic").starts_with("By cost: a (reno) and b (cubic) alike, 1.00 s"),
        "{}",
        alike("cubic")
    );
}

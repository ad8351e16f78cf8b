//! The values that claims measure, on small scenarios whose values are known or come from the lab itself.

use std::sync::atomic::{AtomicU64, Ordering};

use firstflight::registry::Registry;
use firstflight_export::Record;
use firstflight_lab::{How, race};
use firstflight_measure::Recording;
use firstflight_papers::{
    ClaimResult, Figure, Habitat, Ledger, MutantResult, Ran, Settings, Status, check, mutants, reasons, show,
};
use firstflight_scenario::{Scenario, SchemeChoice, parse_choices, parse_file};
use serde_json::Value;

use crate::faults::Folder;

/// The results of claims with these expressions, each expected to be at least 0.
fn results(name: &str, body: &str, expressions: &[&str], settings: &Settings<'_>) -> Vec<ClaimResult> {
    let mut text = format!("title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns-2'\n{body}\n");
    text.extend(expressions.iter().enumerate().map(|(at, expression)| {
        format!(
            "[[claim]]\nid = 'c{at}'\nsays = 's'\nsource = 'text'\nmeasured = '{expression}'\nexpected = '>= 0'\ntolerance = 'n'\nstatus = 'holds'\n"
        )
    }));
    let folder = Folder::with(name, &text);
    let ledger = Ledger::read(Registry::builtin(), &folder.0).unwrap_or_else(|error| panic!("{error}"));
    let figures: Vec<_> = ledger.figures.iter().collect();
    let mut results = check(&figures, settings).unwrap_or_else(|error| panic!("{error}"));
    results.pop().expect("a figure").claims
}

/// The measured values of expressions.
fn values(name: &str, body: &str, expressions: &[&str]) -> Vec<Value> {
    results(name, body, expressions, &Settings::default()).into_iter().map(|claim| claim.measured).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn models_and_arithmetic_need_no_run() {
    let body = "[vary]\nsize = ['10kB', '100kB', '1MB']\nrtt = ['50ms', '100ms']";
    let values = values(
        "models",
        body,
        &[
            "(1 + 2) * 3 / 2 - -1",
            "at(size=100kB, at(rtt=100ms, model.quick-start.improvement(size=axis.size, rtt=axis.rtt)))",
            "model.quick-start.improvement(size=100kB, rtt=100ms)",
            "at(size=10kB, axis)",
            "count(axis)",
            "argmax(at(rtt=100ms, model.quick-start.improvement(size=axis.size, rtt=axis.rtt)))",
            "when(at(rtt=50ms, axis) > 50kB)",
            "max(between(5kB, 200kB, at(rtt=50ms, axis)))",
            "sum(diff(at(rtt=50ms, axis)))",
            "first(where(at(rtt=50ms, axis) > 20kB, at(rtt=50ms, axis)))",
            "max(model.paced-table.trains())",
        ],
    );
    assert!((number(&values[0]) - 5.5).abs() < 1e-12);
    assert_eq!(values[1], values[2]);
    assert_eq!(values[3], serde_json::json!([0.05, 0.1]), "the axis that is left");
    assert_eq!(number(&values[4]).to_string(), "6");
    assert_eq!(number(&values[5]).to_string(), "100000");
    assert_eq!(number(&values[6]).to_string(), "100000");
    assert_eq!(number(&values[7]).to_string(), "100000");
    assert_eq!(number(&values[8]).to_string(), "990000");
    assert_eq!(number(&values[9]).to_string(), "100000");
    assert!(number(&values[10]) >= 3.0);
}

const RACE: &str = "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nqueue = '12p'\nsize = '200p'\ncross = '1mbit'\nruns = 2\n\
                    schemes = ['slow-start:as=slow', 'paced']\n[vary]\nrtt = ['20ms', '80ms']";

#[test]
fn a_claim_measures_what_a_race_of_its_scenario_does() {
    let claims = results(
        "race",
        RACE,
        &["at(80ms, fct_s[slow])", "fct_s[paced]", "max(packets_lost[slow]) - min(packets_lost[slow])"],
        &Settings::default(),
    );
    let text = "rate = '5mbit'\nrtt = '80ms'\nqueue = '12p'\nsize = '200p'\ncross = '1mbit'\nruns = 2\n";
    let scenario = Scenario::resolve(&parse_file(text).expect("a file").options).expect("a scenario");
    let choices = parse_choices("slow-start:as=slow,paced").expect("schemes");
    let raced = race(&scenario, &choices, &How::default()).expect("a race");
    let mean = raced[0].rows.iter().filter_map(|row| row.fct_s.flatten()).sum::<f64>() / 2.0;
    assert!((number(&claims[0].measured) - mean).abs() < 1e-9 * mean);
    assert!(claims[0].ci95.is_some_and(|half| half >= 0.0), "two runs have an interval");
    assert_eq!(claims[1].measured.as_array().map(Vec::len), Some(2), "a value a point");
    assert_eq!(claims[1].ci95, None);
    assert!(claims.iter().all(|claim| claim.status == Status::Holds && claim.habitat == "simulator"));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let of = |name: &str, jobs| {
        results(
            name,
            RACE,
            &["fct_s[slow]", "su_loss[paced]"],
            &Settings { jobs: Some(jobs), ..Settings::default() },
        )
    };
    assert_eq!(of("one", 1), of("three", 3));
}

#[test]
fn braced_words_and_named_paths_vary_the_values_they_represent() {
    let body = "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nsize = '40p'\niw = '2p'\nschemes = ['slow-start:iw={first},as=slow']\n[vary]\n\
                first = ['2p', '20p']\npath = [{ name = 'near', x = '10ms', rtt = '10ms' }, { name = 'far', x = '100ms', rtt = '100ms' }]";
    let values = values(
        "braces",
        body,
        &[
            "at(path=far, fct_s[slow])",
            "at(path=100ms, at(first=2p, fct_s[slow]))",
            "at(first=20p, at(path=near, fct_s[slow]))",
            "at(first=2p, argmax(fct_s[slow]))",
        ],
    );
    let far = values[0].as_array().expect("two values");
    assert!(number(&far[0]) > number(&far[1]), "a larger first window is faster");
    assert_eq!(far[0], values[1]);
    assert!(number(&values[2]) < number(&far[1]));
    assert!((number(&values[3]) - 0.1).abs() < 1e-12, "the place of a named path is its x");
}

#[test]
fn flows_are_samples_with_quantiles_shares_and_bands() {
    let body = "[scenario]\ntopology = 'dumbbell:hosts=3'\nrate = '5mbit'\nrtt = '40ms'\nqueue = '20p'\nflows = 60\narrivals = 'poisson:10'\n\
                size = '20p'\nsizes = 'exponential'\nmixed = true\nwarm-up = 'none'\nschemes = ['slow-start:as=slow', 'paced']";
    let values = values(
        "flows",
        body,
        &[
            "median(flow.throughput_bps[slow]) - throughput_median_bps[slow]",
            "count(flow.throughput_bps[slow])",
            "count(flow.throughput_bps[slow, mixed]) + count(flow.throughput_bps[paced, mixed])",
            "share(flow.exit_cause[slow] == \"none\") + share(flow.exit_cause[slow] != \"none\")",
            "count(where(flow.size_bytes[slow] > 10kB & flow.size_bytes[slow] <= 1MB, flow.fct_s[slow])) + count(where(flow.size_bytes[slow] <= 10kB, flow.fct_s[slow]))",
            "max(where(flow.size_bytes[slow] <= quantile(0.25, flow.size_bytes[slow]), flow.size_bytes[slow])) - quantile(0.25, flow.size_bytes[slow])",
            "pick(0, flow.start_s[slow]) - min(flow.start_s[slow])",
            "flows[slow, mixed] + flows[paced, mixed]",
        ],
    );
    let zero = |at: usize| assert!(number(&values[at]).abs() < 1e-6, "{at}: {}", values[at]);
    zero(0);
    assert_eq!(number(&values[1]).to_string(), "60");
    assert_eq!(number(&values[2]).to_string(), "60");
    assert!((number(&values[3]) - 1.0).abs() < 1e-12);
    assert_eq!(number(&values[4]).to_string(), "60");
    zero(5);
    zero(6);
    assert_eq!(number(&values[7]).to_string(), "60");
}

#[test]
fn series_are_over_time_in_slots_and_changes() {
    let body = "slot = '50ms'\n[scenario]\nrate = '5mbit'\nrtt = '40ms'\nsize = '400p'\nschemes = ['slow-start:as=slow']";
    let values = values(
        "series",
        body,
        &[
            "sum(series.throughput_bps[slow]) * 50ms / 8 / (400 * 1460)",
            "when(series.throughput_bps[slow] > 4mbit)",
            "count(series.sent_s[slow])",
            "max(series.cwnd_bytes[slow]) / 1460",
            "min(diff(series.sent_s[slow]))",
            "held(1ms, series.cwnd_bytes[slow])",
            "last(series.delivered_bytes[slow])",
        ],
    );
    assert!((0.9..=1.0).contains(&number(&values[0])), "all but the last slot: {}", values[0]);
    assert!((0.05..0.5).contains(&number(&values[1])), "{}", values[1]);
    assert!(number(&values[2]) >= 400.0);
    assert!(number(&values[3]) > 20.0);
    assert!(number(&values[4]) >= 0.0);
    assert!(number(&values[5]) > 0.0);
    assert_eq!(number(&values[6]).to_string(), "584000");
}

#[test]
fn a_scripted_flow_has_series_and_longest_measures_its_silence() {
    let flow = |name: &str, start: &str, more: &str| {
        format!("[[scenario.flow]]\nscheme = 'slow-start:as={name}'\nstart = '{start}'\n{more}\n")
    };
    let body = format!(
        "slot = '50ms'\n[scenario]\nrate = '5mbit'\nrtt = '40ms'\navoidance = 'own'\nduration = '8s'\nrate-trace = '0s=5mbit,2s=10kbit,4s=5mbit'\n{}{}{}[vary]\nloss = ['0%', '1%']",
        flow("early", "0s", ""),
        flow("late", "5s", "size = '100p'"),
        flow("late", "5s", "size = '900p'"),
    );
    let values = values(
        "scripted-series",
        &body,
        &[
            "at(loss=0%, longest(series.throughput_bps[early] == 0))",
            "at(loss=0%, longest(series.throughput_bps[early] > 0))",
            "at(loss=0%, last(series.delivered_bytes[late]))",
            "at(loss=0%, longest(series.throughput_bps[early] < 0))",
        ],
    );
    assert!((1.0..=2.0).contains(&number(&values[0])), "a packet takes 1.2 s from 2 s to 4 s: {}", values[0]);
    assert!((1.5..=4.0).contains(&number(&values[1])), "before that, or after it: {}", values[1]);
    assert_eq!(number(&values[2]).to_string(), "146000", "of two flows with one name the first one");
    assert_eq!(number(&values[3]).to_string(), "0");
}

#[test]
fn rounds_are_rows_of_their_own_columns() {
    let body = "[scenario]\nrate = '800kbit'\nrtt = '200ms'\nqueue = '10p'\npacket = '1000B'\nsize = '8p'\nrounds = 3\nidle = '20s'\nclients = 2\n\
                schemes = ['slow-start:restart=ssr,as=ssr', 'slow-start:restart=nssr,as=nssr']";
    let values = values(
        "rounds",
        body,
        &["elapsed_s[ssr] / elapsed_s[nssr]", "burst_packets[nssr] - burst_packets[ssr]"],
    );
    assert!(number(&values[0]) > 1.0 && number(&values[1]) > 0.0, "{values:?}");
}

/// The figure of a text.
fn figure(name: &str, text: &str) -> Figure {
    let folder =
        Folder::with(name, &format!("title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns-2'\n{text}"));
    let ledger = Ledger::read(Registry::builtin(), &folder.0).unwrap_or_else(|error| panic!("{error}"));
    ledger.figures.into_iter().next().expect("a figure")
}

/// The results of the claims of a figure.
fn checked(figure: &Figure) -> Vec<ClaimResult> {
    let results = check(&[figure], &Settings::default()).unwrap_or_else(|error| panic!("{error}"));
    results.into_iter().flat_map(|result| result.claims).collect()
}

/// A claim with this expectation and these further keys.
fn claim(id: &str, measured: &str, expected: &str, keys: &str) -> String {
    format!(
        "[[claim]]\nid = '{id}'\nsays = 's'\ntolerance = 'n'\nmeasured = '{measured}'\nexpected = '{expected}'\n{keys}\n"
    )
}

const FOUR: &str = "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nqueue = '12p'\nsize = '200p'\nschemes = ['slow-start:as=slow', 'paced']\n";

#[test]
fn a_claim_with_a_set_up_is_measured_with_its_keys_and_axes() {
    let text = FOUR.to_owned()
        + "[set-up.fast]\nsays = 'ten times the rate'\nscenario = { rate = '50mbit' }\nvary = { size = ['20p', '200p'] }\n"
        + &claim("here", "fct_s[slow]", "> 0.3", "source = 'text'\nstatus = 'holds'")
        + &claim(
            "there",
            "at(size=20p, fct_s[slow])",
            "> 0.3",
            "source = 'own'\nset-up = 'fast'\nstatus = 'does_not_hold'\nwhy = 'fast'",
        );
    let figure = figure("set-up", &text);
    let claims = checked(&figure);
    assert!(number(&claims[1].measured) < number(&claims[0].measured));
    assert_eq!((claims[0].status, claims[1].status), (Status::Holds, Status::DoesNotHold));
    assert_eq!((claims[0].set_up.as_deref(), claims[1].set_up.as_deref()), (None, Some("fast")));
    assert_eq!((claims[0].own, claims[1].own), (false, true));
    let statuses: Vec<_> = claims.iter().map(|claim| (claim.status, claim.own)).collect();
    assert_eq!(show::counts(&statuses), "1 holds; own claims: 1 does not hold");
    let line = show::with_interval(&claims[1]);
    assert!(line.ends_with(" in the set-up fast"), "{line}");
}

#[test]
fn a_claim_over_an_axis_holds_from_a_value_on() {
    let over = |id: &str, measured: &str, keys: &str| claim(id, measured, "> 0.2", keys);
    let text = FOUR.to_owned()
        + "[vary]\nrtt = ['20ms', '80ms', '160ms']\nsize = ['20p', '40p']\n"
        + &over("a", "max(fct_s[slow])", "source = 'text'\nover = 'rtt'\nfrom = '80ms'\nstatus = 'holds'")
        + &over("b", "min(fct_s[slow])", "source = 'text'\nover = 'rtt'\nfrom = '160ms'\nstatus = 'holds'")
        + &over(
            "c",
            "0 - max(fct_s[slow])",
            "source = 'text'\nover = 'rtt'\nstatus = 'does_not_hold'\nwhy = 'never'",
        )
        + &over("d", "fct_s[slow]", "source = 'text'\nover = 'rtt'\nfrom = '20ms'\nstatus = 'holds'");
    let figure = figure("over", &text);
    let claims = checked(&figure);
    let shapes: Vec<_> = claims.iter().map(|claim| claim.measured.as_array().map(Vec::len)).collect();
    assert_eq!(shapes, [Some(3); 4], "a value for each RTT");
    assert_eq!(claims[3].measured[0].as_array().map(Vec::len), Some(2), "over the axis that is left");
    assert_eq!(claims[0].from.as_deref(), Some("80ms"), "{claims:?}");
    assert_eq!(show::outcome(&claims[0]), "holds from 80 ms");
    assert_eq!((claims[2].from.as_deref(), claims[2].status), (None, Status::DoesNotHold));
    let as_recorded = figure.claims.iter().zip(&claims).map(|(claim, result)| result.is_as_recorded(claim));
    assert_eq!(as_recorded.collect::<Vec<_>>(), [true, false, true, false]);
}

#[test]
fn only_the_points_that_expressions_name_are_run() {
    let runs = |measured: &str| {
        let text = FOUR.to_owned()
            + "[vary]\nrtt = ['20ms', '80ms', '160ms']\nsize = ['20p', '40p']\n"
            + &claim("a", measured, "> 0", "source = 'text'\nstatus = 'holds'");
        let figure = figure(&format!("points-{}", measured.len()), &text);
        let all = AtomicU64::new(0);
        let progress = |_, total, _: &str| all.store(total, Ordering::SeqCst);
        let settings = Settings { jobs: Some(1), progress: &progress, ..Settings::default() };
        check(&[&figure], &settings).unwrap_or_else(|error| panic!("{error}"));
        all.into_inner()
    };
    assert_eq!(runs("max(fct_s[slow])"), 6);
    assert_eq!(runs("max(at(rtt=80ms, fct_s[slow])) + max(at(size=20p, fct_s[slow]))"), 4);
    assert_eq!(runs("at(rtt=80ms, at(size=20p, fct_s[slow]))"), 1);
}

#[test]
fn an_unsettled_claim_is_measured_and_its_reasons_are_measured_again() {
    let tried = "tried = [{ gives = '1', holds = false }, { set-up = 'two', measured = '2', gives = '2.0', holds = true }]";
    let text = "[set-up.two]\nsays = 'it'\n".to_owned()
        + &claim("a", "1", "> 1", &format!("source = 'text'\nstatus = 'unsettled'\nwhy = 'w'\n{tried}"))
        + &claim(
            "b",
            "3",
            "> 3",
            "source = 'text'\nstatus = 'does_not_hold'\nwhy = 'it is 3.1'\nevidence = [{ gives = '3.1' }]",
        );
    let figure = figure("unsettled", &text);
    let claims = checked(&figure);
    assert_eq!((claims[0].status, &claims[0].measured), (Status::Unsettled, &Value::from(1.0)));
    assert_eq!(show::tried(&claims[0])[1], "in the set-up two: 2.0, holds");
    let asked = [(&figure, figure.claims.iter().collect())];
    let found = reasons(&asked, &Settings::default()).expect("values");
    let same: Vec<_> = found.iter().map(|one| (one.of, one.same, one.found.as_str())).collect();
    let wanted = [("tried", true, "1, does not hold"), ("tried", true, "2, holds"), ("evidence", false, "3")];
    assert_eq!(same, wanted);
}

#[test]
fn a_mutant_replaces_schemes_and_measured_texts_wherever_the_file_has_them() {
    let holds = "source = 'text'\nstatus = 'holds'";
    let text = "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nqueue = '12p'\nsize = '200p'\nschemes = ['paced:as=past']\n".to_owned()
        + "[vary]\npath = [{ name = 'one', schemes = ['paced:as=past'] }, { name = 'two', size = '20p' }]\n"
        + "[set-up.both]\nsays = 'both'\nscenario = { schemes = ['slow-start', 'paced:profile=paper,as=past'] }\n"
        + "[mutant.slow]\nsays = 'slow start'\nschemes = { past = 'slow-start' }\n"
        + "[mutant.paced]\nsays = 'itself'\nschemes = { past = 'paced' }\nindistinct = 'it is the same'\n"
        + "[mutant.received]\nsays = 'the wrong column'\nmeasured = { 'packets_lost[past]' = 'packets_sent[past]' }\n"
        + &claim("no-loss", "max(packets_lost[past])", "<= 0", holds)
        + &claim("some", "min(packets_sent[past])", "> 1", holds)
        + &claim("there", "at(path=two, packets_lost[past] - packets_lost[slow-start])", "< 0", &format!("set-up = 'both'\n{holds}"))
        + &claim("rate", "mean(exit_rate_bps[past]) / 1mbit", "> 0", holds)
        + &claim("not", "1", "> 1", "source = 'text'\nstatus = 'does_not_hold'\nwhy = 'no'");
    let figure = figure("mutant", &text);
    let found = mutants(&[&figure], &Settings::default()).expect("values");
    let [paced, received, slow] = found.as_slice() else { panic!("three mutants") };
    assert_eq!(received.fail.join(" "), "no-loss there", "the expressions that have the text are replaced");
    assert!(received.schemes.is_empty() && received.measured.len() == 1);
    let lists = [&slow.fail, &slow.pass, &slow.undefined].map(|ids| ids.join(" "));
    assert_eq!(lists, ["no-loss there", "some", "rate"], "a value that is undefined is not a failure");
    assert!(slow.is_as_recorded() && paced.fail.len() < 3, "{found:?}");
    assert!(MutantResult { fail: Vec::new(), ..paced.clone() }.is_as_recorded());
    assert!(!MutantResult { indistinct: None, fail: Vec::new(), ..paced.clone() }.is_as_recorded());
    assert!(!MutantResult { fail: vec!["a".to_owned()], ..paced.clone() }.is_as_recorded());
}

#[test]
fn numbers_that_vary_over_runs_have_an_interval() {
    let body = "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nqueue = '12p'\nsize = '200p'\ncross = 'poisson:20,5kB'\nruns = 6\nschemes = ['slow-start:as=slow']";
    let claims = results(
        "interval",
        &format!("{body}\n[vary]\nrtt = ['20ms', '80ms']"),
        &["fct_s[slow]", "max(fct_s[slow])", "1"],
        &Settings::default(),
    );
    let ends =
        |claim: &ClaimResult| (claim.low.as_array().map(Vec::len), claim.high.as_array().map(Vec::len));
    assert_eq!(ends(&claims[0]), (Some(2), Some(2)));
    let (low, high, half) = (number(&claims[1].low), number(&claims[1].high), claims[1].ci95.expect("half"));
    assert!((high - low - 2.0 * half).abs() < 1e-6 && low < number(&claims[1].measured));
    assert!(show::with_interval(&claims[1]).contains(" to "), "{}", show::with_interval(&claims[1]));
    assert_eq!((&claims[2].low, &claims[2].high), (&Value::Null, &Value::Null));
    let text = format!("{body}\n")
        + &claim(
            "b",
            "median(fct_s[slow])",
            "> 0",
            "source = 'text'\nstatus = 'holds'\nover-runs = 'before'",
        );
    let before = checked(&figure("before", &text)).remove(0);
    assert!(
        number(&before.low) < number(&before.measured) && number(&before.measured) < number(&before.high)
    );
    assert_eq!(before.ci95, None);
}

#[test]
fn an_undefined_value_is_never_as_expected_and_an_interrupt_checks_nothing() {
    let body = "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nsize = '5p'\nschemes = ['slow-start:as=slow']";
    let claims = results(
        "undefined",
        body,
        &["su_time_s[slow]", "count(defined(su_time_s[slow]))"],
        &Settings::default(),
    );
    assert_eq!((claims[0].status, &claims[0].measured), (Status::DoesNotHold, &Value::Null));
    assert_eq!(number(&claims[1].measured).to_string(), "0");
    let folder = Folder::with(
        "interrupt",
        &format!(
            "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns-2'\n{body}\n[plot]\nkind = 'table'\ny = 'fct_s'\n"
        ),
    );
    let ledger = Ledger::read(Registry::builtin(), &folder.0).expect("a ledger");
    let settings = Settings { interrupted: &|| true, ..Settings::default() };
    let figures: Vec<_> = ledger.figures.iter().collect();
    assert!(check(&figures, &settings).expect_err("interrupted").to_string().contains("interrupted"));
}

#[test]
fn an_interrupt_at_any_check_of_figures_checks_nothing_or_all() {
    let race = "[scenario]\nrate = '10mbit'\nrtt = '40ms'\nsize = '20p'\nruns = 2\nschemes = ['slow-start:as=slow', 'paced']";
    let hosts = "[scenario]\nrate = '10mbit'\nrtt = '40ms'\nsize = '5p'\ntopology = 'dumbbell:hosts=2'\nflows = 3\n\
                 schemes = ['slow-start:as=slow']";
    for (name, body, expression) in [("race", race, "fct_s[slow]"), ("hosts", hosts, "flows[slow]")] {
        let claim = format!(
            "[[claim]]\nid = 'c'\nsays = 's'\nsource = 'text'\nmeasured = '{expression}'\nexpected = '>= 0'\ntolerance = 'n'\nstatus = 'holds'\n"
        );
        let text = format!("title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns-2'\n{body}\n{claim}");
        let folder = Folder::with(&format!("interrupts-{name}"), &text);
        let ledger = Ledger::read(Registry::builtin(), &folder.0).unwrap_or_else(|error| panic!("{error}"));
        let figures: Vec<_> = ledger.figures.iter().collect();
        let checked = |at: u64| {
            let checks = AtomicU64::new(0);
            let interrupted = || checks.fetch_add(1, Ordering::SeqCst) == at;
            let settings = Settings { jobs: Some(1), interrupted: &interrupted, ..Settings::default() };
            let result = check(&figures, &settings).map(|results| format!("{:?}", results[0].claims));
            (result, checks.into_inner() > at)
        };
        let whole = checked(u64::MAX).0.expect("whole");
        let interrupts = (0..).map(checked).take_while(|(_, happened)| *happened);
        let judged = interrupts.map(|(result, _)| match result {
            Ok(result) => assert_eq!(result, whole),
            Err(error) => assert_eq!(error.to_string(), "interrupted"),
        });
        assert!(judged.count() > 3, "too few checks");
    }
}

/// A habitat in which each scheme's throughput is the rate of the path.
struct Moon;

impl Habitat for Moon {
    fn rows(
        &self,
        scenario: &Scenario,
        choices: &[SchemeChoice],
        record: &dyn Fn(&Recording, &str),
        _: &dyn Fn() -> bool,
    ) -> Result<Ran, String> {
        let row = |choice: &SchemeChoice| {
            record(
                &Recording {
                    label: choice.name().to_owned(),
                    delivered: vec![(1_000_000_000, 42)],
                    ..Recording::default()
                },
                "",
            );
            let fields = [
                ("scheme", Value::from(choice.name())),
                ("throughput_bps", scenario.rate.bps().into()),
                ("seed", scenario.seed.into()),
            ];
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let rows: Vec<Record> = choices.iter().map(row).collect();
        let of_population = |row: &Record| {
            let only = ("population".to_owned(), Value::from("only"));
            row.clone().into_iter().chain([only]).collect::<Record>()
        };
        let flows = scenario.population.as_ref().map_or(0, |population| population.flows);
        let flows = (0..flows).flat_map(|_| rows.iter().map(of_population)).collect();
        Ok(Ran { rows, flows })
    }
}

#[test]
fn a_figure_in_another_habitat_has_its_own_keys_rows_and_record() {
    let text = "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns-2'\nchoices = ['here']
[scenario]\nrate = '5mbit'\nsize = '20p'\nschemes = ['slow-start:as=sack', 'paced:as=past']
[[claim]]\nid = 'a'\nsays = 's'\nsource = 'text'\nmeasured = 'throughput_bps[past]'\nexpected = '>= 8mbit'\ntolerance = 'n'\nstatus = 'does_not_hold'\nwhy = 'slow'
[[claim]]\nid = 'b'\nsays = 's'\nsource = 'text'\nmeasured = 'max(series.delivered_bytes[sack])'\nexpected = '= 42 within 0'\ntolerance = 'n'\nstatus = 'does_not_hold'\nwhy = 'more'
[[claim]]\nid = 'c'\nsays = 's'\nsource = 'text'\nmeasured = 'su_loss[sack]'\nexpected = '> 1'\ntolerance = 'n'\nstatus = 'does_not_hold'\nwhy = 'none'
[habitat.live]\nchoices = ['there']\nscenario = { rate = '8mbit', runs = 2 }
[habitat.live.claims]\nb = { status = 'holds' }\na = { status = 'holds' }\nc = { status = 'not_testable', why = 'no air' }\n";
    let folder = Folder::with("moon", text);
    let ledger = Ledger::read(Registry::builtin(), &folder.0).unwrap_or_else(|error| panic!("{error}"));
    assert!(ledger.in_habitat("nowhere").figures.is_empty());
    let there = ledger.in_habitat("live");
    let [figure] = there.figures.as_slice() else { panic!("one figure") };
    assert_eq!((figure.choices.len(), figure.habitat), (2, "live"));
    let settings = Settings { habitat: Some(&Moon), ..Settings::default() };
    let claims = check(&[figure], &settings).expect("results").pop().expect("a figure").claims;
    let told: Vec<_> = claims.iter().map(|claim| (claim.id.as_str(), claim.status)).collect();
    let wanted = [
        ("past/figure-1/a", Status::Holds),
        ("past/figure-1/b", Status::Holds),
        ("past/figure-1/c", Status::NotTestable),
    ];
    assert_eq!(told, wanted);
    assert_eq!((&claims[0].measured, claims[0].habitat.as_str()), (&Value::from(8e6), "live"));
    assert_eq!((&claims[2].measured, claims[2].why.as_str()), (&Value::Null, "no air"));
}

#[test]
fn a_figure_in_another_habitat_may_vary_and_measure_differently() {
    let text = "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'testbed'
[scenario]\nsize = '20p'\nflows = 3\narrivals = 'at:0s,1s,2s'\ntopology = 'dumbbell:hosts=1,ways=onward'\nschemes = ['slow-start:as=sack']
[vary]\nrate = ['5mbit', '8mbit', '9mbit']
[[claim]]\nid = 'a'\nsays = 's'\nsource = 'text'\nexpected = '= 2 within 0'\ntolerance = 'n'\nstatus = 'not_testable'\nwhy = 'no air'
[habitat.kernel]\nvary = { rate = ['1mbit', '2mbit'] }
[habitat.kernel.claims]\na = { measured = 'last(count(flow.throughput_bps[sack])) - 1', status = 'holds' }\n";
    let folder = Folder::with("flows", text);
    let ledger = Ledger::read(Registry::builtin(), &folder.0).unwrap_or_else(|error| panic!("{error}"));
    let there = ledger.in_habitat("kernel");
    let [figure] = there.figures.as_slice() else { panic!("one figure") };
    let settings = Settings { habitat: Some(&Moon), ..Settings::default() };
    let claims = check(&[figure], &settings).expect("results").pop().expect("a figure").claims;
    assert_eq!((claims[0].status, &claims[0].measured), (Status::Holds, &Value::from(2.0)), "{claims:?}");
    let [here] = ledger.figures.as_slice() else { panic!("one figure") };
    let claims = check(&[here], &Settings::default()).expect("results").pop().expect("a figure").claims;
    assert_eq!(claims[0].status, Status::NotTestable);
}

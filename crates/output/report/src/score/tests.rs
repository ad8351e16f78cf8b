use super::*;
use firstflight_lab::score::score;
use firstflight_lab::{Beside, PathFacts, SweptRow};
use firstflight_measure::{HarmFields, Row, SuCounts};
use firstflight_scenario::{Options, Scenario};

/// Returns a row over a path of 10 Mbit/s and 100 ms. Its packets of 1500 bytes take 1.2 ms each.
fn swept(path: u64, scheme: &str, cross: &str, cost: Option<f64>) -> Record {
    swept_along(path, scheme, &[("cross", cross)], cost)
}

/// Returns a row of a sweep. `more` has further options of its path.
fn swept_along(path: u64, scheme: &str, more: &[(&str, &str)], cost: Option<f64>) -> Record {
    let mut options = Options::default();
    for (key, value) in [("rate", "10mbit"), ("rtt", "100ms"), ("size", "1MB")].iter().chain(more) {
        options.set(key, value).unwrap();
    }
    let path = PathFacts::of(path, &Scenario::resolve(&options).unwrap());
    let row = Row {
        scheme: scheme.into(),
        params: format!("saved={}B", path.path),
        queue_mean_packets: 50.0,
        avoidance: "reno".into(),
        deploy: "alone".into(),
        harm_during_bps: 1e6,
        harm: HarmFields { harm_per_byte: Some(Some(1.5)), ..HarmFields::UNDEFINED },
        loss: Some(0.02),
        ideal_fct_s: Some(Some(1.0)),
        fct_s: Some(cost.map(|cost| cost / 10.0)),
        cost: Some(cost),
        seed: 4,
        ..Row::default()
    };
    record::records(&[SweptRow {
        path,
        beside: Beside::NOT_RACED,
        early: firstflight_lab::EarlyFields::default(),
        row,
    }])
    .unwrap()
    .remove(0)
}

#[test]
fn a_row_is_judged_in_the_units_of_its_path() {
    let of = |cross| judged(&swept(1, "paced", cross, Some(1.5)), 1).unwrap();
    let cbr = of("5mbit");
    assert_eq!((cbr.scheme.as_str(), cbr.seed, cbr.cost), ("paced", 4, Some(1.5)));
    // The queue is 50 packets of 1.2 ms in 100 ms. The harm is a tenth of the rate.
    assert!((cbr.queue.unwrap() - 0.6).abs() < 1e-12 && (cbr.harm_during.unwrap() - 0.1).abs() < 1e-12);
    assert_eq!((of("none").queue, of("none").harm_during), (cbr.queue, None), "nobody to be harmed");
    assert_eq!(
        (of("tcp:2").queue, of("tcp:2").harm_during),
        (None, cbr.harm_during),
        "a queue of others' making"
    );
    assert_eq!((cbr.law.as_str(), cbr.fair), ("reno", None));
    assert!((of("tcp:2").fair.unwrap() - 1.0 / 3.0).abs() < 1e-12, "one of three");
}

/// Returns the judged row of a path. `more` has further options of the path.
fn along(more: &[(&str, &str)]) -> Judged {
    judged(&swept_along(1, "paced", more, Some(1.5)), 1).unwrap()
}

/// A rate trace has no single rate at which a queue drains, or of which harm is a share.
#[test]
fn along_a_trace_of_rates_neither_queue_nor_harm_is_defined() {
    for cross in ["none", "4mbit", "tcp:1"] {
        let row = along(&[("cross", cross), ("rate-trace", "0s=10mbit,2s=5mbit,4s=10mbit")]);
        assert_eq!((row.queue, row.harm_during, row.fair), (None, None, None), "{cross}");
    }
}

/// Half of the bottleneck's rate is unused.
#[test]
fn harm_at_a_policer_is_undefined_and_queue_drain_is_unchanged() {
    let row = along(&[("cross", "tcp:1"), ("policer", "5mbit,64kB")]);
    assert_eq!((row.queue, row.harm_during, row.fair), (None, None, None));
    let row = along(&[("cross", "none"), ("policer", "5mbit,64kB")]);
    assert!((row.queue.unwrap() - 0.6).abs() < 1e-12);
}

#[test]
fn harm_in_a_parking_lot_is_averaged_over_crossed_hops() {
    // The harm of all bottlenecks together is a tenth of the rate.
    for (topology, harm) in [
        ("parking-lot:hops=4", 0.025),
        ("parking-lot:hops=4,cross=through", 0.1),
        ("parking-lot:hops=4,cross=2", 0.1),
    ] {
        let row = along(&[("cross", "tcp:1"), ("topology", topology)]);
        assert!((row.harm_during.unwrap() - harm).abs() < 1e-12, "{topology}: {:?}", row.harm_during);
        assert_eq!(row.fair, Some(0.5), "{topology}");
    }
}

#[test]
fn a_row_without_a_field_is_refused_by_name() {
    let mut record = swept(1, "paced", "none", None);
    record.insert("timeouts".into(), Value::Null);
    assert_eq!(judged(&record, 1).unwrap_err(), "timeouts");
    let mut record = swept(1, "paced", "none", None);
    record.remove("loss");
    assert_eq!(judged(&record, 1).unwrap_err(), "loss");
    let mut record = swept(1, "paced", "none", None);
    record.remove("path_crossings");
    assert_eq!(judged(&record, 1).unwrap_err(), "path_crossings");
}

#[test]
fn a_row_without_sent_data_has_no_loss_but_is_judged() {
    let mut record = swept(1, "paced", "none", None);
    record.insert("loss".into(), Value::Null);
    let row = judged(&record, 1).expect("a row");
    assert_eq!((row.loss, row.cost), (None, None));
}

/// The run may have finished, so it must not count as given up.
#[test]
fn rows_without_an_ideal_or_a_size_are_not_counted_as_unfinished() {
    let mut record = swept(1, "paced", "10mbit", None);
    assert!(has_ideal(&record), "it was given up");
    record.insert("ideal_fct_s".into(), Value::Null);
    assert!(!has_ideal(&record));
    record.remove("ideal_fct_s");
    assert!(!has_ideal(&record) && judged(&record, 1).is_ok());
}

/// Returns rows of two schemes on two paths. One scheme gives up on one of the paths.
pub(crate) fn judged_rows() -> Vec<Judged> {
    let rows = [
        swept(0, "slow-start", "none", Some(2.0)),
        swept(0, "paced", "none", Some(1.5)),
        swept(1, "slow-start", "5mbit", Some(3.0)),
        swept(1, "paced", "5mbit", None),
    ];
    rows.iter().map(|row| judged(row, 1).unwrap()).collect()
}

fn groups() -> Vec<Group> {
    score(&judged_rows())
}

/// Returns the text from its first table on.
fn table(text: &str) -> String {
    text[text.find("\nscheme ").expect(text) + 1..].to_owned()
}

#[test]
fn the_definitions_stand_in_the_documentation_word_for_word() {
    let documentation = include_str!("../../../../../docs/guide/score.md");
    let table = documentation.split_once("<!-- measures -->\n").unwrap().1;
    let table = table.split_once("<!-- end of measures -->").unwrap().0;
    let rows: Vec<String> =
        MEASURES.iter().map(|(name, meaning)| format!("| {name} | {meaning} |\n")).collect();
    assert_eq!(table, format!("| Word | Meaning |\n|---|---|\n{}", rows.concat()));
    for limit in LIMITS {
        assert!(documentation.contains(&format!("- {limit}\n")), "{limit}");
    }
}

#[test]
fn the_table_lists_the_smallest_median_first_and_counts_unfinished_runs() {
    let text = table(&render(&groups(), Some(20), "", &TableStyle::default()));
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(
        lines[2][..8],
        [
            "paced",
            "reno",
            "2",
            "50.0 %",
            "1.50 / >20 / >20",
            "150 / never / never",
            "0 %",
            "2.00 / 2.00 / 2.00"
        ],
        "{text}"
    );
    assert_eq!(
        lines[2][8..],
        [
            "0.600 / 0.600 / 0.600",
            "0 / 0 / 0",
            "1.50 / 1.50 / 1.50",
            "10.0 / 10.0 / 10.0",
            "-",
            "50.0 %",
            "0 %",
            "50.0 %",
            "1.00 / never / never",
            "-"
        ]
    );
    assert_eq!(lines[3][..5], ["slow-start", "reno", "2", "0 %", "2.00 / 3.00 / 3.00"]);
    assert_eq!(lines[3].last(), Some(&"50.0 % faster, 50.0 % slower ?"), "two races tell nothing");
    assert!(
        text.contains("\nCost by cross traffic: median / 90th percentile of n rows a scheme\n"),
        "{text}"
    );
    let none = text
        .lines()
        .position(|line| line.starts_with("scheme ") && line.contains("cbr 30-60 %"))
        .expect(&text);
    assert!(
        text.lines()
            .nth(none + 3)
            .is_some_and(|line| line.contains("1.50 / 1.50") && line.contains(">20 / >20")),
        "{text}"
    );
}

#[test]
fn each_class_has_a_table_with_every_column() {
    let text = table(&render(&groups(), Some(20), "", &TableStyle::default()));
    let at = text
        .lines()
        .position(|line| line == "Of cross traffic: cbr 30-60 %, 1 race: median / 90th / 99th percentile");
    let lines: Vec<&str> = text.lines().skip(at.expect(&text)).collect();
    assert_eq!(lines[2].split_whitespace().next(), Some("scheme"));
    assert_eq!(lines[2].split("  ").filter(|cell| !cell.trim().is_empty()).count(), 18);
    assert!(lines[4].starts_with("slow-start") && lines[4].contains("3.00 / 3.00 / 3.00"), "{text}");
    assert!(lines[5].starts_with("paced") && lines[5].contains(">20 / >20 / >20"), "{text}");
}

#[test]
fn schemes_faster_than_the_first_more_often_are_marked() {
    // On two fifths of the paths, "often" takes so much longer that it has the greater median.
    let costs = |path: u64| match path % 5 {
        0 | 1 => (9.0, 3.0),
        2 => (3.5, 3.6),
        _ => (1.0, 1.5),
    };
    let row = |path: u64, scheme, cost| judged(&swept(path, scheme, "none", Some(cost)), 1).unwrap();
    let rows: Vec<_> = (0..1000)
        .flat_map(|path| [row(path, "often", costs(path).0), row(path, "mostly", costs(path).1)])
        .collect();
    let text = render(&score(&rows), Some(20), "", &TableStyle::default());
    assert!(text.contains("60.0 % faster, 40.0 % slower <"), "{text}");
    assert!(
        text.contains("mostly 3.00, often 3.50 (1 not distinguished; faster more often: often)"),
        "{text}"
    );
}

#[test]
fn a_record_has_every_number_and_null_for_what_is_none() {
    let records = records(&groups());
    let all = &records[0];
    assert_eq!((&all["axis"], &all["scheme"]), (&"all".into(), &"slow-start".into()));
    assert_eq!(
        (&all["cost_median"], &all["cost_p99"], &all["cost_median_low"]),
        (&2.0.into(), &3.0.into(), &Value::Null)
    );
    assert_eq!(
        (&records[1]["cost_p90"], &records[1]["unfinished"], &records[1]["rows"]),
        (&Value::Null, &1.into(), &2.into())
    );
    assert!(records.iter().all(|record| record.len() == all.len()));
}

#[test]
fn paths_in_a_row_are_of_one_draw() {
    let of = |path| judged(&swept(path, "paced", "none", None), 3).unwrap().draw;
    assert_eq!([0, 2, 3, 5, 6].map(of), [0, 0, 1, 1, 2]);
}

/// Returns the score of two schemes with this number of runs on each path.
fn runs(seeds: u64) -> Vec<Group> {
    let again = |row: Judged| (0..seeds).map(move |seed| Judged { seed, ..row.clone() });
    score(&judged_rows().into_iter().flat_map(again).collect::<Vec<_>>())
}

#[test]
fn several_runs_of_a_path_are_tested_as_one() {
    let told = |groups: &[Group]| records(groups)[0]["told_from_first"].clone();
    assert_eq!(
        [told(&runs(1)), told(&runs(3))],
        [Value::from(false), false.into()],
        "two paths tell nothing"
    );
    let text = render(&runs(3), Some(20), "", &TableStyle::default());
    assert!(text.contains("50.0 % slower ?\n") && !text.contains("no test"), "{text}");
}

#[test]
fn a_class_says_of_how_many_rows_its_percentiles_are() {
    assert!(render(&runs(3), Some(20), "", &TableStyle::default()).contains("n=3"));
}

/// Returns rows of fifteen schemes on paths of every class. Each class has a different best scheme.
fn many() -> Vec<Group> {
    let mut rows = Vec::new();
    for (path, cross) in (0..40_u32).zip(["none", "2mbit", "tcp:1", "tcp:4"].into_iter().cycle()) {
        for scheme in 0..15_u32 {
            let cost = 1.5 + f64::from((scheme + 3 * (path % 4)) % 15) / 10.0 + f64::from(path) / 1e3;
            let name = format!("a-scheme-with-a-long-name-{scheme}");
            let row = swept(u64::from(path), &name, cross, (path % 7 > 0).then_some(cost));
            rows.push(judged(&row, 1).unwrap());
        }
    }
    score(&rows)
}

#[test]
fn a_summary_opens_with_the_verdict_and_has_few_lines() {
    use unicode_width::UnicodeWidthStr;

    for groups in [groups(), runs(3), many()] {
        for width in [None, Some(80), Some(120), Some(200)] {
            let style = TableStyle { width, ..TableStyle::default() };
            let text = summary(&groups, Some(20), "10 of 10 parts", &style);
            assert!(text.starts_with("Best by median cost: "), "{text}");
            assert!(text.lines().count() <= 34, "{} lines: {text}", text.lines().count());
            assert!(text.lines().all(|line| width.is_none_or(|width| line.width() <= width)), "{text}");
            let first = &groups[0].by_cost()[0].scheme;
            assert!(
                text.lines().any(|line| line.starts_with(first.as_str()) || line.starts_with("a-scheme")),
                "{text}"
            );
            assert!(text.contains("--full shows"), "{text}");
        }
    }
}

#[test]
fn a_summary_says_where_another_scheme_is_better_and_by_how_much() {
    let text = summary(&many(), Some(20), "", &TableStyle::default());
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("Where another")).skip(4).collect();
    assert!(rows[0].starts_with("cross traffic: "), "{text}");
    let none = summary(&groups(), Some(20), "", &TableStyle::default());
    assert!(none.contains("In no class does another scheme"), "two races tell nothing: {none}");
}

#[test]
fn score_columns_are_selected_by_record_field_names() {
    let columns = Columns::Chosen(["cost_p90", "harm_per_byte", "rows"].map(str::to_owned).to_vec());
    let style = TableStyle { columns, ..TableStyle::default() };
    let text = table(&render(&groups(), Some(20), "", &style));
    let words = |at: usize| text.lines().nth(at).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(
        (words(0), words(3)[..2].to_vec()),
        (vec!["scheme", "cost_p90", "harm", "rows"], vec!["slow-start", "3.00"])
    );
    let fields = fields(&groups());
    for field in ["cost", "cost_median", "told_from_first", "class"] {
        assert!(fields.iter().any(|one| one == field), "{field} in {fields:?}");
    }
}

/// Returns the rows of a scheme that needs the help `deploy`. `cost` returns the cost on each path.
fn helped(scheme: &str, deploy: &str, law: &str, cost: impl Fn(u64) -> f64) -> Vec<Judged> {
    let row = |path| judged(&swept(path, scheme, "none", Some(cost(path))), 1).unwrap();
    (0..20).map(|path| Judged { deploy: deploy.into(), law: law.into(), ..row(path) }).collect()
}

/// Returns the rows of a scheme that never left start-up. `counts` is its growth class, and `bytes` is the cost of byte-counting slow
/// start.
fn grown(scheme: &str, counts: SuCounts, cost: f64, bytes: f64) -> Vec<Judged> {
    let as_grown = |row| Judged { counts, never_left: true, beside: Some(Some(bytes)), ..row };
    helped(scheme, "alone", "reno", |_| cost).into_iter().map(as_grown).collect()
}

#[test]
fn byte_counting_gain_is_not_credited_to_swept_schemes() {
    let said = |bytes: f64| {
        let rows = [grown("h", SuCounts::Bytes, 1.2, bytes), grown("s", SuCounts::Acks, 1.6, bytes)];
        verdict(&score(&rows.concat())[0], ">20")
    };
    assert_eq!(
        said(1.2),
        "No scheme beats byte-counting slow start by median cost: h (reno) 1.20. Worst: s (reno) 1.60.\n\
         note: harm per byte, median / p90: h 1.50 / 1.50.\n\
         note: h never exited start-up and is no better than byte-counting slow start (a median cost of 1.20).\n\
         note: s counts ACKs; slow-start-counts = \"bytes\" in the sweep makes all schemes count bytes.\n\
         note: most often within 1 % of the best of a race: h 100 %."
    );
    assert!(
        said(1.4).starts_with("Best by median cost: h (reno) 1.20. ")
            && said(1.4)
                .contains("note: byte-counting slow start: a median cost of 1.40.\nnote: s counts ACKs; "),
        "{}",
        said(1.4)
    );
    // Only a tenth of the rows have a reference. In the other nine tenths, the gain is the scheme's own.
    let mut rows = [grown("h", SuCounts::Bytes, 1.2, 1.2), grown("s", SuCounts::Acks, 1.6, 1.2)].concat();
    for row in rows.iter_mut().filter(|row| row.path.path >= 2) {
        (row.beside, row.counts) = (None, SuCounts::Either);
    }
    let line = verdict(&score(&rows)[0], ">20");
    assert!(
        line.starts_with("Best by median cost: h (reno)")
            && line.contains("(a median cost of 1.20 over the 2 of 20 races that it ran in"),
        "{line}"
    );
}

#[test]
fn score_records_contain_counting_kind_and_byte_counting_reference_cost() {
    let rows = [grown("h", SuCounts::Bytes, 1.2, 1.4), grown("s", SuCounts::Acks, 1.6, 1.4)].concat();
    let records = records(&score(&rows));
    let of = |field: &str| records[0].get(field).cloned().unwrap();
    assert_eq!(
        (of("scheme"), of("su_counts"), of("bytes_cost_rows")),
        ("h".into(), "bytes".into(), 20.into())
    );
    assert_eq!(of("bytes_cost_median"), Value::from(1.4));
}

#[test]
fn the_verdict_names_the_best_what_help_adds_and_the_worst() {
    let rows = [
        helped("asks", "router-help", "reno", |_| 1.2),
        helped("own", "alone", "cubic", |_| 1.5),
        helped("close", "alone", "cubic", |path| if path == 0 { 1.6 } else { 1.5 }),
        helped("remembers", "memory", "reno", |_| 1.7),
        helped("last", "alone", "reno", |_| 3.0),
    ];
    assert_eq!(
        verdict(&score(&rows.concat())[0], ">20"),
        "Best without help by median cost: own (cubic) 1.50. Worst: last (reno) 3.00.\n\
         note: with router help, asks (reno) 1.20.\n\
         note: memory shows no gain: remembers (reno) 1.70.\n\
         note: harm per byte, median / p90: own 1.50 / 1.50, asks 1.50 / 1.50.\n\
         note: the sign test race by race does not distinguish close from own.\n\
         note: avoidance laws differ (cubic, reno); avoidance = \"reno\" in the sweep compares start-ups alone.\n\
         note: most often within 1 % of the best of a race: asks 100 %."
    );
    let chance = [
        helped("asks", "router-help", "reno", |path| if path < 11 { 1.2 } else { 1.6 }),
        helped("own", "alone", "reno", |_| 1.5),
    ];
    let said = verdict(&score(&chance.concat())[0], ">20");
    assert!(
        said.contains(
            "\nnote: with router help, asks (reno) 1.20, which the sign test does not distinguish from chance.\n"
        ),
        "{said}"
    );
    assert!(
        verdict(&score(&helped("only", "memory", "reno", |_| 2.0))[0], ">20")
            .starts_with("Best by median cost, with memory: only (reno) 2.00.")
    );
}

#[test]
fn rows_of_versions_without_deployment_needs_are_refused_by_name() {
    let mut record = swept(1, "paced", "none", None);
    record.remove("deploy");
    assert_eq!(judged(&record, 1).unwrap_err(), "deploy");
}

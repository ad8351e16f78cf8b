//! Schemes, laws and restart policies from outside the tree, by the names of a registry.

use firstflight::avoidance::Reno;
use firstflight::registry::{
    Ability, AnyLaw, AnyRestart, AnyScheme, LawEntry, Needs, Registry, RestartEntry, SchemeEntry,
};
use firstflight::restart::Rfc5681;
use firstflight::schemes::SlowStart;
use firstflight_lab::{How, Sweep, race};
use firstflight_scenario::{
    ByName, Scenario, SchemeChoice, over_restarts, parse_choices, parse_file, trace_header,
};

const MINE: Registry = Registry::builtin().with_schemes(&[SCHEME]).with_laws(&[LAW]).with_restarts(&[POLICY]);

const SCHEME: SchemeEntry = SchemeEntry {
    name: "mine",
    summary: "slow start in a box",
    source: "this test",
    law: "my-law",
    parameters: &[],
    needs: Needs::of(&[Ability::AckClock]),
    make: |initial, _| AnyScheme::outside(SlowStart::new(initial)),
};

const LAW: LawEntry = LawEntry {
    name: "my-law",
    summary: "Reno in a box",
    source: "this test",
    needs: Needs::of(&[Ability::AckClock]),
    make: || AnyLaw::outside(Reno::new()),
};

const POLICY: RestartEntry = RestartEntry {
    name: "my-policy",
    summary: "RFC 5681's in a box",
    source: "this test",
    parameters: &[],
    needs: Needs::of(&[Ability::AckClock]),
    make: |initial, _| AnyRestart::outside(Rfc5681::new(initial)),
};

const PATH: &str =
    "rate = \"10mbit\"\nrtt = \"50ms\"\nqueue = \"20p\"\nsize = \"300kB\"\ncross = \"tcp:1\"\n";

/// Completion time and packets sent of each scheme over the path of `file`.
fn raced(registry: Registry, file: &str) -> Vec<(String, String, Option<f64>, u64)> {
    let file = registry.parse_file(file).expect("a file");
    let (list, _) = file.schemes.clone().expect("schemes");
    let choices = registry.parse_choices(&list).expect("schemes");
    let choices = over_restarts(choices, &file.options).expect("policies");
    let scenario = Scenario::resolve(&file.options).expect("a path");
    let results = race(&scenario, &choices, &How::default()).expect("a race");
    let rows = results.into_iter().flat_map(|result| result.rows);
    rows.map(|row| (row.scheme, row.avoidance, row.fct_s.flatten(), row.packets_sent)).collect()
}

#[test]
fn boxed_schemes_and_laws_give_the_same_rows_as_built_in_ones() {
    let mine = raced(MINE, &format!("{PATH}avoidance = \"own\"\nschemes = [\"slow-start\", \"mine\"]\n"));
    assert_eq!((mine[0].2, mine[0].3), (mine[1].2, mine[1].3));
    assert_eq!((mine[0].1.as_str(), mine[1].1.as_str()), ("reno", "my-law"));
    let forced =
        format!("{PATH}avoidance = \"my-law\"\nrestart = \"my-policy\"\nschemes = [\"slow-start\"]\n");
    let forced = raced(MINE, &forced);
    assert_eq!((forced[0].2, forced[0].3), (mine[0].2, mine[0].3), "the cross traffic has the law, too");
    assert_eq!(forced[0].1, "my-law");
    let own = raced(
        MINE,
        &format!(
            "{PATH}avoidance = \"own\"\nschemes = [\"slow-start:avoidance=my-law,restart=my-policy\"]\n"
        ),
    );
    assert_eq!((own[0].2, own[0].1.as_str()), (mine[0].2, "my-law"));
}

#[test]
fn all_is_the_added_ones_too_and_policies_make_rows() {
    let all = MINE.parse_choices("all").expect("all");
    assert_eq!(all.last().map(SchemeChoice::name), Some("mine"));
    let mut options = MINE.options();
    options.set("restart", "rfc5681,my-policy").expect("policies");
    let rows = over_restarts(MINE.parse_choices("mine").expect("a scheme"), &options).expect("rows");
    let names: Vec<&str> = rows.iter().map(SchemeChoice::name).collect();
    assert_eq!(names, ["mine+rfc5681", "mine+my-policy"]);
}

#[test]
fn names_of_another_registry_are_refused() {
    assert!(parse_choices("mine").is_err());
    assert!(parse_file("avoidance = \"my-law\"\n").is_err());
    assert!(parse_choices("slow-start:avoidance=my-law").is_err());
    let error = MINE.parse_choices("mne").expect_err("unknown").to_string();
    assert!(error.contains("is `mine` meant?"), "{error}");
    let error = MINE.parse_file("avoidance = \"his-law\"\n").expect_err("unknown").to_string();
    assert!(error.contains("`bbr-cruise` and `my-law`"), "{error}");
    let error = MINE.parse_restarts("my-polcy").expect_err("unknown").to_string();
    assert!(error.contains("is `my-policy` meant?"), "{error}");
}

#[test]
fn a_sweep_and_a_trace_take_the_names_of_their_registry() {
    let text = "schemes = [\"mine\"]\n[path]\nrate = \"10mbit\"\navoidance = [\"reno\", \"my-law\"]\n";
    let sweep = Sweep::parse(MINE, text).expect("a sweep");
    assert_eq!(sweep.scenario(1).expect("a path").avoidance, Some("my-law"));
    assert!(Sweep::parse(Registry::builtin(), text).is_err());
    let choice = MINE.parse_choices("mine").expect("a scheme").remove(0);
    let header = trace_header(&sweep.scenario(1).expect("a path"), &choice);
    assert!(MINE.controller_of(&header).is_ok());
    assert!(Registry::builtin().controller_of(&header).is_err());
    assert_eq!(MINE.header_for(&header, "slow-start").expect("a header").avoidance, "reno");
}

#[test]
fn a_registry_is_no_part_of_a_scenarios_hash() {
    let hash = |registry: Registry| {
        Scenario::resolve(&registry.parse_file(PATH).expect("a file").options).expect("a path").hash()
    };
    assert_eq!(hash(MINE), hash(Registry::builtin()));
}

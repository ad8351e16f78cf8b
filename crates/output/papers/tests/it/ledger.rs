//! The embedded ledger: every row of the checklist is accounted for, and names are found.

use std::collections::{BTreeMap, BTreeSet};

use firstflight::registry::Registry;
use firstflight_papers::{Ledger, PAPERS};

fn ledger() -> Ledger {
    Ledger::embedded(Registry::builtin()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_checklist_has_every_row_of_every_paper_once() {
    let rows = ledger().rows;
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "a row is there twice");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *counts.entry(row.id.split('/').next().unwrap_or_default()).or_default() += 1;
    }
    let wanted = [
        ("past", 32),
        ("rbp", 11),
        ("hystart", 26),
        ("adaptive-start", 13),
        ("quick-start", 12),
        ("bbr", 22),
    ];
    assert_eq!(counts, BTreeMap::from(wanted));
}

#[test]
fn every_row_is_in_the_ledger_or_says_why_it_is_not() {
    let ledger = ledger();
    let mut named = BTreeSet::new();
    for row in &ledger.rows {
        let ways = [!row.files.is_empty(), row.diagram, row.later.is_some()];
        assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{}: files, diagram or later", row.id);
        assert_eq!(row.missing().is_some(), row.files.is_empty(), "{}", row.id);
        for file in &row.files {
            assert!(
                ledger.figures.iter().any(|figure| figure.name() == *file),
                "{}: there is no {file}",
                row.id
            );
            named.insert(file.clone());
        }
    }
    for figure in &ledger.figures {
        assert!(named.contains(&figure.name()), "no row names {}", figure.name());
    }
}

#[test]
fn ledger_entries_are_found_by_name_and_near_misses_get_suggestions() {
    let ledger = ledger();
    assert!(!ledger.find("past").expect("a paper").is_empty());
    assert_eq!(ledger.find("past/figure-8b").expect("a figure").len(), 1);
    let found = ledger.find("past/figure-8b/no-startup-loss").expect("a claim");
    assert_eq!(found[0].1, Some("no-startup-loss"));
    let fault = |id: &str| ledger.find(id).expect_err(id).to_string();
    assert_eq!(fault("pasd"), "there is no paper `pasd`; is `past` meant?");
    assert_eq!(fault("past/figure-8bb"), "there is no figure `past/figure-8bb`; is `past/figure-8b` meant?");
    assert!(fault("past/figure-8b/no-start-up-loss").ends_with("is `past/figure-8b/no-startup-loss` meant?"));
    assert!(
        fault("nonsense").starts_with("there is no paper `nonsense`; there are `past`"),
        "{}",
        fault("nonsense")
    );
}

#[test]
fn figures_are_listed_by_paper_and_number() {
    let ledger = ledger();
    let paper = |name: &str| PAPERS.iter().position(|(paper, _)| *paper == name);
    assert!(ledger.figures.is_sorted_by_key(|figure| paper(&figure.paper)));
    let place = |name: &str| ledger.figures.iter().position(|figure| figure.name() == name);
    if let (Some(eight), Some(eleven)) = (place("past/figure-8b"), place("past/figure-11")) {
        assert!(eight < eleven);
    }
}

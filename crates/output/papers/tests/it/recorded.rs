//! The records of golden/papers agree with the files, and with what the fast figures measure now.

use std::collections::{BTreeMap, BTreeSet};

use firstflight::registry::Registry;
use firstflight_papers::{ClaimResult, Figure, HABITATS, Ledger, PAPERS, Settings, check, golden};

/// The recorded results, by identifier.
fn recorded() -> BTreeMap<String, ClaimResult> {
    let texts = PAPERS.iter().filter_map(|(paper, _)| golden::embedded(paper));
    let claims = texts.flat_map(|text| golden::read(text).expect("a recorded paper"));
    claims.map(|claim| (claim.id.clone(), claim)).collect()
}

#[test]
fn every_claim_is_recorded_with_the_status_of_its_file() {
    let ledger = Ledger::embedded(Registry::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let mut recorded = recorded();
    for figure in &ledger.figures {
        for claim in &figure.claims {
            let id = format!("{}/{}", figure.name(), claim.id);
            let found = recorded.remove(&id);
            let found = found.unwrap_or_else(|| panic!("{id} is not in golden/papers; {WRITE}"));
            assert_eq!(found.status, claim.status, "{id}: golden/papers and the file");
        }
    }
    let rest: Vec<_> = recorded.keys().collect();
    assert!(rest.is_empty(), "golden/papers records what is in no file: {rest:?}; {WRITE}");
}

/// The command that writes the records.
const WRITE: &str = "`firstflight paper check --record golden/papers` writes it";

#[test]
fn the_fast_figures_measure_what_is_recorded() {
    let ledger = Ledger::embedded(Registry::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let fast: Vec<&Figure> = ledger.figures.iter().filter(|figure| figure.fast).collect();
    assert!(!fast.is_empty(), "no figure is fast");
    let results = check(&fast, &Settings::default()).unwrap_or_else(|error| panic!("{error}"));
    let recorded = recorded();
    for claim in results.into_iter().flat_map(|result| result.claims) {
        assert_eq!(Some(&claim), recorded.get(&claim.id), "{}", claim.id);
    }
}

#[test]
fn every_mutant_is_recorded_with_claims_that_hold_in_its_file() {
    let ledger = Ledger::embedded(Registry::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let mut recorded = golden::mutants().expect("recorded mutants").into_iter();
    for figure in &ledger.figures {
        for mutant in &figure.mutants {
            let found = recorded
                .next()
                .unwrap_or_else(|| panic!("{}: {} is not recorded", figure.name(), mutant.name));
            assert_eq!((&found.figure, &found.mutant), (&figure.name(), &mutant.name));
            assert!(found.is_as_recorded(), "{found:?}");
            assert_eq!(found.schemes, mutant.schemes.iter().cloned().collect());
            assert_eq!(found.measured, mutant.measured.iter().cloned().collect());
            let claims: BTreeSet<&String> =
                found.fail.iter().chain(&found.pass).chain(&found.undefined).collect();
            assert_eq!(
                claims,
                mutant.figure.claims.iter().map(|claim| &claim.id).collect(),
                "{}",
                figure.name()
            );
        }
    }
    assert_eq!(recorded.next(), None, "golden/papers/mutants.json records what is in no file");
}

/// This test sends no packet. The golden record of a habitat says on which day and on which machine packets were sent.
#[test]
fn habitat_records_contain_date_load_and_the_status_of_each_claim() {
    let ledger = Ledger::embedded(Registry::builtin()).unwrap_or_else(|error| panic!("{error}"));
    for habitat in HABITATS {
        let there = ledger.in_habitat(habitat);
        assert!(!there.figures.is_empty(), "{habitat} has no figure");
        for (paper, _) in PAPERS {
            let record = golden::Measured::embedded(habitat, paper).expect("a record");
            let mut found: BTreeMap<String, ClaimResult> = BTreeMap::new();
            if let Some(record) = record {
                assert_eq!((record.habitat.as_str(), record.date.len()), (habitat, "2026-11-26".len()));
                assert!(record.load.iter().all(|load| *load >= 0.0) && record.cores > 0, "{paper}");
                found.extend(record.claims.into_iter().map(|claim| (claim.id.clone(), claim)));
            }
            for figure in there.figures.iter().filter(|figure| figure.paper == paper) {
                for claim in &figure.claims {
                    let id = format!("{}/{}", figure.name(), claim.id);
                    let claims =
                        found.remove(&id).unwrap_or_else(|| panic!("{id} is not in golden/papers/{habitat}"));
                    assert_eq!((claims.status, claims.habitat.as_str()), (claim.status, habitat), "{id}");
                }
            }
            assert!(found.is_empty(), "{habitat} records what no file has there: {:?}", found.keys());
        }
    }
}

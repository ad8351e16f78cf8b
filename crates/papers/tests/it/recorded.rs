//! What golden/papers records is what the files say, and what the fast figures still measure.

use std::collections::BTreeMap;

use firstflight::registry::Registry;
use firstflight_papers::{ClaimResult, Figure, Ledger, PAPERS, Settings, check, golden};

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

/// How the records are written.
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

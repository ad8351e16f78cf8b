//! The schemes that quinn can run.

use firstflight::registry::schemes;
use firstflight_quinn::Factory;

#[test]
fn quinn_runs_the_schemes_that_need_a_window_alone() {
    let accepted: Vec<_> =
        schemes().iter().map(|entry| entry.name).filter(|name| Factory::named(name).is_ok()).collect();
    assert_eq!(accepted, ["slow-start", "limited", "vegas", "hystart", "search"]);
}

//! The schemes that noq can run.

use firstflight::registry::schemes;
use firstflight_noq::Factory;

#[test]
fn noq_on_sockets_runs_all_schemes_but_three() {
    let refused: Vec<_> =
        schemes().iter().map(|entry| entry.name).filter(|name| Factory::named(name).is_err()).collect();
    assert_eq!(refused, ["packet-pair", "paced", "quick-start"]);
}

//! Files between two commands over a path, compared with the race over it.

use serde_json::Value;

use crate::common::{firstflight, folder, stderr, stdout, text};
use crate::machine::can_run;
use crate::setting::{noise, run};

/// A path on which HyStart++ makes the same decisions on a busy host. With an RTT of 40 ms its threshold is within the delays of a busy
/// host: next to four busy processes, four of ten transfers lost three times the packets of the others (bench/log.md).
const PATH: &str = "--rate 20mbit --rtt 60ms --queue 100p";

/// Both ends have a real-time priority, because ends that the system wakes late start differently. Of five transfers three agree: in time
/// to a twentieth, in losses to a tenth. Slow start loses an additional packet for each 0.6 ms by which hosts delay the report of the first
/// loss.
#[test]
fn a_transfer_agrees_with_the_race_over_its_path() {
    if !can_run("transfers::a_transfer_agrees_with_the_race_over_its_path", &["chrt"]) {
        return;
    }
    let place = folder("emulate-transfer");
    let (there, target) = (place.join("there"), place.join("f"));
    std::fs::create_dir(&there).expect("a folder");
    std::fs::write(there.join("f"), noise(2_000_000)).expect("a file");
    let program = format!("chrt -f 5 {}", env!("CARGO_BIN_EXE_firstflight"));
    for scheme in ["slow-start", "hystart++"] {
        let race = format!("race {PATH} --size 2MB --schemes {scheme} --json");
        let race = firstflight().args(race.split(' ')).output().expect("it runs");
        let race: Value = serde_json::from_str(&stdout(&race)).expect("a row");
        let get = format!("{program} get {{B}}:4433/f --output {} --force", text(&target));
        let serve =
            format!("exec {program} serve {} --bind 10.0.0.2 --schemes {scheme} --json", text(&there));
        let options = format!("{PATH} --sender b");
        let (output, _) = run(&options, &format!("for n in 1 2 3 4 5; do {get}; done"), &serve);
        let said = stderr(&output);
        let rows: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let rows: Vec<_> = rows.iter().filter(|row| row["scheme"] == scheme).collect();
        assert_eq!(rows.len(), 5, "{said}");
        let agrees = |row: &&&Value| {
            let of = |field: &str| {
                let [one, other] = [*row, &race].map(|row| row[field].as_f64().unwrap_or(f64::INFINITY));
                ((one - other).abs(), other)
            };
            let ((time, whole), (lost, of_race)) = (of("fct_s"), of("packets_lost"));
            time <= 0.05 * whole
                && lost <= (0.1 * of_race).max(3.0)
                && row["exit_cause"] == race["exit_cause"]
        };
        let agreeing = rows.iter().filter(agrees).count();
        assert!(agreeing >= 3, "{scheme}: {agreeing} of 5 agree with {race}: {rows:?}");
    }
    assert!(std::fs::read(&target).expect("a file") == noise(2_000_000));
}

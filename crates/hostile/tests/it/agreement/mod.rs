//! What `inspect` says of a capture is what the simulator says of the run, over random paths with every scheme and law, or
//! the difference has a name.
//!
//! `RACES=5000 SEED=7 cargo test --profile quick -p firstflight-hostile --test it agreement -- --nocapture` compares more of them
//! and prints the table of `docs/inspect.md`. `SHOW=wrong` also prints each difference as the command that makes it again.

mod compare;
mod draw;
mod record;

use std::collections::BTreeMap;

use compare::{Verdict, compare, seen_as, told_at};
use draw::Drawn;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn what_is_told_of_a_capture_is_what_the_simulator_recorded() {
    let (races, seed) = (setting("RACES", 150), setting("SEED", 1));
    let show = std::env::var("SHOW").unwrap_or_default();
    let mut verdicts: BTreeMap<(&str, Verdict), u64> = BTreeMap::new();
    let mut causes: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut errors: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let from = setting("FROM", 0);
    for number in from..from + races {
        let drawn = Drawn::new(seed, number);
        let raced = drawn.resolve().and_then(|(scenario, choice)| {
            Ok((record::race(&scenario, &choice)?, scenario))
        });
        let (raced, scenario) = match raced {
            Ok(raced) => raced,
            Err(error) => {
                println!("REFUSED {drawn}: {error}");
                continue;
            }
        };
        let (record, found) = (&raced.record, &raced.at_sender);
        if record.sends.is_empty() {
            continue;
        }
        let is = record.exit.map_or("none", |exit| exit.cause.name());
        let told = found.exit_cause.unwrap_or("undefined");
        *causes.entry((is.to_owned(), told.to_owned())).or_default() += 1;
        let all = compare(&raced, u64::from(scenario.mss));
        if let (Some(exit), Some(at), Verdict::Agrees) = (record.exit, told_at(found, record), &all[5].1) {
            let round = compare::rtt_at(record, exit.at).max(1);
            let flight = found.exit_flight_bytes.unwrap_or(0);
            errors.entry(seen_as(exit.cause)).or_default().push((
                at.abs_diff(exit.at) as f64 / round as f64,
                flight.abs_diff(exit.cwnd) as f64 / exit.cwnd as f64,
            ));
        }
        for (what, verdict) in all {
            let shown = match &verdict {
                Verdict::Wrong(why) => show == "wrong" || show == *why || show == what,
                Verdict::Nature(why) => show == *why,
                Verdict::Undefined(why) => show == *why,
                Verdict::Agrees => false,
            };
            if shown {
                let exit = record.exit.map(|exit| (exit.at.saturating_sub(record.sends[0].at) as f64 / 1e9, exit.cause.name(), exit.cwnd));
                println!("#{number} {what}: {verdict:?}: {drawn}");
                println!(
                    "    is: exit {exit:?} iw {} again {} timeouts {}",
                    compare::first_flight(record), record.sends.iter().filter(|one| one.is_again).count(), record.timeouts
                );
                println!(
                    "    told: exit {:?} {:?} {:?} iw {:?} {:?} again {:?} timeouts {:?} min_rtt {:?}",
                    found.exit_cause, found.exit_time_s, found.exit_flight_bytes, found.initial_window_segments,
                    found.initial_window_limit, found.retransmitted_segments, found.timeouts_suspected, found.min_rtt_s
                );
            }
            *verdicts.entry((what, verdict)).or_default() += 1;
        }
    }
    for ((is, told), count) in &causes {
        println!("{is:12} {told:16} {count:6}");
    }
    for ((what, verdict), count) in &verdicts {
        println!("{count:6} {what:32} {verdict:?}");
    }
    for (cause, list) in &mut errors {
        let n = list.len();
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (t, t9) = (list[n / 2].0, list[n * 95 / 100].0);
        list.sort_by(|a, b| a.1.total_cmp(&b.1));
        println!("{cause:10} {n:5} time error: median {t:.4} p95 {t9:.3} round trips; window: median {:.3} p95 {:.3}", list[n / 2].1, list[n * 95 / 100].1);
    }
}

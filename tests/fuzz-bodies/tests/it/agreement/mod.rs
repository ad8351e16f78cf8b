//! The results of `inspect` on a capture are those that the simulator reports of the run, over random paths with every scheme and law, or
//! the difference has a name.
//!
//! `RACES=5000 SEED=7 THREADS=2 cargo test --profile quick -p firstflight-fuzz-bodies --test it agreement -- --nocapture` compares more
//! races and prints what `bench/evidence/agreement.py` reads. A difference of no listed class fails, with the command that repeats its
//! race. With `SHOW=` a verdict's reason or a class, or `wrong`, each race with that verdict is printed, with `DETAIL=exit` also the
//! sender's decisions and rounds; `ONLY=` takes the numbers of some races.

mod compare;
mod draw;
mod listed;
mod record;
mod summary;

use draw::Drawn;
use firstflight::registry;
use summary::Summary;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Compares the races of these numbers one after the other.
fn compared(seed: u64, numbers: impl Iterator<Item = u64>) -> Summary {
    let show = std::env::var("SHOW").unwrap_or_default();
    let mut summary = Summary::default();
    let only: Vec<u64> =
        std::env::var("ONLY").unwrap_or_default().split(',').filter_map(|text| text.parse().ok()).collect();
    for number in numbers.filter(|number| only.is_empty() || only.contains(number)) {
        let drawn = Drawn::new(seed, number);
        let made = drawn.resolve().and_then(|(path, choice)| Ok((record::race(&path, &choice)?, path)));
        let (raced, path) = made.unwrap_or_else(|error| panic!("race {number}: {drawn}: {error}"));
        if let Some(raced) = raced {
            summary.add(number, &raced, &drawn, u64::from(path.mss), &show);
        }
    }
    summary
}

#[test]
fn capture_findings_agree_with_the_simulator_records() {
    let (races, seed, threads) = (setting("RACES", 120), setting("SEED", 1), setting("THREADS", 1).max(1));
    let share = |at: u64| (at..races).step_by(usize::try_from(threads).expect("a few threads"));
    let summary = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|at| scope.spawn(move || compared(seed, share(at)))).collect();
        let shares = running.into_iter().map(|one| one.join().expect("no panic"));
        shares.reduce(Summary::joined).expect("a thread at least")
    });
    let schemes: Vec<&str> = registry::schemes().iter().map(|entry| entry.name).collect();
    println!("schemes: {}\n{summary}", schemes.join(" "));
    assert!(
        summary.unexplained.is_empty(),
        "differences of no listed class:\n{}",
        summary.unexplained.join("\n")
    );
}

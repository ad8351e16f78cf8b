//! What `inspect` says of a capture is what the simulator says of the run, over random paths with every scheme and law, or
//! the difference has a name.
//!
//! `RACES=5000 SEED=7 THREADS=2 cargo test --profile quick -p firstflight-hostile --test it agreement -- --nocapture` compares
//! more of them and prints the tables of `docs/inspect.md`. A difference of no listed class fails, with the command that makes its race
//! again. With `SHOW=` a verdict's reason or a class, or `wrong`, each race with that verdict
//! is printed, with `DETAIL=exit` besides the sender's decisions and rounds; `ONLY=` takes the numbers of some races.

mod compare;
mod draw;
mod listed;
mod record;
mod summary;

use draw::Drawn;
use summary::Summary;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The races of these numbers, compared one after the other.
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
fn what_is_told_of_a_capture_is_what_the_simulator_recorded() {
    let (races, seed, threads) = (setting("RACES", 120), setting("SEED", 1), setting("THREADS", 1).max(1));
    let share = |at: u64| (at..races).step_by(usize::try_from(threads).expect("a few threads"));
    let summary = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|at| scope.spawn(move || compared(seed, share(at)))).collect();
        let shares = running.into_iter().map(|one| one.join().expect("no panic"));
        shares.reduce(Summary::joined).expect("a thread at least")
    });
    println!("{summary}");
    assert!(
        summary.unexplained.is_empty(),
        "differences of no listed class:\n{}",
        summary.unexplained.join("\n")
    );
}

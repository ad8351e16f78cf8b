//! Nanoseconds per ACK: of the sender, and of a scoreboard that is a list, at windows from 100 to 100 000 packets.
//!
//! Prints a line for each: `moment,window,scoreboard,nanoseconds_per_ack`, the minimum of at most [`ROUNDS`] measurements of [`ACKS`] ACKs,
//! of which none begins after [`PATIENCE`]. A list is measured twice: with its packets adjacent in memory, and in random places, as they
//! are after long use.
#![allow(
    missing_docs,
    dead_code,
    reason = "gungraun's macros make public items without any, and are not used here"
)]

#[path = "../per_ack/line.rs"]
mod line;
#[path = "../per_ack/list.rs"]
mod list;
#[path = "../per_ack/receiver.rs"]
mod receiver;
#[path = "../per_ack/sender.rs"]
mod sender;

use std::time::{Duration, Instant};

use firstflight_tcp::Recovery;
use sender::Moment;

/// The ACKs of a measurement.
const ACKS: usize = 1_000;
const ROUNDS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(5);

fn main() {
    // `cargo bench` passes `--bench`, a listing of tests does not.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("moment,window,scoreboard,nanoseconds_per_ack");
    for (name, moment) in [("open", Moment::Open), ("sacks", Moment::Sacks), ("repair", Moment::Repair)] {
        for window in [100, 1_000, 10_000, 100_000] {
            let ours = sender::work(Recovery::Sack, window, moment);
            let orderly = list::work(window, moment);
            let scattered: list::Work =
                orderly.iter().map(|(list, acks)| (list.scattered(), acks.clone())).collect();
            say(name, window, "sack", || ours.clone(), sender::on_ack);
            say(name, window, "list", || orderly.clone(), list::on_ack);
            say(name, window, "list-scattered", || scattered.clone(), list::on_ack);
        }
    }
}

/// Measures and prints.
#[expect(clippy::disallowed_methods, reason = "nanoseconds are what it measures")]
fn say<T>(moment: &str, window: u64, scoreboard: &str, work: impl Fn() -> T, on_ack: fn(T) -> T) {
    let measure = |_| {
        let work = work();
        let begin = Instant::now();
        let heard = on_ack(work);
        let nanos = begin.elapsed().as_nanos();
        drop(heard);
        nanos
    };
    let begin = Instant::now();
    let least = (0..ROUNDS).take_while(|_| begin.elapsed() < PATIENCE).map(measure).min().unwrap_or(0);
    println!("{moment},{window},{scoreboard},{}", least / ACKS as u128);
}

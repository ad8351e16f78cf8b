//! Instructions for one ACK, by Callgrind: of the sender at windows from 100 to 1 000 000 packets, and of the
//! controller with each scheme of the registry; and of a scoreboard that is a list, to compare with. Each benchmark is
//! [`ACKS`] ACKs; its set-up is not counted.
#![allow(missing_docs, reason = "gungraun's macros make public items without any")]

mod controller;
mod line;
mod list;
mod sender;

use gungraun::prelude::*;

use controller::{avoidance, startup};
use list::{list_open, list_repair, list_sacks};
use sender::{rack, rack_repair, rack_sacks, rfc6675, rfc6675_repair, rfc6675_sacks};

/// The ACKs of a benchmark.
const ACKS: usize = 1_000;

library_benchmark_group!(
    name = sender_per_ack,
    benchmarks = [rack, rack_sacks, rack_repair, rfc6675, rfc6675_sacks, rfc6675_repair]
);
library_benchmark_group!(name = list_per_ack, benchmarks = [list_open, list_sacks, list_repair]);
library_benchmark_group!(name = controller_per_ack, benchmarks = [startup, avoidance]);
main!(library_benchmark_groups = [controller_per_ack, sender_per_ack, list_per_ack]);

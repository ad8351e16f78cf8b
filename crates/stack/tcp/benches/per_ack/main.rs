//! Instructions per ACK, by Callgrind: of the sender at windows from 100 to 1 000 000 packets, and of the controller with each scheme of
//! the registry; per segment of the receiver; and of a scoreboard and an out-of-order queue that are lists, to compare with. Each benchmark
//! is [`ACKS`] ACKs or segments; its set-up is not counted.
#![allow(missing_docs, reason = "gungraun's macros make public items without any")]

mod controller;
mod line;
mod list;
mod receiver;
mod sender;

use gungraun::prelude::*;

use controller::{avoidance, startup};
use list::{list_between, list_beyond, list_open, list_repair, list_sacks};
use receiver::{receiver_between, receiver_beyond};
use sender::{rack, rack_repair, rack_sacks, rfc6675, rfc6675_repair, rfc6675_sacks};

/// The ACKs of a benchmark.
const ACKS: usize = 1_000;

library_benchmark_group!(
    name = sender_per_ack,
    benchmarks = [rack, rack_sacks, rack_repair, rfc6675, rfc6675_sacks, rfc6675_repair]
);
library_benchmark_group!(name = receiver_per_segment, benchmarks = [receiver_beyond, receiver_between]);
library_benchmark_group!(
    name = list_per_ack,
    benchmarks = [list_open, list_sacks, list_repair, list_beyond, list_between]
);
library_benchmark_group!(name = controller_per_ack, benchmarks = [startup, avoidance]);
main!(library_benchmark_groups = [controller_per_ack, sender_per_ack, receiver_per_segment, list_per_ack]);

//! Holds the native scheme to a trace of a kernel: the facts of each event must lead to the same decision.

#[path = "../../bpf/src/hosted.rs"]
#[expect(
    clippy::inline_always,
    clippy::cast_possible_truncation,
    unreachable_pub,
    dead_code,
    reason = "written for BPF"
)]
mod hosted;

use std::collections::HashMap;
use std::fs;

use crate::for_each_hosted_scheme;
use firstflight::Startup;
use firstflight::schemes::Initial;
use hosted::{Facts, Hosted, Told};

/// Bytes of a record: kind, ports, socket, facts, answer.
const HEAD: usize = 16;
const FACTS: usize = size_of::<Facts>();
const RECORD: usize = HEAD + FACTS + size_of::<Told>();
const BEGAN: u32 = 0;

/// Replays `trace` with the native `scheme`, and says how many decisions are equal.
///
/// # Errors
/// The first decision that differs, or what is wrong with the trace.
pub(crate) fn run(scheme: &str, trace: &str) -> Result<(), String> {
    let bytes = fs::read(trace).map_err(|error| format!("{trace}: {error}"))?;
    if bytes.is_empty() || bytes.len() % RECORD != 0 {
        return Err(format!("{trace}: {} bytes are no whole records of {RECORD}", bytes.len()));
    }
    let count = replay_named(scheme, &bytes)?;
    println!("{scheme}: {count} decisions equal");
    Ok(())
}

macro_rules! by_name {
    ($($name:literal: $word:ident, $scheme:ident, $make:expr;)+) => {
        fn replay_named(scheme: &str, bytes: &[u8]) -> Result<usize, String> {
            use firstflight::schemes::*;

            match scheme {
                $($name => replay::<$scheme>(bytes, $make),)+
                _ => Err(format!("no kernel hosts a scheme `{scheme}`; there are {}", [$($name),+].join(", "))),
            }
        }
    };
}

for_each_hosted_scheme!(by_name);

fn replay<S: Startup>(bytes: &[u8], make: impl Fn(Initial) -> S) -> Result<usize, String> {
    let mut sockets: HashMap<u64, Hosted<S>> = HashMap::new();
    let mut equal = 0;
    for record in bytes.chunks_exact(RECORD) {
        let kind = word(record, 0);
        let socket = long(record, 8);
        let facts = facts(&record[HEAD..]);
        let told = told(&record[HEAD + FACTS..]);
        let native = if kind == BEGAN {
            let (hosted, told) = Hosted::begin(&make, &facts);
            sockets.insert(socket, hosted);
            told
        } else {
            let hosted = sockets.get_mut(&socket).ok_or("the trace lacks the begin of a connection")?;
            hosted.hear(kind, &facts)
        };
        if native != told {
            return Err(format!(
                "after {equal} decisions: kernel {told:?}, native {native:?}, at {kind} {facts:?}"
            ));
        }
        equal += 1;
    }
    Ok(equal)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(four)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(eight)
}

fn facts(bytes: &[u8]) -> Facts {
    let fact = |index: usize| word(bytes, 24 + 4 * index);
    Facts {
        now_us: long(bytes, 0),
        una: long(bytes, 8),
        newest_sent_us: long(bytes, 16),
        mss: fact(0),
        wire: fact(1),
        cwnd: fact(2),
        ssthresh: fact(3),
        flight: fact(4),
        flight_before: fact(5),
        pipe: fact(6),
        delivered: fact(7),
        srtt_us: fact(8),
        rtt_us: fact(9),
        last_rtt_us: fact(10),
        min_rtt_us: fact(11),
        rto_us: fact(12),
        advanced: fact(13),
        acked: fact(14),
        lost: fact(15),
        prior_delivered: fact(16),
        rate_delivered: fact(17),
        rate_interval_us: fact(18),
        rwnd: fact(19),
        backlog: fact(20),
        limit: fact(21),
        newest_starved: fact(22),
        recovering: fact(23),
    }
}

fn told(bytes: &[u8]) -> Told {
    Told {
        rate: long(bytes, 0),
        window: word(bytes, 8),
        ssthresh: word(bytes, 12),
        over: word(bytes, 16),
        pad: word(bytes, 20),
    }
}

//! `firstflight-kernel-parity`: what schemes did in a kernel, held to the native schemes; what the reader of sockets said,
//! held to captures; and the programs that send for it.
//!
//! ```text
//! firstflight-kernel-parity replay SCHEME RECORDS        the native scheme must decide the same on the same facts
//! firstflight-kernel-parity acks RECORDS                 how many ACKs they have
//! firstflight-kernel-parity facts RECORDS CAPTURE        the facts must be those of the same connection's capture
//! firstflight-kernel-parity send ADDRESS NAME BYTES [PAUSE_MS BYTES]...
//!                                                        sends under the congestion control NAME, with pauses
//! firstflight-kernel-parity sink ADDRESS                 takes one connection, and reads it to its end
//! ```

#[path = "../../bpf/src/facts.rs"]
#[expect(clippy::inline_always, unreachable_pub, reason = "written for BPF")]
mod facts;
#[path = "../../bpf/src/hosted.rs"]
#[expect(clippy::inline_always, unreachable_pub, reason = "written for BPF")]
mod hosted;
mod reader;
mod record;
mod replay;
#[path = "../../bpf/src/resident.rs"]
#[expect(clippy::inline_always, unreachable_pub, dead_code, reason = "written for BPF")]
mod resident;
mod traffic;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *words.as_slice() {
        ["replay", scheme, records] => replay::run(scheme, records),
        ["acks", records] => replay::count(records),
        ["facts", records, capture] => reader::run(records, capture),
        ["send", address, name, ref parts @ ..] => traffic::send(address, name, parts),
        ["sink", address] => traffic::sink(address),
        _ => Err("usage: firstflight-kernel-parity replay|acks|facts|send|sink …".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("firstflight-kernel-parity: {message}");
            ExitCode::from(2)
        }
    }
}

//! `firstflight-kernel-parity`: compares decisions of schemes in a kernel with the native schemes, and facts of the
//! reader of sockets with captures; and sends the traffic for both.
//!
//! ```text
//! firstflight-kernel-parity traces SCHEME[:PARAMETER=VALUE,...] RECORDS FOLDER
//!                                                        a trace of each connection, for `firstflight replay`
//! firstflight-kernel-parity acks RECORDS                 how many ACKs they have
//! firstflight-kernel-parity facts RECORDS CAPTURE        the facts must be those of the same connection's capture
//! firstflight-kernel-parity send ADDRESS NAME BYTES [PAUSE_MS BYTES]...
//!                                                        sends under the congestion control NAME, with pauses
//! firstflight-kernel-parity sink ADDRESS                 takes one connection, and reads it to its end
//! ```

mod reader;
mod traffic;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use firstflight::registry::Registry;
use firstflight_kernel_parity::{Kind, Record, records, traces};
use firstflight_scenario::Alone;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *words.as_slice() {
        ["traces", scheme, records, folder] => write_traces(scheme, records, Path::new(folder)),
        ["acks", records] => count(records),
        ["facts", records, capture] => reader::run(records, capture),
        ["send", address, name, ref parts @ ..] => traffic::send(address, name, parts),
        ["sink", address] => traffic::sink(address),
        _ => Err("usage: firstflight-kernel-parity traces|acks|facts|send|sink …".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("firstflight-kernel-parity: {message}");
            ExitCode::from(2)
        }
    }
}

/// Returns the records of a file.
fn read(name: &str) -> Result<Vec<Record>, String> {
    let bytes = fs::read(name).map_err(|error| format!("{name}: {error}"))?;
    records(&bytes).map_err(|error| format!("{name}: {error}"))
}

/// Prints the number of ACKs of start-up or restart in the records.
fn count(name: &str) -> Result<(), String> {
    println!("{}", read(name)?.iter().filter(|record| record.kind == Kind::Acked).count());
    Ok(())
}

/// Writes a trace of each connection into the folder, and prints the number of decisions and ACKs.
fn write_traces(scheme: &str, name: &str, folder: &Path) -> Result<(), String> {
    let hosted = Alone::parse(Registry::builtin(), scheme).map_err(|error| error.to_string())?;
    let all = traces(&hosted, &read(name)?).map_err(|error| format!("{hosted}: {error}"))?;
    for (number, trace) in all.iter().enumerate() {
        let file = folder.join(format!("{}.jsonl", number + 1));
        fs::write(&file, &trace.text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let decisions: u64 = all.iter().map(|trace| trace.decisions).sum();
    let acks: u64 = all.iter().map(|trace| trace.acks).sum();
    println!("{decisions} decisions, of which {acks} at ACKs, in {} connections", all.len());
    Ok(())
}

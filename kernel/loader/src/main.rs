//! `firstflight-kernel`: what `kernel/check` runs; `firstflight kernel` is for people.
//!
//! ```text
//! firstflight-kernel load FOLDER SCHEME[:PARAMETER=VALUE,...] NAME [LAW [RECORDS]]
//!                                       until standard input ends; each event goes to the file RECORDS. Of a kernel before 6.10 the
//!                                       objects are those in FOLDER/6.1
//! ```

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use firstflight::registry::Registry;
use firstflight_kernel::{Abi, Handover, Order, check, load_object};
use firstflight_scenario::Alone;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *words.as_slice() {
        ["load", folder, scheme, name] => run(folder, scheme, name, "cubic", None),
        ["load", folder, scheme, name, law] => run(folder, scheme, name, law, None),
        ["load", folder, scheme, name, law, records] => run(folder, scheme, name, law, Some(records)),
        _ => Err("usage: firstflight-kernel load FOLDER SCHEME[:PARAMETER=VALUE,...] NAME [LAW [RECORDS]]"
            .to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("firstflight-kernel: {message}");
            ExitCode::from(2)
        }
    }
}

/// Loads the scheme from its object in `folder`, prints `ready`, and ends when its standard input ends.
fn run(folder: &str, scheme: &str, name: &str, law: &str, trace: Option<&str>) -> Result<(), String> {
    let handover = Handover::ALL.into_iter().find(|handover| handover.name() == law);
    let handover = handover.ok_or_else(|| format!("there is no law `{law}` to hand over to"))?;
    let scheme = Alone::parse(Registry::builtin(), scheme).map_err(|error| error.to_string())?;
    let mut object = Path::new(folder).to_path_buf();
    if matches!(check(), Ok(Abi::Old)) {
        object.push("6.1");
    }
    object.push(format!("{}.o", scheme.name()));
    let bytes = fs::read(&object).map_err(|error| format!("{}: {error}", object.display()))?;
    let (parameters, is_traced) = (scheme.settings(), trace.is_some());
    let order = Order { scheme: scheme.name(), parameters, name, handover, is_traced };
    let loaded = load_object(&bytes, &order).map_err(|error| error.to_string())?;
    let mut output = trace
        .map(File::create)
        .transpose()
        .map_err(|error| format!("{trace:?}: {error}"))?
        .map(BufWriter::new);
    println!("ready");
    io::stdout().flush().map_err(|error| error.to_string())?;
    let input = std::thread::spawn(|| io::stdin().read_to_end(&mut Vec::new()));
    let mut failed = None;
    let take = |record: &[u8]| {
        if let Some(Err(error)) = output.as_mut().map(|file| file.write_all(record)) {
            failed = Some(error);
        }
    };
    loaded.follow(take, || input.is_finished()).map_err(|error| error.to_string())?;
    drop(loaded);
    if let Some(file) = output.as_mut() {
        file.flush().map_err(|error| error.to_string())?;
    }
    failed.map_or(Ok(()), |error| Err(format!("{trace:?}: {error}")))
}

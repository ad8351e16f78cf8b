//! `firstflight-kernel`: what `kernel/check` runs; `firstflight kernel` is for people.
//!
//! ```text
//! firstflight-kernel load OBJECT NAME [LAW] [TRACE [PARAMETER=VALUE]...]
//!                                       until standard input ends; each event goes to the file TRACE
//! ```
//!
//! A VALUE is a word of the parameter's, or a whole number of nanoseconds, bits a second, bytes, millionths, or of what it counts.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use firstflight::registry::{self, Value};
use firstflight_kernel::{Handover, Order, load_object};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *words.as_slice() {
        ["load", object, name] => run(object, name, "cubic", None, &[]),
        ["load", object, name, law] => run(object, name, law, None, &[]),
        ["load", object, name, law, trace, ref given @ ..] => run(object, name, law, Some(trace), given),
        _ => Err("usage: firstflight-kernel load OBJECT NAME [LAW] [TRACE [PARAMETER=VALUE]...]".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("firstflight-kernel: {message}");
            ExitCode::from(2)
        }
    }
}

/// Loads the scheme of the file `object`, which is named after it, says `ready`, and ends when its standard input ends.
fn run(object: &str, name: &str, law: &str, trace: Option<&str>, given: &[&str]) -> Result<(), String> {
    let handover = Handover::ALL.into_iter().find(|handover| handover.name() == law);
    let handover = handover.ok_or_else(|| format!("there is no law `{law}` to hand over to"))?;
    let bytes = fs::read(object).map_err(|error| format!("{object}: {error}"))?;
    let scheme = Path::new(object).file_stem().unwrap_or_default().to_string_lossy();
    let parameters =
        given.iter().map(|setting| parameter(&scheme, setting)).collect::<Result<Vec<_>, _>>()?;
    let order =
        Order { scheme: &scheme, parameters: &parameters, name, handover, is_traced: trace.is_some() };
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

/// Reads `PARAMETER=VALUE`.
fn parameter(scheme: &str, setting: &str) -> Result<(&'static str, Value), String> {
    let known = registry::scheme(scheme).map(|entry| entry.parameters);
    let known = known.or_else(|| registry::restart(scheme).map(|entry| entry.parameters)).unwrap_or_default();
    let (name, text) = setting.split_once('=').ok_or_else(|| format!("`{setting}` is no PARAMETER=VALUE"))?;
    let parameter = known.iter().find(|parameter| parameter.name == name);
    let parameter = parameter.ok_or_else(|| format!("{scheme} has no parameter {name}"))?;
    let number = || text.parse().ok().and_then(|number| parameter.kind.value(number));
    let value = parameter.kind.word(text).or_else(number);
    let value = value.ok_or_else(|| format!("{name} is {text}, allowed is {}", parameter.kind))?;
    Ok((parameter.name, value))
}

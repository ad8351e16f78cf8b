//! `firstflight-kernel`: start-up schemes in Linux's TCP.
//!
//! ```text
//! firstflight-kernel load OBJECT NAME [LAW] [TRACE]   until it is told to end; each event goes to the file TRACE
//! firstflight-kernel replay SCHEME TRACE              holds the native scheme to a trace
//! ```

mod load;
mod replay;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *words.as_slice() {
        ["load", object, name] => load::run(object, name, "cubic", None),
        ["load", object, name, law] => load::run(object, name, law, None),
        ["load", object, name, law, trace] => load::run(object, name, law, Some(trace)),
        ["replay", scheme, trace] => replay::run(scheme, trace),
        _ => Err("usage: firstflight-kernel load OBJECT NAME [LAW] [TRACE] | replay SCHEME TRACE".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("firstflight-kernel: {message}");
            ExitCode::from(2)
        }
    }
}

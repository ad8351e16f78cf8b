//! Careful Resume for a client of noq: one store for the process, one line for each connection, a file over restarts.
//!
//! `cargo run --example noq-resume -- STORE.json ADDRESS NAME` shows what the store has for a server, and prepares the
//! configuration of a connection to it.

use std::error::Error;
use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use firstflight_noq::resume::{CAPACITY, Key, LIFETIME, Resume, Store};
use noq_proto::TransportConfig;
use noq_proto::congestion::CubicConfig;

#[allow(clippy::disallowed_methods, reason = "a program reads the clock and passes it on")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, address, name] = &arguments[..] else {
        return Err("usage: noq-resume STORE.json ADDRESS NAME".into());
    };
    let store = Arc::new(Store::load(Path::new(file), CAPACITY, LIFETIME)?);
    let key = Key::to_server(address.parse::<IpAddr>()?, name);
    match store.get(&key, now().duration_since(UNIX_EPOCH)?.as_secs()) {
        Some(saved) => println!("{name}: {} bytes in {:?}", saved.window, saved.rtt),
        None => println!("{name}: nothing saved"),
    }

    // For each connection, before `Endpoint::connect_with`:
    let base = TransportConfig::default();
    let transport =
        Resume::<CubicConfig>::new(CubicConfig::default(), Arc::clone(&store), key, now()).transport(&base);
    // client_config.transport_config(transport); the controller saves by itself.
    drop(transport);

    // At the end of the process, and from time to time:
    store.save(Path::new(file))?;
    Ok(())
}

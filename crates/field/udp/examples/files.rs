//! Serves and fetches files with the calls of `firstflight serve` and `get`, so that their cost can be measured without building the
//! command.
//!
//! ```text
//! cargo run --release -p firstflight-udp --example files -- serve 127.0.0.1:4433 DIR [watched] [key] [datagram=BYTES]
//! cargo run --release -p firstflight-udp --example files -- get 127.0.0.1:4433 NAME OUTPUT [key] [datagram=BYTES]
//! ```
//!
//! With `watched`, the server records the trace from which `firstflight serve` computes a row. With `key`, datagrams are sealed. `datagram`
//! is the largest datagram; both ends need it for a path with an MTU above 1500 bytes.

use std::error::Error;
use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use firstflight_udp::files::{CHUNK, Exchange, Folder, Step, TransferError, Way, get};
use firstflight_udp::{Beginning, Key, Listener, Options, Stream, Watch};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["serve", address, folder, ref further @ ..] => serve(address, folder, further),
        ["get", address, name, output, ref further @ ..] => fetch(address, name, output, further),
        _ => Err("usage: files serve ADDRESS DIR [watched] [key] [datagram=BYTES] | \
                  files get ADDRESS NAME OUTPUT [key] [datagram=BYTES]"
            .into()),
    };
    if let Err(error) = done {
        eprintln!("files: {error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

/// A watcher that takes everything and keeps nothing.
struct Nothing;

impl Watch for Nothing {}

fn options(further: &[&str]) -> Result<Options, Box<dyn Error>> {
    let options = Options::new("hystart++:avoidance=cubic")?.set("rwnd", "16MB")?;
    let options = options.send_buffer(16 << 20).whole_send_buffer(true).memory(256 << 20);
    let options = if further.contains(&"key") { options.key(Key::new([7; 32])) } else { options };
    let options = match further.iter().find_map(|word| word.strip_prefix("datagram=")) {
        Some(bytes) => options.largest_datagram(bytes.parse()?),
        None => options,
    };
    let watches = |_: &Beginning<'_>| -> io::Result<Box<dyn Watch>> { Ok(Box::new(Nothing)) };
    Ok(if further.contains(&"watched") { options.watches(Arc::new(watches)) } else { options })
}

fn serve(address: &str, folder: &str, further: &[&str]) -> Result<(), Box<dyn Error>> {
    let folder = Arc::new(Folder::open(Path::new(folder))?);
    for mut stream in Listener::bind(address, &options(further)?)?.incoming() {
        let folder = Arc::clone(&folder);
        thread::spawn(move || {
            let mut exchange = Exchange::new(folder, Way::Send, None);
            let mut room = vec![0; CHUNK];
            let served = loop {
                match exchange.step(&mut stream, &mut room) {
                    Ok(Step::Over(served)) => break Ok(served),
                    Ok(_) => {}
                    Err(error) => break Err(error),
                }
            };
            let stats = stream.stats();
            match served {
                Ok(_) => eprintln!("{} packets, {} of them again", stats.packets_sent, stats.retransmissions),
                Err(error) => eprintln!("{error}"),
            }
        });
    }
    Ok(())
}

fn fetch(address: &str, name: &str, output: &str, further: &[&str]) -> Result<(), Box<dyn Error>> {
    let address = address.to_socket_addrs()?.next().ok_or("no address")?;
    let options = options(further)?;
    let connect = || Stream::connect(address, &options).map_err(TransferError::Connection);
    let got = get(connect, name, Path::new(output), true, &mut |_, _| true)?;
    println!("{} bytes, {}", got.length, got.sha256);
    Ok(())
}

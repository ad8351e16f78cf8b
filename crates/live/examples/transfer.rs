//! Sends bytes from one process to another, checks each, and says how fast and for how much CPU time.
//!
//! ```text
//! cargo run --profile quick -p firstflight-live --example transfer -- serve 127.0.0.1:4433 hystart++
//! cargo run --profile quick -p firstflight-live --example transfer -- send 127.0.0.1:4433 hystart++ 50000000
//! ```
//!
//! The server serves until it is stopped. With `tcp` for the scheme both are the kernel's TCP, for comparison.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use firstflight_live::{Listener, Options, Stream};
use firstflight_wire::payload;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["serve", address, scheme] => serve(address, scheme),
        ["send", address, scheme, bytes] => {
            bytes.parse().map_err(Into::into).and_then(|bytes| send(address, scheme, bytes))
        }
        _ => Err("usage: transfer serve ADDRESS SCHEME | transfer send ADDRESS SCHEME BYTES".into()),
    };
    if let Err(error) = done {
        eprintln!("transfer: {error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn serve(address: &str, scheme: &str) -> Result<(), Box<dyn Error>> {
    if scheme == "tcp" {
        for stream in TcpListener::bind(address)?.incoming() {
            let stream = stream?;
            thread::spawn(move || report(check(&stream)));
        }
        return Ok(());
    }
    for stream in Listener::bind(address, &Options::new(scheme)?)?.incoming() {
        thread::spawn(move || report(check(&stream)));
    }
    Ok(())
}

fn report(result: Result<u64, String>) {
    match result {
        Ok(bytes) => println!("{bytes} bytes, all right"),
        Err(error) => println!("{error}"),
    }
}

/// Reads to the end and compares each byte.
fn check(mut from: impl Read) -> Result<u64, String> {
    let (mut buffer, mut at) = (vec![0; 64 << 10], 0);
    loop {
        match from.read(&mut buffer).map_err(|error| error.to_string())? {
            0 => return Ok(at),
            len if payload::first_difference(at, &buffer[..len]).is_some() => {
                return Err(format!("a wrong byte after {at}"));
            }
            len => at += len as u64,
        }
    }
}

fn send(address: &str, scheme: &str, bytes: u64) -> Result<(), Box<dyn Error>> {
    let data = {
        // Made before the time runs: a megabyte whose lines repeat would not show a byte at a wrong place.
        let mut data = vec![0; usize::try_from(bytes)?];
        payload::fill(0, &mut data);
        data
    };
    let (cpu, begin) = (cpu_time()?, now());
    let (packets, name) = if scheme == "tcp" {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(&data)?;
        stream.shutdown(Shutdown::Write)?;
        stream.read_to_end(&mut Vec::new())?;
        (bytes.div_ceil(1_448), "the kernel's TCP")
    } else {
        let mut stream = Stream::connect(address, &Options::new(scheme)?)?;
        stream.write_all(&data)?;
        stream.finish(Some(Duration::from_mins(2)))?;
        let stats = stream.stats();
        eprintln!(
            "{} packets, {} of them again, {} timeouts",
            stats.packets_sent, stats.retransmissions, stats.timeouts
        );
        (stats.packets_sent, scheme)
    };
    let (cpu, time) = (cpu_time()? - cpu, begin.elapsed().as_secs_f64());
    let megabits = f64::from(u32::try_from(bytes / 125)?) / 1_000.0;
    println!(
        "{name}: {:.0} Mbit/s, {:.2} us of the sender's CPU a data packet",
        megabits / time,
        cpu * 1e6 / f64::from(u32::try_from(packets)?)
    );
    Ok(())
}

/// Seconds of CPU time of this process, user and system. Linux counts them in hundredths: transfers of seconds have exact ones.
fn cpu_time() -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Result<Vec<u32>, _> = fields.skip(11).take(2).map(str::parse).collect();
    Ok(ticks?.into_iter().map(f64::from).sum::<f64>() / 100.0)
}

#[expect(clippy::disallowed_methods, reason = "a program that measures reads a clock")]
fn now() -> Instant {
    Instant::now()
}

//! Sends bytes from one process to another, checks each, and says how fast and for how much CPU time.
//!
//! ```text
//! cargo run --profile quick -p firstflight-udp --example transfer -- serve 127.0.0.1:4433 hystart++
//! cargo run --profile quick -p firstflight-udp --example transfer -- send 127.0.0.1:4433 hystart++ 50000000
//! ```
//!
//! The server runs until it is stopped. With `tcp` as the scheme both ends use the kernel's TCP, for comparison. Keys of the two ends may
//! follow, such as `rwnd=1MB`. At the sender, `singly` hands each datagram to the system by itself ([`Options::batches`]), and `trace=FILE`
//! writes the connection's trace.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use firstflight_udp::{Listener, Options, Stream};
use firstflight_wire::payload;
use rustix::time::{ClockId, clock_gettime};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["serve", address, scheme, ref further @ ..] => serve(address, scheme, further),
        ["send", address, scheme, bytes, ref further @ ..] => {
            bytes.parse().map_err(Into::into).and_then(|bytes| send(address, scheme, bytes, further))
        }
        _ => Err("usage: transfer serve ADDRESS SCHEME [KEY=VALUE …] | \
                  transfer send ADDRESS SCHEME BYTES [singly] [trace=FILE] [KEY=VALUE …]"
            .into()),
    };
    if let Err(error) = done {
        eprintln!("transfer: {error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn serve(address: &str, scheme: &str, further: &[&str]) -> Result<(), Box<dyn Error>> {
    if scheme == "tcp" {
        for stream in TcpListener::bind(address)?.incoming() {
            let stream = stream?;
            thread::spawn(move || report(check(&stream)));
        }
        return Ok(());
    }
    for stream in Listener::bind(address, &options(scheme, further)?)?.incoming() {
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

fn send(address: &str, scheme: &str, bytes: u64, further: &[&str]) -> Result<(), Box<dyn Error>> {
    let data = {
        // Made before the time runs. If the lines of a megabyte repeated, a byte at a wrong place would not show.
        let mut data = vec![0; usize::try_from(bytes)?];
        payload::fill(0, &mut data);
        data
    };
    let (cpu, begin) = (cpu_time(), now());
    let packets = if scheme == "tcp" {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(&data)?;
        stream.shutdown(Shutdown::Write)?;
        stream.read_to_end(&mut Vec::new())?;
        bytes.div_ceil(1_448)
    } else {
        let mut stream = Stream::connect(address, &options(scheme, further)?)?;
        stream.write_all(&data)?;
        stream.finish(Some(Duration::from_mins(2)))?;
        let stats = stream.stats();
        eprintln!(
            "{} packets, {} of them again, {} timeouts",
            stats.packets_sent, stats.retransmissions, stats.timeouts
        );
        stats.packets_sent
    };
    let (cpu, time) = (cpu_time() - cpu, begin.elapsed().as_secs_f64());
    let megabits = f64::from(u32::try_from(bytes / 125)?) / 1_000.0;
    println!(
        "{:.0} Mbit/s, {:.2} us of the sender's CPU a packet",
        megabits / time,
        cpu * 1e6 / f64::from(u32::try_from(packets)?)
    );
    Ok(())
}

fn options(scheme: &str, further: &[&str]) -> Result<Options, Box<dyn Error>> {
    let mut options = Options::new(scheme)?;
    for word in further {
        options = match word.split_once('=') {
            Some(("trace", path)) => {
                let path = path.to_owned();
                options.traces(Arc::new(move |_| Ok(Box::new(BufWriter::new(File::create(&path)?)))))
            }
            Some((key, value)) => options.set(key, value)?,
            None if *word == "singly" => options.batches(false),
            None => return Err(format!("`{word}` is neither `singly` nor KEY=VALUE").into()),
        };
    }
    Ok(options)
}

/// Seconds of CPU time of this process, user and system.
#[expect(clippy::cast_precision_loss, reason = "hours of nanoseconds have exact doubles")]
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[expect(clippy::disallowed_methods, reason = "a program that measures reads a clock")]
fn now() -> Instant {
    Instant::now()
}

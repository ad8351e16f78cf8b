//! Sends bytes over QUIC from one process to another with quinn, checks each, and says how fast and for how much CPU time: what
//! `crates/field/udp/examples/transfer.rs` does with `firstflight-udp` and the kernel's TCP.
//!
//! ```text
//! peers serve 127.0.0.1:4433 certificate.der
//! peers send 127.0.0.1:4433 certificate.der 50000000
//! ```
//!
//! The server makes a key, writes its certificate to the file, and serves until it is stopped. Settings are quinn's defaults: CUBIC,
//! pacing, path MTU discovery up to 1452 bytes, GSO and GRO, with encryption. Each process has one thread.

use std::error::Error;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use firstflight_wire::payload;
use quinn::{ClientConfig, Endpoint, Incoming, ServerConfig};
use rustix::time::{ClockId, clock_gettime};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

type Failure = Box<dyn Error + Send + Sync>;

/// The name in the certificate.
const NAME: &str = "localhost";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match *words {
        ["serve", address, certificate] => runtime.block_on(serve(address.parse()?, certificate)),
        ["send", address, certificate, bytes] => {
            runtime.block_on(send(address.parse()?, certificate, bytes.parse()?))
        }
        _ => Err("usage: peers serve ADDRESS CERTIFICATE | peers send ADDRESS CERTIFICATE BYTES".into()),
    }
}

async fn serve(address: SocketAddr, certificate: &str) -> Result<(), Failure> {
    let own = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])?;
    let der = own.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let config = ServerConfig::with_single_cert(vec![der.clone()], key.into())?;
    let endpoint = Endpoint::server(config, address)?;
    fs::write(certificate, &der)?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async {
            match check(incoming).await {
                Ok(bytes) => println!("{bytes} bytes, all right"),
                Err(error) => println!("{error}"),
            }
        });
    }
    Ok(())
}

/// Reads the first stream of a connection to its end and compares each byte.
async fn check(incoming: Incoming) -> Result<u64, Failure> {
    let connection = incoming.await?;
    let mut stream = connection.accept_uni().await?;
    let (mut buffer, mut at) = (vec![0; 64 << 10], 0);
    while let Some(len) = stream.read(&mut buffer).await? {
        if payload::first_difference(at, &buffer[..len]).is_some() {
            return Err(format!("a wrong byte after {at}").into());
        }
        at += len as u64;
    }
    connection.closed().await;
    Ok(at)
}

async fn send(address: SocketAddr, certificate: &str, bytes: u32) -> Result<(), Failure> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(fs::read(certificate)?))?;
    // Made before the time runs.
    let mut data = vec![0; usize::try_from(bytes)?];
    payload::fill(0, &mut data);
    let (cpu, begin) = (cpu_time(), now());
    let mut endpoint = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
    endpoint.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    let connection = endpoint.connect(address, NAME)?.await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(&data).await?;
    stream.finish()?;
    if stream.stopped().await?.is_some() {
        return Err("the server stopped reading".into());
    }
    let (cpu, seconds) = (cpu_time() - cpu, begin.elapsed().as_secs_f64());
    let path = connection.stats().path;
    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
    let packets = f64::from(u32::try_from(path.sent_packets)?);
    println!(
        "{:.0} Mbit/s, {:.2} us of the sender's CPU a packet, {packets} packets of {} bytes at most, {} lost",
        f64::from(bytes) * 8e-6 / seconds,
        cpu * 1e6 / packets,
        path.current_mtu,
        path.lost_packets
    );
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a program that measures reads a clock")]
fn now() -> Instant {
    Instant::now()
}

/// Seconds of CPU time of this process, user and system.
#[expect(clippy::cast_precision_loss, reason = "hours of nanoseconds have exact doubles")]
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

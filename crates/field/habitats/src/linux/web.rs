//! Runs nginx over the kernel's TCP at host B. Clients at host A request data from it as the scenario says. Background users whose data has
//! the other direction are at host B and use a second nginx at host A.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use firstflight::{Bytes, Span, Time};
use firstflight_emulate::linux::kernel::{RouteMetrics, set, set_route};
use firstflight_emulate::{A, B, Side};
use firstflight_lab as lab;
use firstflight_measure::ideal::ENDLESS;
use firstflight_scenario::{Goal, Options, Scenario, SchemeChoice, parse_file};
use firstflight_sim::{FlowId, Process, Progress, Rounds};
use firstflight_tcp::AckPolicy;
use rustix::mount::{MountFlags, mount};

use super::words::{PORT, Words, command, start, wait_for_start};

/// The names of the programs' roles in their arguments.
pub(super) const SERVER: &str = "web-serve";
pub(super) const CLIENT: &str = "web-ask";

/// The receive window of the simulator's endpoints if none is set. It is so large that it has no effect.
const UNLIMITED: u64 = 1 << 30;
/// The maximum size of socket buffers.
const BUFFER: u64 = 256 << 20;
/// The initial send buffer. It must have room for a back-to-back train of packets, because the kernel lets a buffer grow only with the
/// window.
const SEND_BUFFER: u64 = 4 << 20;
/// The kernel's default minimum RTO.
const MIN_TIMEOUT_MS: u64 = 200;

/// The folder of a host's server. It is in memory, and mounted for this host only.
const ROOT: &str = "/tmp";
/// The size of the server's file in bytes. The file is sparse and takes no memory.
const FILE: u64 = 64 << 30;

/// Returns the path of nginx on this machine.
pub(crate) fn nginx() -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let program = folders.map(|folder| folder.join("nginx")).find(|file| file.is_file());
    program.ok_or_else(|| "there is no nginx on this machine".to_owned())
}

/// Returns the commands of the two hosts of a run. The server's sockets use this congestion control; the client's use the kernel's `reno`.
pub(super) fn commands(
    scenario: &Scenario,
    choice: &SchemeChoice,
    congestion_control: &str,
) -> Result<[Vec<OsString>; 2], String> {
    let program = nginx()?;
    let own = scenario.for_scheme(choice);
    let words = |congestion_control: &str| {
        [
            format!("nginx={}", program.display()),
            format!("congestion-control={congestion_control}"),
            format!("iw={}", own.iw),
            format!("ecn={}", u8::from(own.ecn)),
            format!("timestamps={}", u8::from(own.timestamps)),
            format!("both={}", is_both_ways(scenario)),
            format!("seed={}", scenario.seed),
            format!("limit={}", scenario.limit.nanos()),
            format!("start={}", begin(scenario).nanos()),
            format!("scenario={}", scenario.canonical()),
        ]
    };
    Ok([command(CLIENT, words("reno")), command(SERVER, words(congestion_control))])
}

/// Returns the time at which clients start to send requests. It is zero for a population, whose arrival times count from the beginning of
/// the run.
pub(super) fn begin(scenario: &Scenario) -> Span {
    if scenario.population.is_some() { Span::ZERO } else { start(scenario) }
}

/// Returns whether data flows in both directions.
fn is_both_ways(scenario: &Scenario) -> bool {
    scenario.beside.iter().any(|entry| entry.reverse)
}

/// Configures the host like the scenario's endpoints, as far as the kernel supports it.
fn prepare(side: Side, words: &Words<'_>, scenario: &Scenario) -> Result<(), String> {
    let held = scenario.rwnd.get() < UNLIMITED;
    let sysctls = [
        ("tcp_timestamps", words.of("timestamps")?.to_owned()),
        ("tcp_sack", u8::from(scenario.recovery.uses_sack()).to_string()),
        ("tcp_ecn", words.of("ecn")?.to_owned()),
        ("tcp_no_metrics_save", "1".to_owned()),
        // A buffer that grows with the received data would open the window beyond the limit of the route.
        ("tcp_moderate_rcvbuf", u8::from(!held).to_string()),
        ("tcp_rmem", format!("4096 {BUFFER} {BUFFER}")),
        ("tcp_wmem", format!("4096 {SEND_BUFFER} {BUFFER}")),
    ];
    for (name, value) in sysctls {
        set(name, &value).map_err(|error| error.to_string())?;
    }
    let least = scenario.min_rto.nanos() / 1_000_000;
    let window = u32::try_from(scenario.rwnd.get()).ok().filter(|_| held);
    let metrics = RouteMetrics {
        initial_window: Some(words.number("iw")?),
        quick_acks: scenario.ack == AckPolicy::Every,
        congestion_control: Some(words.of("congestion-control")?),
        receive_window: window,
        least_timeout_ms: u32::try_from(least).ok().filter(|_| least != MIN_TIMEOUT_MS),
    };
    set_route(side, metrics).map_err(|error| format!("the route: {error}"))
}

/// Returns the command that starts nginx to serve a single file.
fn server(words: &Words<'_>) -> Result<Command, String> {
    let says = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    mount("firstflight", ROOT, "tmpfs", MountFlags::empty(), None)
        .map_err(|error| format!("no files in memory: {}", std::io::Error::from(error)))?;
    let site = Path::new(ROOT).join("site");
    fs::create_dir(&site).map_err(says("the server's folder"))?;
    let page = fs::File::create(site.join("page")).map_err(says("the server's file"))?;
    page.set_len(FILE).map_err(says("the server's file"))?;
    let configuration = Path::new(ROOT).join("nginx.conf");
    fs::write(&configuration, self::configuration()).map_err(says("the server's settings"))?;
    let mut command = Command::new(words.of("nginx")?);
    command.args(["-e", "stderr", "-p", ROOT, "-c"]).arg(configuration);
    Ok(command)
}

/// Returns nginx's configuration: one process, connections that stay open as long as clients need them, and headers in one packet with the
/// data that follows.
fn configuration() -> String {
    let mut text = format!(
        "daemon off;\nmaster_process off;\npid {ROOT}/pid;\nerror_log stderr crit;\nevents {{ worker_connections 4096; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  server_tokens off;\n  etag off;\n  \
         keepalive_timeout 86400s;\n  keepalive_requests 1000000;\n  send_timeout 86400s;\n"
    );
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _ = writeln!(text, "  {name}_temp_path {ROOT}/{name};");
    }
    let _ = writeln!(text, "  server {{ listen {PORT} backlog=4096; root {ROOT}/site; }}\n}}");
    text
}

/// Runs the program at host B. It serves data, and it also sends requests if data flows in both directions.
pub(super) fn serve(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    let scenario = scenario(&words)?;
    prepare(Side::B, &words, &scenario)?;
    let mut server = server(&words)?;
    if words.of("both")? != "true" {
        return Err(format!("nginx: {}", server.exec()));
    }
    let mut server = server.spawn().map_err(|error| format!("nginx: {error}"))?;
    ask_for(&words, &scenario, true)?;
    // The run ends when host A's program ends, so nginx must not end first.
    let ended = server.wait().map_err(|error| format!("nginx: {error}"))?;
    Err(format!("nginx ended: {ended}"))
}

/// Runs the program at host A. It sends requests, and it also serves data if data flows in both directions. It prints the port and the size
/// of each reply.
pub(super) fn ask(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    let scenario = scenario(&words)?;
    prepare(Side::A, &words, &scenario)?;
    if words.of("both")? == "true" {
        server(&words)?.spawn().map_err(|error| format!("nginx: {error}"))?;
    }
    ask_for(&words, &scenario, false)
}

/// Returns the scenario in the arguments.
fn scenario(words: &Words<'_>) -> Result<Scenario, String> {
    let file = parse_file(words.of("scenario")?).map_err(|error| error.message)?;
    let options: Options = file.options;
    let scenario = Scenario::resolve(&options).map_err(|error| error.to_string())?;
    Ok(Scenario { seed: words.number("seed")?, ..scenario })
}

/// Sends the requests of the scenario until its limit.
fn ask_for(words: &Words<'_>, scenario: &Scenario, reverse: bool) -> Result<(), String> {
    let server = SocketAddr::from((if reverse { A.v4 } else { B.v4 }, PORT));
    let limit = Duration::from_nanos(words.number("limit")?);
    if reverse {
        wait_for_server(server)?;
    } else {
        wait_for_start(words)?;
    }
    let clock = Clock::start();
    if scenario.population.is_some() {
        let all = lab::arrivals(scenario, &SchemeChoice::slow_start()).map_err(|error| error.to_string())?;
        let own = all.into_iter().filter(|(_, way)| *way == reverse).map(|(process, _)| process);
        return follow(own.collect(), server, clock, limit);
    }
    let asking = match (lab::replies(scenario), scenario.goal) {
        (Some(rounds), _) => {
            let clients = scenario.rounds.map_or(1, |rounds| rounds.clients);
            (0..clients).map(|client| spawn_client(rounds, (client, scenario.seed), server, clock)).collect()
        }
        (None, Goal::Size(size)) => vec![spawn_transfer(size, server)],
        (None, Goal::Duration(_)) => vec![spawn_transfer(Bytes::new(ENDLESS), server)],
    };
    let (done, over) = channel();
    spawn(move || {
        let all: Result<Vec<()>, String> = asking.into_iter().map(join).collect();
        done.send(all.map(drop))
    });
    match over.recv_timeout(limit) {
        Ok(result) => result,
        // A transfer that is incomplete at the limit counts as not finished.
        Err(_) => Ok(()),
    }
}

type Asking = std::thread::JoinHandle<Result<(), String>>;

fn join(asking: Asking) -> Result<(), String> {
    asking.join().map_err(|_| "a client ended".to_owned())?
}

/// The maximum time until the server of the other direction listens. The interval of the checks follows.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

/// Waits for the server of the other direction. It is needed because host A's programs start later than host B's.
fn wait_for_server(server: SocketAddr) -> Result<(), String> {
    let clock = Clock::start();
    while let Err(error) = TcpStream::connect(server) {
        if Duration::from_nanos(clock.now().nanos()) > PATIENCE {
            return Err(format!("the server at host A: {error}"));
        }
        sleep(LOOK);
    }
    Ok(())
}

fn spawn_transfer(size: Bytes, server: SocketAddr) -> Asking {
    spawn(move || Connection::open(server)?.fetch(size.get()))
}

/// Starts a client that fetches one reply in each round, over a single connection.
fn spawn_client(rounds: Rounds, (client, seed): (u32, u64), server: SocketAddr, clock: Clock) -> Asking {
    spawn(move || {
        let mut connection = Connection::open(server)?;
        let mut progress = Progress::new(rounds, FlowId(client), seed);
        progress.start(clock.now());
        while let Some(at) = progress.next() {
            clock.sleep_until(at);
            let Some(round) = progress.begin(at.max(clock.now())) else { continue };
            connection.fetch(rounds.bytes)?;
            progress.ended(clock.now(), rounds.bytes.saturating_mul(u64::from(round) + 1));
        }
        Ok(())
    })
}

/// Opens a connection for each arrival, until the limit or until the last arrival is served.
fn follow(
    mut processes: Vec<Process>,
    server: SocketAddr,
    clock: Clock,
    limit: Duration,
) -> Result<(), String> {
    let end = Time::from_nanos(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    let (over, hears) = channel();
    let mut open = 0_u64;
    loop {
        let now = clock.now();
        if now >= end {
            return Ok(());
        }
        for (number, process) in processes.iter_mut().enumerate() {
            while let Some(arrived) = process.take(now) {
                let over = over.clone();
                open += 1;
                spawn(move || {
                    over.send((number, Connection::open(server).and_then(|mut one| one.fetch(arrived.bytes))))
                });
            }
        }
        let next = processes.iter().filter_map(Process::next).min();
        if next.is_none() && open == 0 {
            return Ok(());
        }
        let until = next.map_or(end, |next| next.min(end));
        let wait = Duration::from_nanos(until.nanos().saturating_sub(clock.now().nanos()));
        match hears.recv_timeout(wait) {
            Ok((number, fetched)) => {
                fetched?;
                open -= 1;
                if let Some(process) = processes.get_mut(number) {
                    process.over(clock.now());
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// A client's clock, which starts when the client begins to send requests.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "real clients ask by the clock")]
    fn start() -> Self {
        Self(Instant::now())
    }

    fn now(self) -> Time {
        Time::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn sleep_until(self, at: Time) {
        sleep(Duration::from_nanos(at.nanos().saturating_sub(self.now().nanos())));
    }
}

/// A client's connection to the server.
struct Connection {
    stream: BufReader<TcpStream>,
    /// The client's port; `None` if the client does not report its replies.
    reported_port: Option<u16>,
}

impl Connection {
    fn open(server: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(server).map_err(|error| format!("connecting: {error}"))?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let port = stream.local_addr().map_err(|error| error.to_string())?.port();
        // Data in the other direction is not measured.
        let reported_port = Some(port).filter(|_| server.ip() == B.v4);
        Ok(Self { stream: BufReader::with_capacity(64 << 10, stream), reported_port })
    }

    /// Requests a reply of this many bytes, header included, reads it, and prints its length.
    fn fetch(&mut self, bytes: u64) -> Result<(), String> {
        let says = |error: std::io::Error| format!("a reply: {error}");
        let body = body(bytes.min(FILE));
        let request = format!("GET /page HTTP/1.1\r\nHost: b\r\nRange: bytes=0-{}\r\n\r\n", body - 1);
        self.stream.get_mut().write_all(request.as_bytes()).map_err(says)?;
        let mut header = 0;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            let read = self.stream.read_line(&mut line).map_err(says)?;
            if read == 0 || (header == 0 && !line.starts_with("HTTP/1.1 206 ")) {
                return Err(format!("the server answers `{}`", line.trim_end()));
            }
            header += read as u64;
        }
        let mut rest = body;
        let mut buffer = vec![0; 64 << 10];
        while rest > 0 {
            let most = usize::try_from(rest).unwrap_or(usize::MAX).min(buffer.len());
            match self.stream.read(&mut buffer[..most]).map_err(says)? {
                0 => return Err(format!("a reply lacks {rest} bytes")),
                read => rest -= read as u64,
            }
        }
        if let Some(port) = self.reported_port {
            println!("{port} {}", header + body);
        }
        Ok(())
    }
}

/// The length of nginx's header in replies to range requests, without the digits of the range's length and last offset.
const HEADER: u64 = 235;

/// Returns the length of the range whose reply has `bytes` bytes including nginx's header. One byte if the header alone is that long.
fn body(bytes: u64) -> u64 {
    let digits = u64::from(bytes.max(1).ilog10() + 1);
    bytes.saturating_sub(HEADER + 2 * digits).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_length_with_header_is_within_four_bytes_below_the_request() {
        let header = |body: u64| HEADER + (body.to_string().len() + (body - 1).to_string().len()) as u64;
        for bytes in [1_000, 10_000, 10_240, 24_000, 100_300, 1_000_000, 10_000_000, ENDLESS.min(FILE)] {
            let body = body(bytes);
            assert!((bytes - 4..=bytes).contains(&(body + header(body))), "{bytes}: {body}");
        }
        assert_eq!([body(1), body(200), body(243)], [1, 1, 2]);
    }
}

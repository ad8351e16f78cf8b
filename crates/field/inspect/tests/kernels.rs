//! Results for captures of real kernels, compared with the values of `ss -ti` from those kernels.
//!
//! The test creates network namespaces: a sender, a router next to it (so that the capture at the sender has the large segments that a card
//! would cut), and a receiver behind a path with a rate, a queue and a delay. If that is not possible, it prints the missing requirement in
//! a line that begins with `skipped`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use firstflight_inspect::{Found, inspect};

/// One transfer over one path.
struct Case {
    name: &'static str,
    control: &'static str,
    rate: &'static str,
    queue: &'static str,
    /// Bytes, then pairs of idle seconds and bytes.
    bytes: &'static [&'static str],
    is_ipv6: bool,
}

/// One way.
const DELAY_S: f64 = 0.02;

/// Maximum delay of the path's script. A packet sent later than this was not on this path: the machine had no time for it.
const LATEST_S: f64 = 0.01;

/// Maximum number of attempts per transfer.
const TRIES: u32 = 4;

const PORT: &str = "5001";

static ALONE: Mutex<()> = Mutex::new(());

/// The kernel's values for the connection, by the words of `ss -ti`.
struct Said {
    /// Samples taken occasionally while data flowed, and at the end.
    samples: Vec<String>,
}

impl Said {
    /// Returns the last value of `word:value` or `word:value,…`.
    fn last(&self, word: &str) -> Option<f64> {
        value(self.samples.last()?, word)
    }

    /// Returns the last value, or zero if the kernel does not print it: counts of zero are left out.
    fn count(&self, word: &str) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        self.last(word).map_or(0, |value| value as u64)
    }

    /// Returns the first threshold that was set.
    fn first_threshold(&self) -> f64 {
        self.samples.iter().find_map(|said| value(said, "ssthresh")).expect("a threshold was set")
    }
}

fn value(said: &str, word: &str) -> Option<f64> {
    let with = |item: &str| item.strip_prefix(word)?.strip_prefix(':').map(str::to_owned);
    let text = said.split_whitespace().find_map(with)?;
    text.split([',', '/']).next()?.parse().ok()
}

/// Returns both shifts of `wscale:theirs,ours`.
fn shifts(said: &str) -> Option<(u8, u8)> {
    let text = said.split_whitespace().find_map(|item| item.strip_prefix("wscale:"))?;
    let (theirs, ours) = text.split_once(',')?;
    Some((theirs.parse().ok()?, ours.parse().ok()?))
}

#[test]
fn a_loss_ends_reno_in_a_short_queue() {
    let case = Case {
        name: "loss",
        control: "reno",
        rate: "20000000",
        queue: "40",
        bytes: &["3000000"],
        is_ipv6: false,
    };
    let Some((found, said)) = run(&case) else { return };
    assert_eq!(found.exit_cause, Some("loss"));
    assert!(said.count("bytes_retrans") > 0, "{:?}", said.samples.last());
    is_twice_the_threshold(&found, &said);
}

#[test]
fn a_delay_or_an_ack_train_ends_cubic_in_a_long_queue() {
    let case = Case {
        name: "hystart",
        control: "cubic",
        rate: "20000000",
        queue: "1000",
        bytes: &["3000000"],
        is_ipv6: false,
    };
    let Some((found, said)) = run(&case) else { return };
    assert_eq!(said.count("bytes_retrans"), 0, "{:?}", said.samples.last());
    assert!(said.last("ssthresh").is_some(), "HyStart sets a threshold: {:?}", said.samples.last());
    assert_eq!(found.exit_cause, Some("flat"));
    assert_eq!(found.pacing, Some("ack-clocked"), "{:?}", found.ack_triggered);
    // HyStart sets the threshold to the window of that moment.
    let threshold = said.last("ssthresh").unwrap_or(0.0);
    let flight = flight(&found);
    assert!((0.8..1.35).contains(&(flight / threshold)), "{flight} in flight, threshold {threshold}");
}

#[test]
fn bbr_is_not_clocked_by_acknowledgements_and_drains() {
    let case = Case {
        name: "bbr",
        control: "bbr",
        rate: "20000000",
        queue: "1000",
        bytes: &["4000000"],
        is_ipv6: false,
    };
    let Some((found, _)) = run(&case) else { return };
    // In start-up Linux paces at 2.89 times the delivery rate: waiting for acknowledgements delays it occasionally.
    assert!(matches!(found.pacing, Some("paced" | "mixed")), "{:?}", found.ack_triggered);
    assert_eq!(found.exit_cause, Some("drain"));
}

#[test]
fn ipv6_is_followed_as_ipv4_is() {
    let case = Case {
        name: "ipv6",
        control: "reno",
        rate: "20000000",
        queue: "40",
        bytes: &["2000000"],
        is_ipv6: true,
    };
    let Some((found, said)) = run(&case) else { return };
    assert_eq!(found.exit_cause, Some("loss"));
    is_twice_the_threshold(&found, &said);
}

#[test]
fn linux_starts_again_after_an_idle_time() {
    let case = Case {
        name: "idle",
        control: "cubic",
        rate: "20000000",
        queue: "1000",
        bytes: &["300000", "2", "300000"],
        is_ipv6: false,
    };
    let Some((found, said)) = run(&case) else { return };
    assert_eq!(found.idle_restarts_total, 1);
    // HyStart ends the start-up of so few packets or not, depending on how late this machine was. If it did not, the packets do not show
    // the end: start-up may have ended before the idle time, or it continues when the capture ends, which is before the FIN.
    if let Some(why) = found.exit_cause {
        assert!(why == "flat" && said.first_threshold() > 0.0, "{why}");
    } else {
        let why = &found.undefined["exit_cause"];
        assert!(
            why.contains("idle time") || why.contains("the capture ends before start-up did"),
            "{:?}",
            found.undefined
        );
    }
    let restart = &found.idle_restarts[0];
    assert!((2.0..2.5).contains(&restart.idle_s), "{restart:?}");
    // tcp_slow_start_after_idle: the window is halved for each elapsed timeout, down to the initial window.
    assert!((10..=12).contains(&restart.window_segments.unwrap_or(0)), "{restart:?}");
}

/// Compares counts to the byte and the segment, and times as closely as a kernel and a clock in user space allow. That holds even on a busy
/// machine.
fn agrees(found: &Found, said: &Said, late: f64) {
    let last = said.samples.last().expect("the connection was seen");
    assert_eq!(found.vantage, Some("sender"));
    assert_eq!(found.mss_bytes, Some(said.count("mss")), "{last}");
    let (theirs, ours) = shifts(last).expect("windows are scaled");
    assert_eq!((found.receiver_window_scale, found.window_scale), (Some(theirs), Some(ours)), "{last}");
    assert_eq!((found.unseen_bytes, found.duplicates), (0, 0));
    assert_eq!(found.bytes_sent.unwrap(), said.count("bytes_sent"), "{last}");
    assert_eq!(found.retransmitted_bytes.unwrap(), said.count("bytes_retrans"), "{last}");
    assert_eq!(found.data_segments_sent.unwrap(), said.count("data_segs_out"), "{last}");
    assert_eq!(found.segments_sent.unwrap(), said.count("segs_out"), "{last}");
    // The kernel counts the SYN among the bytes acknowledged.
    assert_eq!(found.bytes_acked + 1, said.count("bytes_acked"), "{last}");
    assert_eq!(found.initial_window_segments, Some(10), "Linux's initial window, RFC 6928");
    let theirs = said.last("minrtt").expect("a least round trip") / 1e3;
    let ours = found.min_rtt_s.expect("samples");
    assert!((ours - theirs).abs() < 0.0005 + theirs * 0.02, "{ours} s, the kernel says {theirs}");
    let handshake = found.handshake_rtt_s.expect("a handshake");
    assert!((2.0 * DELAY_S..2.0 * DELAY_S + 2.0 * late + 0.005).contains(&handshake), "{handshake}");
}

fn flight(found: &Found) -> f64 {
    let [bytes, mss] = [found.exit_flight_bytes, found.mss_bytes].map(|value| value.unwrap_or(1));
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let segments = bytes as f64 / mss as f64;
    segments
}

/// Checks the flight against the first threshold: Reno halves its window at a loss, so the threshold shows the window.
fn is_twice_the_threshold(found: &Found, said: &Said) {
    let (flight, threshold) = (flight(found), said.first_threshold());
    assert!((1.7..2.15).contains(&(flight / threshold)), "{flight} in flight, threshold {threshold}");
}

/// Runs the case and compares the counts. Returns `None`, and prints the reason, if the machine does not allow that.
fn run(case: &Case) -> Option<(Found, Said)> {
    if let Some(missing) = missing(case) {
        println!("skipped: {missing}, so nothing was compared with a real kernel ({})", case.name);
        return None;
    }
    // One at a time: the path keeps time in user space.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..TRIES {
        let (found, said, late) = transfer(case);
        agrees(&found, &said, late);
        if late < LATEST_S {
            return Some((found, said));
        }
    }
    println!(
        "skipped: the machine is too busy to keep a path's time, so nothing was compared ({})",
        case.name
    );
    None
}

/// Runs one transfer. Returns the results, the kernel's values, and the maximum delay of the path's script.
fn transfer(case: &Case) -> (Found, Said, f64) {
    let world = World::new(case);
    let (near, far) = if case.is_ipv6 { ("fd77:1::1", "fd77:2::2") } else { ("10.77.1.1", "10.77.2.2") };
    let mut receiver = world.python("far", &["transfer.py", "receive", far, PORT]);
    wait_for(&mut receiver, "ready");
    let file = world.folder.join("sender.pcapng");
    let mut capture = world
        .within("near", "dumpcap")
        .args(["-q", "-i", "near", "-s", "128", "-B", "64", "-w"])
        .arg(&file)
        .stderr(Stdio::piped())
        .spawn()
        .expect("dumpcap starts");
    await_line(BufReader::new(capture.stderr.take().expect("a pipe")), "File:");
    sleep(Duration::from_millis(200));
    let arguments = [&["transfer.py", "send", far, PORT, case.control][..], case.bytes].concat();
    let mut sender = world.python("near", &arguments);
    let samples = world.watch(&mut sender, near);
    // The capture takes some time to write what it has.
    sleep(Duration::from_millis(1500));
    world.stop(&mut capture);
    drop(sender.0.stdin.take());
    let inspection = inspect(File::open(&file).expect("a capture"), false).expect("it can be read");
    assert_eq!(inspection.tally.dropped, 0, "the capture missed packets");
    let found = inspection.senders.into_iter().next().expect("a connection").found;
    let late = std::fs::read_to_string(world.folder.join("late")).expect("the path kept it");
    println!("{}: late by {late} s\n{found:#?}\n{:?}", case.name, samples.last());
    (found, Said { samples }, late.parse().unwrap_or(0.0))
}

/// Returns the requirement that the machine lacks.
fn missing(case: &Case) -> Option<String> {
    let works = |program: &str, argument: &str| {
        Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
    };
    for (program, argument) in [("ip", "-V"), ("ss", "-V"), ("python3", "-V"), ("dumpcap", "-v")] {
        if !works(program, argument) {
            return Some(format!("{program} is not installed"));
        }
    }
    if !Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun".to_owned());
    }
    let probe = format!("ff-probe-{}-{}", std::process::id(), case.name);
    let made = ip(&["netns", "add", &probe]);
    let veth = ip(&["-n", &probe, "link", "add", "x", "type", "veth", "peer", "name", "y"]);
    let tun = ip(&["-n", &probe, "tuntap", "add", "mode", "tun", "name", "z"]);
    let known = ip(&["netns", "exec", &probe, "cat", "/proc/sys/net/ipv4/tcp_available_congestion_control"]);
    ip(&["netns", "del", &probe]);
    if !made.status.success() || !veth.status.success() || !tun.status.success() {
        return Some("network namespaces cannot be made here; root can where the kernel has them".to_owned());
    }
    let known = String::from_utf8_lossy(&known.stdout).into_owned();
    let has = known.split_whitespace().any(|name| name == case.control);
    (!has).then(|| format!("the kernel has no {}", case.control))
}

fn ip(arguments: &[&str]) -> Output {
    Command::new("ip").args(arguments).output().expect("ip runs")
}

fn must(arguments: &[&str]) {
    let output = ip(arguments);
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The namespaces of one case, removed when it is over.
struct World {
    name: String,
    folder: PathBuf,
    /// The script that carries the packets.
    path: Option<Script>,
}

/// A script that ends with its owner.
struct Script(Child);

impl Drop for Script {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl World {
    fn new(case: &Case) -> Self {
        let name = format!("ff-{}-{}", std::process::id(), case.name);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{}", case.name));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut world = Self { name, folder, path: None };
        for side in ["near", "router", "far"] {
            must(&["netns", "add", &world.space(side)]);
            must(&["-n", &world.space(side), "link", "set", "lo", "up"]);
        }
        let (near, router, far) = (world.space("near"), world.space("router"), world.space("far"));
        must(&[
            "link", "add", "near", "netns", &near, "type", "veth", "peer", "name", "router", "netns", &router,
        ]);
        let delay = DELAY_S.to_string();
        let late = world.folder.join("late").display().to_string();
        let mut path = script(
            Command::new("python3"),
            &["path.py", &router, &far, case.rate, case.queue, &delay, &late],
        );
        wait_for(&mut path, "ready");
        world.path = Some(path);
        // No duplicate address detection: an address is there at once.
        for (space, device, four, six) in [
            (&near, "near", "10.77.1.1/24", "fd77:1::1/64"),
            (&router, "router", "10.77.1.2/24", "fd77:1::2/64"),
            (&router, "path", "10.77.2.1/24", "fd77:2::1/64"),
            (&far, "path", "10.77.2.2/24", "fd77:2::2/64"),
        ] {
            must(&["-n", space, "addr", "add", four, "dev", device]);
            must(&["-n", space, "addr", "add", six, "dev", device, "nodad"]);
            must(&["-n", space, "link", "set", device, "up"]);
        }
        for (space, four, six) in [(&near, "10.77.1.2", "fd77:1::2"), (&far, "10.77.2.1", "fd77:2::1")] {
            must(&["-n", space, "route", "add", "default", "via", four]);
            must(&["-n", space, "-6", "route", "add", "default", "via", six]);
        }
        world.set("router", "net/ipv4/ip_forward", "1");
        world.set("router", "net/ipv6/conf/all/forwarding", "1");
        // Metrics of one connection must not influence the next; and a start after an idle time follows RFC 2861.
        world.set("near", "net/ipv4/tcp_no_metrics_save", "1");
        world.set("near", "net/ipv4/tcp_slow_start_after_idle", "1");
        world
    }

    fn space(&self, side: &str) -> String {
        format!("{}-{side}", self.name)
    }

    fn set(&self, side: &str, key: &str, value: &str) {
        let write = format!("echo {value} > /proc/sys/{key}");
        let output = self.within(side, "sh").args(["-c", &write]).output().expect("sh runs");
        assert!(output.status.success(), "{write}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn within(&self, side: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.space(side), program]);
        command
    }

    fn python(&self, side: &str, arguments: &[&str]) -> Script {
        script(self.within(side, "python3"), arguments)
    }

    /// Samples the kernel's values for the connection from `address` until the sender reports that all is acknowledged, and a last time
    /// after it.
    fn watch(&self, sender: &mut Script, address: &str) -> Vec<String> {
        let out = BufReader::new(sender.0.stdout.take().expect("a pipe"));
        let (tell, found_of) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            await_line(out, "sent");
            let _ = tell.send(());
        });
        let mut samples = Vec::new();
        let mut is_over = false;
        loop {
            let source = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
            let filter = ["-tinHO", "state", "established", "src", &source, "dport", &format!(":{PORT}")];
            let output = self.within("near", "ss").args(filter).output().expect("ss runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if let Some(line) = said.lines().find(|line| line.contains("cwnd:")) {
                samples.push(line.to_owned());
            }
            if is_over {
                break;
            }
            is_over = found_of.recv_timeout(Duration::from_millis(10)).is_ok();
            assert!(samples.len() < 20_000, "the transfer does not end");
        }
        reader.join().expect("it read");
        samples
    }

    /// Stops the capture as Ctrl-C does: the file is completed.
    fn stop(&self, capture: &mut Child) {
        let stopped = Command::new("kill").args(["-INT", &capture.id().to_string()]).status();
        assert!(stopped.is_ok_and(|status| status.success()), "{}: dumpcap is gone", self.name);
        capture.wait().expect("dumpcap ends");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.path = None;
        for side in ["near", "router", "far"] {
            ip(&["netns", "del", &self.space(side)]);
        }
    }
}

fn script(mut command: Command, arguments: &[&str]) -> Script {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(arguments[0]);
    command.arg(place).args(&arguments[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    Script(command.spawn().expect("python3 starts"))
}

fn wait_for(script: &mut Script, word: &str) {
    await_line(BufReader::new(script.0.stdout.take().expect("a pipe")), word);
}

/// Reads until a line begins with `word`.
fn await_line(from: impl BufRead, word: &str) {
    let found = from.lines().map_while(Result::ok).any(|line| line.trim_start().starts_with(word));
    assert!(found, "it ended without saying {word}");
}

//! The maximum memory of the process, as the system counts it: `firstflight inspect` takes 16 MiB and 2,500 bytes a connection, and a race
//! takes the memory of its window and of the scorecard's intervals, whatever its number of packets.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{firstflight, folder, text};

/// The part of the 16 MiB without connections that is not pages of the program's own file. A test build maps twice as much of its file as a
/// release, and the amount depends on what the system has in memory, so these pages are not counted.
const CONSTANT: u64 = 8 << 20;
const PER_CONNECTION: u64 = 2_500;
const CONNECTIONS: u32 = 10_000;

pub(crate) const SYN: u8 = 2;
pub(crate) const ACK: u8 = 16;
const FIN: u8 = 1;

/// A capture of raw IPv4, in memory.
pub(crate) struct Made(pub(crate) Vec<u8>);

impl Made {
    pub(crate) fn new() -> Self {
        let header = [0xA1B2_3C4D_u32, 2 | 4 << 16, 0, 0, 65_535, 101];
        Self(header.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// Adds a segment of connection `number` with `len` bytes of payload, which the snap length cuts off.
    pub(crate) fn segment(
        &mut self,
        nanos: u64,
        number: u32,
        is_client: bool,
        flags: u8,
        (seq, ack): (u32, u32),
        len: u32,
    ) {
        let options: &[u8] = if flags & SYN == 0 { &[] } else { &[2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1] };
        let header = 40 + u32::try_from(options.len()).unwrap();
        let client = (0x0A00_0000 + (number >> 14), 1024 + u16::try_from(number & 0x3FFF).unwrap());
        let server = (0xAC10_0001_u32, 443_u16);
        let (from, to) = if is_client { (client, server) } else { (server, client) };
        let whole = u16::try_from(header + len).unwrap();
        let time = [nanos / 1_000_000_000, nanos % 1_000_000_000].map(|half| u32::try_from(half).unwrap());
        let record = [time[0], time[1], header, header + len];
        self.0.extend(record.iter().flat_map(|word| word.to_le_bytes()));
        self.0.extend([&[0x45, 0][..], &whole.to_be_bytes(), &[0, 0, 0x40, 0, 64, 6, 0, 0]].concat());
        self.0.extend([from.0, to.0].map(u32::to_be_bytes).concat());
        self.0.extend([from.1, to.1].map(u16::to_be_bytes).concat());
        self.0.extend([seq, ack].map(u32::to_be_bytes).concat());
        let words = u8::try_from((20 + options.len()) / 4).unwrap();
        self.0.extend([words << 4, flags, 255, 255, 0, 0, 0, 0]);
        self.0.extend(options);
    }

    /// Adds a complete connection: opened, requested, answered and closed, 10 µs a packet.
    fn whole(&mut self, nanos: u64, number: u32) {
        let mut at = nanos;
        let steps = [
            (true, SYN, 0, 0, 0),
            (false, SYN | ACK, 0, 1, 0),
            (true, ACK, 1, 1, 0),
            (true, ACK, 1, 1, 500),
            (false, ACK, 1, 501, 800),
            (true, ACK | FIN, 501, 801, 0),
            (false, ACK | FIN, 801, 502, 0),
            (true, ACK, 502, 802, 0),
        ];
        for (is_client, flags, seq, ack, len) in steps {
            let ack = if flags == SYN { 0 } else { 7_000 + ack };
            self.segment(at, number, is_client, flags, (7_000 + seq, ack), len);
            at += 10_000;
        }
    }
}

/// The largest resident set of a process until it ends, in bytes.
struct Peak {
    /// With pages of files.
    all: u64,
    /// Without them.
    own: u64,
}

/// Checks the process once a millisecond. The system keeps the largest resident set.
fn peak(mut child: Child) -> Peak {
    let status = format!("/proc/{}/status", child.id());
    let (mut all, mut of_files) = (0, 0);
    loop {
        let ended = child.try_wait().expect("it is ours");
        let said = fs::read_to_string(&status).unwrap_or_default();
        let bytes = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
            kilobytes.unwrap_or(0) * 1024
        };
        (all, of_files) = (all.max(bytes("VmHWM:")), of_files.max(bytes("RssFile:")));
        if let Some(ended) = ended {
            assert!(ended.success(), "{ended}");
            return Peak { all, own: all.saturating_sub(of_files) };
        }
        sleep(Duration::from_millis(1));
    }
}

fn inspected(capture: &Path, arguments: &[&str]) -> Peak {
    let mut command = firstflight();
    command.arg("inspect").arg(capture).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    peak(command.spawn().expect("the command runs"))
}

#[test]
fn inspect_memory_is_bounded_by_8_mib_and_2500_bytes_per_connection() {
    if !Path::new("/proc/self/status").exists() {
        println!("skipped: only Linux counts in /proc, so nothing was measured");
        return;
    }
    let place = folder("memory");
    let mut syns = Made::new();
    (0..CONNECTIONS)
        .for_each(|number| syns.segment(u64::from(number) * 1000, number, true, SYN, (7_000, 0), 0));
    let mut whole = Made::new();
    (0..CONNECTIONS).for_each(|number| whole.whole(u64::from(number) * 100_000, number));
    // All connections are open at once, and left open.
    let mut open = Made::new();
    for step in 0..4_u32 {
        for number in 0..CONNECTIONS {
            let nanos = u64::from(step) * 2_000_000_000 + u64::from(number) * 10_000;
            let (is_client, flags, seq, ack, len) = [
                (true, SYN, 7_000, 0, 0),
                (false, SYN | ACK, 9_000, 7_001, 0),
                (true, ACK, 7_001, 9_001, 500),
                (false, ACK, 9_001, 7_501, 800),
            ][step as usize];
            open.segment(nanos, number, is_client, flags, (seq, ack), len);
        }
    }
    let allowed = CONSTANT + u64::from(CONNECTIONS) * PER_CONNECTION;
    for (name, made) in [("syns", syns), ("whole", whole), ("open", open)] {
        let capture = place.join(format!("{name}.pcap"));
        fs::write(&capture, made.0).expect("written");
        for arguments in [&[][..], &["--json"]] {
            let taken = inspected(&capture, arguments).own;
            println!("{CONNECTIONS} {name} {arguments:?}: {taken} bytes, {allowed} allowed");
            assert!(taken > 1 << 20, "{taken} bytes were not measured");
            assert!(taken < allowed, "{name} {arguments:?}: {taken} bytes, {allowed} allowed");
        }
        drop(fs::remove_file(&capture));
    }
}

/// A transfer of 300,000 packets, 64 segments in flight, and 300 additional smaller connections.
#[test]
fn report_memory_is_bounded_for_long_transfers() {
    if !Path::new("/proc/self/status").exists() {
        println!("skipped: only Linux counts in /proc, so nothing was measured");
        return;
    }
    let place = folder("memory-report");
    let peaks = [30_000_u32, 300_000].map(|packets| {
        let mut made = Made::new();
        made.segment(0, 0, true, SYN, (7_000, 0), 0);
        made.segment(1_000, 0, false, SYN | ACK, (9_000, 7_001), 0);
        for number in 0..packets {
            let at = 1_000_000 + u64::from(number) * 20_000;
            let (third, step) = (number / 3, number % 3);
            let sent = |segments: u32| 7_001 + segments * 1_000;
            if step < 2 {
                made.segment(at, 0, true, ACK, (sent(third * 2 + step), 9_001), 1_000);
            } else {
                made.segment(at, 0, false, ACK, (9_001, sent((third * 2).saturating_sub(64))), 0);
            }
            if number % 1_000 == 0 {
                made.whole(at, number / 1_000 + 1);
            }
        }
        let capture = place.join("long.pcap");
        fs::write(&capture, made.0).expect("written");
        let page = place.join("page.html");
        let taken = inspected(&capture, &["--report", text(&page)]).all;
        assert!(fs::read_to_string(page).expect("a page").contains("start-up as captured"));
        drop(fs::remove_file(&capture));
        taken
    });
    println!("reports of 30 000 and of 300 000 packets: {peaks:?} bytes");
    assert!(peaks[1] < peaks[0] + (12 << 20), "{peaks:?} bytes");
}

/// A race of a scheme, and another one with a multiple of its packets.
#[test]
fn a_long_race_takes_no_more_than_a_short_one() {
    if !Path::new("/proc/self/status").exists() {
        println!("skipped: only Linux counts in /proc, so nothing was measured");
        return;
    }
    // Careful Resume has a preceding connection in addition. The queue drops, and the flow leaves start-up.
    for schemes in ["slow-start", "careful-resume"] {
        let peaks = ["1s", "5s"].map(|duration| {
            let mut command = firstflight();
            command.args(["race", "--rate", "2gbit", "--rtt", "20ms", "--json", "--jobs", "1"]);
            command.args(["--duration", duration, "--schemes", schemes, "--loss", "0.001%"]);
            peak(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command runs")).all
        });
        println!("{schemes} for 1 and 5 s at 2 Gbit/s: {peaks:?} bytes");
        // A list of sent packets would take an additional 16 MB, one of deliveries 10.
        assert!(peaks[1] < peaks[0] + (4 << 20), "{schemes}: {peaks:?} bytes");
        assert!(peaks[1] < 60 << 20, "{schemes}: {peaks:?} bytes");
    }
}

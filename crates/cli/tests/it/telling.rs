//! The reports of `inspect` about many senders: the summary, the table's order, filters, CSV and Parquet.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{folder, refused, run, status, stderr, stdout, text};

/// Writes a capture of raw IPv4 with one connection after the other. Each has a port and the number of segments that the client sends, all
/// within an initial window of that size.
fn capture(path: &Path, connections: &[(u16, u32)]) {
    let mut bytes = Vec::new();
    for word in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        bytes.extend(word.to_le_bytes());
    }
    for (at, &(port, segments)) in connections.iter().enumerate() {
        let mut now = u32::try_from(at).expect("few") * 1_000_000;
        let mut put = |later: u32, packet: Vec<u8>| {
            now += later;
            let length = u32::try_from(packet.len()).expect("small");
            for word in [now / 1_000_000, now % 1_000_000, length, length] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(packet);
        };
        put(0, packet(true, port, [999, 0], 0x02, 0));
        put(40_000, packet(false, port, [4999, 1000], 0x12, 0));
        put(10, packet(true, port, [1000, 5000], 0x10, 0));
        for segment in 0..segments {
            put(10, packet(true, port, [1000 + segment * 100, 5000], 0x18, 100));
        }
        put(40_000, packet(false, port, [5000, 1000 + segments * 100], 0x10, 0));
        put(10, packet(true, port, [1000 + segments * 100, 5000], 0x11, 0));
        put(40_000, packet(false, port, [5000, 1001 + segments * 100], 0x11, 0));
    }
    std::fs::write(path, bytes).expect("written");
}

/// Returns a TCP packet from the client, 10.0.0.1, or from the server, 10.0.1.1:443.
fn packet(
    is_client: bool,
    port: u16,
    [sequence, acknowledged]: [u32; 2],
    flags: u8,
    payload: u16,
) -> Vec<u8> {
    let options: &[u8] = if flags & 0x02 > 0 { &[2, 4, 0, 100] } else { &[] };
    let head = 20 + u8::try_from(options.len()).expect("few");
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + u16::from(head) + payload).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    let ends = [([10, 0, 0, 1], port), ([10, 0, 1, 1], 443_u16)];
    let [from, to] = if is_client { ends } else { [ends[1], ends[0]] };
    bytes.extend([from.0, to.0].concat());
    bytes.extend([from.1.to_be_bytes(), to.1.to_be_bytes()].concat());
    bytes.extend([sequence.to_be_bytes(), acknowledged.to_be_bytes()].concat());
    bytes.extend([head / 4 * 16, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes.resize(bytes.len() + usize::from(payload), 7);
    bytes
}

/// Writes a capture of 70 connections in shuffled order: the one of port 2000 + n sends n segments.
fn many(name: &str) -> PathBuf {
    let path = folder(name).join("many.pcap");
    let connections: Vec<(u16, u32)> =
        (0..70).map(|at| 1 + at * 31 % 71).map(|n| (2000 + n, u32::from(n))).collect();
    capture(&path, &connections);
    path
}

fn output_of(arguments: &[&str]) -> String {
    let output = run(&[&["inspect"], arguments].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    output_of(arguments).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn the_summary_is_of_all_senders_and_stands_before_the_table() {
    let path = many("telling-summary");
    let all = lines(&["--json", text(&path)]);
    assert_eq!(all.len(), 70);
    let summary = lines(&["--summary", "--json", text(&path)]).remove(0);
    assert_eq!((&summary["senders"], &summary["connections"]), (&70.into(), &70.into()));
    let sum = |field: &str| all.iter().map(|one| one[field].as_u64().expect("a count")).sum::<u64>();
    for field in ["bytes_sent", "bytes_acked", "data_segments_sent", "retransmitted_segments"] {
        assert_eq!(summary[field], sum(field), "{field}");
    }
    // Nearest rank: of 70 values, the 18th, the 35th, the 53rd and the 63rd.
    let mut windows: Vec<u64> =
        all.iter().filter_map(|one| one["initial_window_segments"].as_u64()).collect();
    windows.sort_unstable();
    let of = &summary["distributions"]["initial_window_segments"];
    for (quantile, rank) in
        [("least", 1), ("p25", 18), ("median", 35), ("p75", 53), ("p90", 63), ("most", 70)]
    {
        assert_eq!(of[quantile], windows[rank - 1], "{quantile}");
    }
    assert_eq!(summary["distributions"]["handshake_rtt_s"]["median"], all[0]["handshake_rtt_s"]);
    let causes = summary["exit_causes"].as_object().expect("counts");
    assert_eq!(causes.values().filter_map(Value::as_u64).sum::<u64>(), 70);
    for (field, of) in summary["distributions"].as_object().expect("distributions") {
        let [defined, undefined] = ["defined", "undefined"].map(|key| of[key].as_u64().expect("a count"));
        assert_eq!(defined + undefined, 70, "{field}");
        if let Some(defined_here) =
            all[0].get(field).map(|_| all.iter().filter(|one| !one[field].is_null()).count())
        {
            assert_eq!(defined, defined_here as u64, "{field}");
        }
    }
    let text_of = output_of(&[text(&path)]);
    let summary_at = text_of.find("70 senders in 70 connections: ").expect("a summary");
    assert!(summary_at < text_of.find("→ receiver").expect("a table"), "{text_of}");
    assert!(text_of.contains("\nexit cause: "), "{text_of}");
    let only = output_of(&["--summary", text(&path)]);
    assert!(only.contains("70 senders in 70 connections: ") && !only.contains("→ receiver"), "{only}");
}

#[test]
fn one_sender_has_a_table_and_no_summary() {
    let path = folder("telling-one").join("one.pcap");
    capture(&path, &[(2000, 20)]);
    let table = output_of(&[text(&path)]);
    assert!(table.contains("→ receiver") && !table.contains("exit cause:"), "{table}");
    assert!(output_of(&["--summary", text(&path)]).contains("1 sender in 1 connection: "));
}

/// Returns the clients' ports in the table, from top to bottom.
fn ports(table: &str) -> Vec<u16> {
    let port = |line: &str| line.split_once("10.0.0.1:")?.1.split(' ').next()?.parse().ok();
    table.lines().filter_map(port).collect()
}

#[test]
fn the_table_has_the_fifty_largest_senders_the_largest_first() {
    let path = many("telling-order");
    let mut sizes: Vec<u16> = lines(&["--json", text(&path)])
        .iter()
        .filter_map(|one| u16::try_from(one["bytes_sent"].as_u64()? / 100).ok())
        .collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let ordered: Vec<u16> = sizes.iter().map(|n| 2000 + n).collect();
    let table = output_of(&[text(&path)]);
    assert_eq!(ports(&table), ordered[..50]);
    assert!(table.contains("Not shown: 20 senders that sent less than these; --all shows them"), "{table}");
    assert_eq!(ports(&output_of(&["--all", text(&path)])), ordered);
    // Over several captures, the largest senders of all are shown.
    let other = folder("telling-order-other").join("other.pcap");
    capture(&other, &[(9000, 40)]);
    let table = ports(&output_of(&[text(&path), text(&other)]));
    let at = table.iter().position(|port| *port == 9000).expect("in the table");
    assert!(table[at - 1] > 2039 && table[at + 1] <= 2040, "{table:?}");
}

#[test]
fn filters_hold_for_every_output_and_say_what_they_leave_out() {
    let path = many("telling-filter");
    let filters = ["--filter", "bytes_sent>=6kB", "--filter", "host=10.0.0.0/16", "--filter", "port!=2065"];
    let all = lines(&["--json", text(&path)]);
    let kept: Vec<&Value> = all
        .iter()
        .filter(|one| one["bytes_sent"].as_u64() >= Some(6000) && one["from"] != "10.0.0.1:2065")
        .collect();
    let left_out = 70 - kept.len();
    let with = |more: &[&str]| run(&[&["inspect", text(&path)], &filters[..], more].concat());
    let json = with(&["--json"]);
    let ours: Vec<Value> =
        stdout(&json).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(ours.iter().collect::<Vec<_>>(), kept);
    let note = format!(
        "--filter `bytes_sent>=6kB` and `host=10.0.0.0/16` and `port!=2065` leaves out {left_out} of 70 senders."
    );
    assert_eq!(stderr(&json), format!("note: {note}\n"));
    let table = stdout(&with(&[]));
    assert_eq!(ports(&table).len(), kept.len(), "{table}");
    assert!(table.contains(&note), "{table}");
    assert_eq!(stdout(&with(&["--csv"])).lines().count(), 1 + kept.len());
    let summary: Value = serde_json::from_str(&stdout(&with(&["--summary", "--json"]))).expect("an object");
    assert_eq!((&summary["senders"], &summary["left_out"]), (&kept.len().into(), &left_out.into()));
    let page = path.with_file_name("page.html");
    with(&["--report", text(&page)]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("leaves out") && !page.contains("10.0.0.1:2065"));
    // No sender is left: no table, no row, no error.
    let nothing = output_of(&[text(&path), "--filter", "bytes_sent>1GB"]);
    assert!(nothing.contains("leaves out 70 of 70 senders") && !nothing.contains("→ receiver"), "{nothing}");
    assert_eq!(lines(&["--json", text(&path), "--filter", "exit_cause=loss"]).len(), 0);
}

#[test]
fn a_wrong_filter_is_refused_before_anything_is_read() {
    let line = refused(&["inspect", "/nowhere.pcap", "--filter", "byte_sent>1"]);
    assert!(line.contains("is `bytes_sent` meant?"), "{line}");
    let line = refused(&["inspect", "/nowhere.pcap", "--filter", "exit_cause=lost"]);
    assert!(line.contains("undefined, never `lost`; is `loss` meant?"), "{line}");
}

#[test]
fn csv_has_a_row_per_sender_matching_json_and_parquet_is_written() {
    let path = many("telling-rows");
    let parquet = path.with_file_name("rows.parquet");
    let all = lines(&["--json", "--parquet", text(&parquet), text(&path)]);
    let csv = output_of(&["--csv", text(&path)]);
    let mut rows = csv.lines();
    let head: Vec<&str> = rows.next().expect("a header").split(',').collect();
    assert_eq!((head[0], head[head.len() - 1]), ("file", "undefined"));
    let at = |name: &str| head.iter().position(|head| *head == name).expect("a column");
    for (row, one) in rows.clone().zip(&all) {
        let cells: Vec<&str> = row.splitn(head.len(), ',').collect();
        for name in ["connection", "bytes_sent", "handshake_rtt_s", "initial_window_segments", "mss_bytes"] {
            assert_eq!(cells[at(name)], one[name].to_string(), "{name}");
        }
        assert_eq!(cells[at("time_to_90pct_s")], "", "undefined");
        assert!(cells[at("undefined")].contains("time_to_90pct_s"), "{row}");
    }
    assert_eq!(rows.count(), all.len());
    let file = std::fs::read(&parquet).expect("a file");
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
}

#[test]
fn outputs_that_exclude_each_other_or_overwrite_a_capture_are_refused() {
    let path = folder("telling-targets").join("one.pcap");
    capture(&path, &[(2000, 20)]);
    let line = refused(&["inspect", "--json", "--csv", text(&path)]);
    assert!(line.contains("--csv") && line.contains("--json"), "{line}");
    let line = refused(&["inspect", "--parquet", text(&path), text(&path)]);
    assert!(line.contains("would overwrite the capture"), "{line}");
    let page = path.with_file_name("both");
    let line = refused(&["inspect", "--parquet", text(&page), "--report", text(&page), text(&path)]);
    assert!(line.contains("--report's file too"), "{line}");
}

#[test]
fn the_report_has_the_summary_and_the_footnotes_of_the_table() {
    let path = many("telling-page");
    let page = path.with_file_name("page.html");
    let table = output_of(&["--report", text(&page), text(&path)]);
    let page = std::fs::read_to_string(&page).expect("a page");
    let footnote = table.lines().find_map(|line| line.strip_prefix("¹ ")).expect("a footnote");
    assert!(page.contains(&format!("<li id=\"why-1\">{footnote}</li>")), "{footnote}");
    assert!(
        page.contains("70 senders in 70 connections: ") && page.contains("<th>senders</th>")
            || page.contains(">senders</th>")
    );
}

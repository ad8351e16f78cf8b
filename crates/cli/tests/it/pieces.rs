//! Captures in pieces, compressed, and on standard input give the results of the whole capture.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::common::{firstflight, folder, refused, run, status, stderr, stdout, text};

/// A capture by a race of 600 kB: the bytes before its packets, and the blocks of its packets.
fn raced(place: &Path) -> (Vec<u8>, Vec<Vec<u8>>) {
    let race =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "600kB", "--schemes", "slow-start", "--pcap"];
    run(&[&race[..], &[text(place)]].concat());
    let whole = fs::read(place.join("slow-start-client.pcapng")).expect("a capture");
    let (mut head, mut packets) = (Vec::new(), Vec::new());
    let mut rest = &whole[..];
    while let Some(length) = rest.get(4..8) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
        let (block, after) = rest.split_at(length.try_into().expect("a length"));
        if block[0] == 6 {
            packets.push(block.to_vec());
        } else if packets.is_empty() {
            head.extend(block);
        }
        rest = after;
    }
    assert!(packets.len() > 300, "{}", packets.len());
    (head, packets)
}

fn written(path: PathBuf, bytes: &[u8]) -> PathBuf {
    fs::write(&path, bytes).expect("written");
    path
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// The senders, without the file's name.
fn output_of(output: &Output) -> Vec<Value> {
    assert_eq!(status(output), 0, "{}", stderr(output));
    let rows = stdout(output);
    let row = |line| {
        let mut row: Value = serde_json::from_str(line).expect("an object");
        row.as_object_mut().expect("an object").remove("file");
        row
    };
    rows.lines().map(row).collect()
}

fn inspected(paths: &[&Path], more: &[&str]) -> Output {
    let paths: Vec<&str> = paths.iter().map(|path| text(path)).collect();
    run(&[&["inspect", "--json"], more, &paths[..]].concat())
}

fn piped(bytes: &[u8]) -> Output {
    let mut command = firstflight();
    command.args(["inspect", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the command runs");
    child.stdin.take().expect("a pipe").write_all(bytes).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn capture_pieces_are_read_as_one_in_time_order() {
    let place = folder("pieces");
    let (head, packets) = raced(&place);
    let whole = written(place.join("whole.pcapng"), &[&head[..], &packets.concat()].concat());
    let expected = output_of(&inspected(&[&whole], &[]));
    let (third, two) = (packets.len() / 3, packets.len() / 3 * 2);
    let cut = [&packets[..third], &packets[third..two], &packets[two..]];
    // A ring of three files whose first was written last.
    let pieces = [2, 0, 1].map(|part: usize| [&head[..], &cut[part].concat()].concat());
    let name = |number: usize, kind: &str| place.join(format!("ring{number}.{kind}"));
    let write = |kind: &str, of: fn(&[u8]) -> Vec<u8>| -> Vec<PathBuf> {
        pieces.iter().enumerate().map(|(number, bytes)| written(name(number, kind), &of(bytes))).collect()
    };
    let ring = write("pcapng", <[u8]>::to_vec);
    let paths: Vec<&Path> = ring.iter().map(PathBuf::as_path).collect();
    let joined = inspected(&paths, &[]);
    assert_eq!(output_of(&joined), expected);
    assert_eq!(stderr(&joined), "");
    let table = stdout(&run(&["inspect", text(paths[0]), text(paths[1]), text(paths[2])]));
    let line = format!("{} to {}, 3 pieces of one capture: ", text(paths[1]), text(paths[0]));
    assert!(table.starts_with(&line), "{table}");
    let compressed = write("gz", zipped);
    let compressed: Vec<&Path> = compressed.iter().map(PathBuf::as_path).collect();
    assert_eq!(output_of(&inspected(&compressed, &[])), expected);

    let apart = output_of(&inspected(&paths, &["--separate"]));
    assert_eq!(apart.len(), 3);

    let gap = inspected(&[paths[1], paths[0]], &[]);
    assert_eq!(output_of(&gap).len(), 1);
    let warning = stderr(&gap);
    let is_told = warning.contains("ring0.pcapng goes on 0.") && warning.contains("a piece may be missing");
    assert!(is_told && warning.lines().count() == 1, "{warning}");
}

#[test]
fn captures_of_other_connections_or_at_the_same_time_stay_apart() {
    let place = folder("pieces-apart");
    let (head, packets) = raced(&place);
    let whole = [&head[..], &packets.concat()].concat();
    let one = written(place.join("a1.pcapng"), &whole);
    let other = written(place.join("a2.pcapng"), &whole);
    assert_eq!(output_of(&inspected(&[&one, &other], &[])).len(), 2, "both begin at zero");
    let tail = written(place.join("a3.pcapng"), &[&head[..], &packets[..40].concat()].concat());
    assert_eq!(output_of(&inspected(&[&tail, &other], &[])).len(), 2, "the second is not behind the first");
}

#[test]
fn gzip_and_standard_input_are_told_by_their_bytes() {
    let place = folder("pieces-gzip");
    let (head, packets) = raced(&place);
    let bytes = [&head[..], &packets.concat()].concat();
    let expected = output_of(&inspected(&[&written(place.join("plain"), &bytes)], &[]));
    // The file's name suggests another format.
    assert_eq!(output_of(&inspected(&[&written(place.join("one.pcapng"), &zipped(&bytes))], &[])), expected);
    let (front, back) = bytes.split_at(bytes.len() / 2);
    let members = [zipped(front), zipped(back)].concat();
    assert_eq!(output_of(&inspected(&[&written(place.join("two"), &members)], &[])), expected);
    assert_eq!(output_of(&piped(&bytes)), expected);
    assert_eq!(output_of(&piped(&members)), expected);
    assert!(refused(&["inspect", "-", "-"]).contains("once"));
    // If the file ends within a gzip member, the data up to there is used.
    let packed = zipped(&bytes);
    let early = piped(&packed[..packed.len() / 2]);
    let warning = stderr(&early);
    let begins = "warning: standard input: the compressed file ends early, after ";
    assert!(warning.starts_with(begins) && warning.lines().count() == 1, "{warning}");
    assert_eq!(output_of(&early)[0]["initial_window_segments"], 10);
    let padded = |magic: &[u8]| [magic, &[0; 40]].concat();
    let twice = zipped(&packed);
    for (bytes, name) in [
        (padded(&[0x28, 0xB5, 0x2F, 0xFD]), "zstd"),
        (padded(b"BZh9"), "bzip2"),
        (padded(&[0x04, 0x22, 0x4D, 0x18]), "lz4"),
        (twice, "gzip more than once"),
    ] {
        let path = written(place.join("other"), &bytes);
        assert!(refused(&["inspect", text(&path)]).contains(&format!("compressed by {name}")));
    }
}

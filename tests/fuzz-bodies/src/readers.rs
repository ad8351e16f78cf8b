//! Checks that readers of external text and bytes never panic, and that each of their errors is one clear line.

use firstflight_lab::parse_sweep;
use firstflight_scenario::{
    FileError, Options, Scenario, keys, parse_choices, parse_file, parse_restarts, quantity,
};
use firstflight_wire::{Ip, decode, decode_snapped, encode};

use crate::Source;

/// The maximum length of a text. Longer texts find no new faults, and take time.
const LONGEST: usize = 16 * 1_024;

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(&data[..data.len().min(LONGEST)]).into_owned()
}

/// Checks that an error is one line with a message.
pub(crate) fn is_one_line(message: &str) {
    assert!(!message.trim().is_empty(), "an error that says nothing");
    assert!(!message.contains('\n'), "an error of more than a line: {message:?}");
}

/// Reads any text as a scenario file, and as a sweep's file.
pub fn toml_reader(data: &[u8]) {
    let text = text(data);
    match parse_file(&text) {
        Ok(file) => {
            if let Err(error) = Scenario::resolve(&file.options) {
                is_one_line(&error.to_string());
            }
            if let Some((schemes, _)) = file.schemes
                && let Err(error) = parse_choices(&schemes)
            {
                is_one_line(&error.to_string());
            }
        }
        Err(error) => names_a_place(&error, &text),
    }
    match parse_sweep(&text) {
        Ok(sweep) => {
            let paths = sweep.paths();
            assert!(paths >= 1, "a sweep of nothing");
            for path in [0, paths / 2, paths - 1] {
                if let Err(error) = sweep.scenario(path) {
                    is_one_line(&error.to_string());
                }
            }
        }
        Err(error) => names_a_place(&error, &text),
    }
}

fn names_a_place(error: &FileError, text: &str) {
    is_one_line(&error.to_string());
    assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1, "{error}");
    assert!(error.column >= 1 && error.span.start <= text.len(), "{error}");
}

/// Reads any text as the value of any option of the command line. A quantity that is accepted must be equal when it is shown and read
/// again.
pub fn units(data: &[u8]) {
    let mut source = Source::new(data);
    let names: Vec<_> = keys::names().collect();
    let key = source.pick(&names);
    let text = text(data.get(1..).unwrap_or_default());
    let mut options = Options::default();
    match options.set(key, &text) {
        Ok(()) => {
            if let Err(error) = Scenario::resolve(&options) {
                is_one_line(&error.to_string());
            }
        }
        Err(error) => is_one_line(&error.to_string()),
    }
    if let Ok(rate) = quantity::rate(&text) {
        assert_eq!(quantity::rate(&quantity::show_rate(rate)), Ok(rate), "{text:?}");
    }
    if let Ok(span) = quantity::span(&text) {
        assert_eq!(quantity::span(&quantity::show_span(span)), Ok(span), "{text:?}");
    }
    if let Ok(bytes) = quantity::bytes(&text) {
        assert_eq!(quantity::bytes(&quantity::show_bytes(bytes)), Ok(bytes), "{text:?}");
    }
    if let Err(error) = parse_choices(&text) {
        is_one_line(&error.to_string());
    }
    if let Err(error) = parse_restarts(&text) {
        is_one_line(&error.to_string());
    }
}

/// Reads any text as a packetdrill script.
pub fn packetdrill_script(data: &[u8]) {
    let text = text(data);
    if let Err(problem) = firstflight_packetdrill::run(&text, None) {
        assert!(!problem.message.trim().is_empty(), "an error that says nothing");
        assert!(problem.line <= text.lines().count().max(1), "{problem}");
    }
}

/// Decodes any bytes as a packet. If the packet can be decoded and encoded, it must decode to the same packet again.
pub fn wire_decode(data: &[u8]) {
    if let Err(error) = decode_snapped(data) {
        is_one_line(&error.to_string());
    }
    let packet = match decode(data) {
        Ok(packet) => packet,
        Err(error) => return is_one_line(&error.to_string()),
    };
    assert_eq!(packet.payload.len(), usize::from(packet.segment.len));
    let ip = Ip {
        addresses: packet.addresses,
        identification: packet.identification.unwrap_or(0),
        hop_limit: packet.hop_limit,
    };
    let mut out = Vec::new();
    match encode(&ip, &packet.segment, packet.payload, &mut out) {
        Ok(()) => {
            let again = decode(&out).expect("what was encoded can be read");
            assert_eq!((again.segment, again.payload), (packet.segment, packet.payload));
        }
        Err(error) => is_one_line(&error.to_string()),
    }
}

//! Writes segments in the notation of scripts.

use std::fmt::Write;

use firstflight_tcp::{Ecn, Flags, Segment};

use crate::options;
use crate::syntax::{EcnField, Packet, TcpOption};

/// Writes a segment of the script.
pub(crate) fn packet(packet: &Packet) -> String {
    let ecn = packet.ecn.map_or("", |ecn| match ecn {
        EcnField::None => "[noecn] ",
        EcnField::Ect0 => "[ect0] ",
        EcnField::Ect1 => "[ect1] ",
        EcnField::Ce => "[ce] ",
        EcnField::Either => "[ect01] ",
    });
    let mut out = format!("{ecn}{}", line(Flags(packet.flags), packet.seq, packet.len, packet.ack));
    if let Some(window) = packet.window {
        write!(out, " win {window}").unwrap_or_default();
    }
    match packet.options.as_deref() {
        None => out += " <...>",
        Some([]) => {}
        Some(list) => write!(out, " <{}>", option_list(list)).unwrap_or_default(),
    }
    out
}

/// Writes a segment that the endpoint sent. `seq` is its sequence number in the script's numbers, and `len` its number of bytes.
pub(crate) fn segment(segment: &Segment, seq: u32, len: u32) -> String {
    let ecn = match segment.ecn {
        Ecn::NotCapable => "",
        Ecn::Ect0 => "[ect0] ",
        Ecn::Ect1 => "[ect1] ",
        Ecn::Ce => "[ce] ",
    };
    let mut out = format!("{ecn}{} win {}", line(segment.flags, seq, len, segment.ack), segment.window);
    let list = options::list(segment);
    if !list.is_empty() {
        write!(out, " <{}>", option_list(&list)).unwrap_or_default();
    }
    out
}

fn line(flags: Flags, seq: u32, len: impl Into<u32>, ack: u32) -> String {
    let len: u32 = len.into();
    let ack = if flags.has(Flags::ACK) { format!(" ack {ack}") } else { String::new() };
    format!("{} {seq}:{}({len}){ack}", flag_letters(flags), seq.wrapping_add(len))
}

/// Writes control bits in the notation of scripts.
pub(crate) fn flag_letters(flags: Flags) -> String {
    let letters = [
        (Flags::FIN, 'F'),
        (Flags::SYN, 'S'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::URG, 'U'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::ACK, '.'),
    ];
    let shown: String =
        letters.into_iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| letter).collect();
    if shown.is_empty() { "-".to_owned() } else { shown }
}

/// Writes options in the notation of scripts.
pub(crate) fn option_list(list: &[TcpOption]) -> String {
    let one = |option: &TcpOption| match option {
        TcpOption::Nop => "nop".to_owned(),
        TcpOption::End => "eol".to_owned(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(scale) => format!("wscale {scale}"),
        TcpOption::SackPermitted => "sackOK".to_owned(),
        TcpOption::Timestamps { value, echo } => format!("TS val {value} ecr {echo}"),
        TcpOption::Sack(blocks) => {
            let blocks: Vec<String> = blocks.iter().map(|(start, end)| format!("{start}:{end}")).collect();
            format!("sack {}", blocks.join(" "))
        }
    };
    list.iter().map(one).collect::<Vec<_>>().join(",")
}

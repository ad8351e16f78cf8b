//! The records of the reader in C: `struct record` of `kernel/bpf/c/reader.h`.

use std::fs;

use crate::facts::{Facts, Kind, Told};

/// Bytes before the facts: kind, ports, socket.
const HEAD: usize = 16;
const FACTS: usize = size_of::<Facts>();
const SIZE: usize = HEAD + FACTS + size_of::<Told>();

/// One event with its facts, and the kernel's answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// The port of this end.
    pub(crate) port: u16,
    /// The address of the socket in the kernel: the same as long as the connection lives.
    pub(crate) socket: u64,
    pub(crate) facts: Facts,
    pub(crate) told: Told,
}

/// Reads the records of a file.
///
/// # Errors
/// A file that cannot be read or holds something else.
pub(crate) fn read(name: &str) -> Result<Vec<Record>, String> {
    let bytes = fs::read(name).map_err(|error| format!("{name}: {error}"))?;
    if bytes.is_empty() || bytes.len() % SIZE != 0 {
        return Err(format!("{name}: {} bytes are no whole records of {SIZE}", bytes.len()));
    }
    bytes
        .chunks_exact(SIZE)
        .map(|record| Record::of(record).ok_or_else(|| format!("{name}: no record")))
        .collect()
}

impl Record {
    fn of(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let kind = usize::try_from(word(0)?).ok()?;
        Some(Self {
            kind: *Kind::ALL.get(kind)?,
            port: u16::try_from(word(4)? & 0xFFFF).ok()?,
            socket: u64::from_ne_bytes(bytes.get(8..16)?.try_into().ok()?),
            facts: Facts::read(&bytes[HEAD..HEAD + FACTS])?,
            told: Told::read(&bytes[HEAD + FACTS..])?,
        })
    }
}

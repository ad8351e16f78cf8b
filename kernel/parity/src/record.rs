//! The records of the reader in C: `struct record` of `kernel/bpf/c/reader.h`.

use firstflight::registry::Numbers;

use crate::facts::{Decision, Facts, Kind};

/// Length in bytes of the fields before the facts: `kind`, `ports` and `socket`.
const HEAD: usize = 16;
const FACTS: usize = size_of::<Facts>();
/// The length of a record in bytes.
const SIZE: usize = HEAD + FACTS + size_of::<Decision>();
/// Value of `kind` for a record that has the parameters of the scheme, a `struct numbers`, in place of facts and answer: `SET` in C. The
/// values below it are those of [`Kind`].
const SET: usize = Kind::ALL.len();

/// One event with its facts, and the kernel's answer.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Kind of the event.
    pub kind: Kind,
    /// The port of this end.
    pub port: u16,
    /// The port of the other end.
    pub peer: u16,
    /// Address of the socket in the kernel, which is constant for the life of the connection.
    pub socket: u64,
    /// State as the reader saw it.
    pub facts: Facts,
    /// Answer of the scheme.
    pub decision: Decision,
    /// The parameters with which the kernel's scheme began.
    pub numbers: Numbers,
}

/// Reads consecutive records, as they are in the ring of events. Each gets the parameters of the newest record of parameters before it.
///
/// # Errors
/// Bytes that are not whole records, a record of unknown kind, or one with no parameters before it.
pub fn records(bytes: &[u8]) -> Result<Vec<Record>, String> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(SIZE) {
        return Err(format!("{} bytes are no whole records of {SIZE}", bytes.len()));
    }
    let mut records = Vec::new();
    let mut numbers = None;
    for record in bytes.chunks_exact(SIZE) {
        if word(record, 0).is_some_and(|kind| kind as usize == SET) {
            numbers = numbers_of(&record[HEAD..]);
        } else {
            let record = numbers.and_then(|numbers| Record::of(record, numbers));
            records.push(record.ok_or("a record of no known kind, or without parameters before it")?);
        }
    }
    Ok(records)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Returns a `struct numbers` of `kernel/bpf/c/settings.h`: `given`, an unused `u32`, and the values.
fn numbers_of(bytes: &[u8]) -> Option<Numbers> {
    let mut numbers = Numbers { given: word(bytes, 0)?, pad: 0, values: [0; Numbers::MOST] };
    for (value, eight) in numbers.values.iter_mut().zip(bytes.get(8..)?.chunks_exact(8)) {
        *value = u64::from_ne_bytes(eight.try_into().ok()?);
    }
    Some(numbers)
}

impl Record {
    fn of(bytes: &[u8], numbers: Numbers) -> Option<Self> {
        let kind = usize::try_from(word(bytes, 0)?).ok()?;
        Some(Self {
            kind: *Kind::ALL.get(kind)?,
            port: u16::try_from(word(bytes, 4)? & 0xFFFF).ok()?,
            // The peer's port is in the byte order of the wire.
            peer: u16::from_be(u16::try_from(word(bytes, 4)? >> 16).ok()?),
            socket: u64::from_ne_bytes(bytes.get(8..16)?.try_into().ok()?),
            facts: Facts::read(&bytes[HEAD..HEAD + FACTS])?,
            decision: Decision::read(&bytes[HEAD + FACTS..])?,
            numbers,
        })
    }
}

//! The records of the reader in C: `struct record` of `kernel/bpf/c/reader.h`.

use firstflight::registry::Numbers;

use crate::facts::{Facts, Kind, Told};

/// The length in bytes of what is before the facts: `kind`, `ports` and `socket`.
const HEAD: usize = 16;
const FACTS: usize = size_of::<Facts>();
/// The length of a record in bytes.
const SIZE: usize = HEAD + FACTS + size_of::<Told>();
/// The number in `kind` that says that the record has the parameters of the scheme, a `struct numbers`, in place of facts and answer:
/// `SET` in C. The numbers below it are those of [`Kind`].
const SET: usize = Kind::ALL.len();

/// One event with its facts, and the kernel's answer.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// What happened.
    pub kind: Kind,
    /// The port of this end.
    pub port: u16,
    /// The port of the other end.
    pub peer: u16,
    /// The address of the socket in the kernel: the same as long as the connection lives.
    pub socket: u64,
    /// What the reader saw.
    pub facts: Facts,
    /// What the scheme wants.
    pub told: Told,
    /// The parameters with which the kernel's scheme began.
    pub numbers: Numbers,
}

/// Reads records, one behind the other as the ring of events has them. Each gets the parameters of the newest record of parameters
/// before it.
///
/// # Errors
/// Bytes that are no whole records, a record of no known kind, or one with no parameters before it.
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

/// A `struct numbers` of `kernel/bpf/c/settings.h`: `given`, an unused `u32`, and the values.
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
            told: Told::read(&bytes[HEAD + FACTS..])?,
            numbers,
        })
    }
}

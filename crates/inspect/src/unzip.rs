//! Captures that are compressed with gzip, told by their first bytes and not by a name.

use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

/// RFC 1952 section 2.3.1.
const MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The bytes of a file, unpacked if they are gzip: of one member or of several, one behind the other.
#[derive(Debug)]
pub struct Unzip<R>(Kind<R>);

/// The file, with the bytes that were looked at.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

#[derive(Debug)]
enum Kind<R> {
    Plain(Whole<R>),
    Gzip { decoder: Box<MultiGzDecoder<BufReader<Whole<R>>>>, is_cut: bool },
}

impl<R: Read> Unzip<R> {
    /// Looks at the first two bytes.
    ///
    /// # Errors
    /// Those of the input.
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut first = Vec::new();
        input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut first)?;
        let is_gzip = first == MAGIC;
        let whole = Cursor::new(first).chain(input);
        Ok(Self(if is_gzip {
            let decoder = Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, whole)));
            Kind::Gzip { decoder, is_cut: false }
        } else {
            Kind::Plain(whole)
        }))
    }

    /// Whether the compressed file ended within a member. What was unpacked before is whole.
    pub fn is_cut(&self) -> bool {
        matches!(self.0, Kind::Gzip { is_cut: true, .. })
    }
}

impl<R: Read> Read for Unzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(whole) => whole.read(buffer),
            Kind::Gzip { decoder, is_cut } => match decoder.read(buffer) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    *is_cut = true;
                    Ok(0)
                }
                Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
                    let what = format!("the file is gzip and cannot be unpacked on: {error}");
                    Err(io::Error::new(ErrorKind::InvalidData, what))
                }
                read => read,
            },
        }
    }
}

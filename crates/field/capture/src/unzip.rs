//! Reads captures compressed with gzip. They are recognised by their first bytes, not by their name.

use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

/// The first two bytes of gzip data (RFC 1952 section 2.3.1).
const MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The bytes of a file. If the file is gzip data, of one member or several, they are unpacked.
#[derive(Debug)]
pub struct Unzip<R>(Kind<R>);

/// A file, preceded by the bytes already read from it.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

#[derive(Debug)]
enum Kind<R> {
    Plain(Whole<R>),
    Gzip { decoder: Box<MultiGzDecoder<BufReader<Whole<R>>>>, is_cut: bool },
}

impl<R: Read> Unzip<R> {
    /// Reads the first two bytes to determine whether the input is compressed.
    ///
    /// # Errors
    /// The errors of the input.
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

    /// Checks whether the compressed file ended within a member. The data unpacked before this point is complete.
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

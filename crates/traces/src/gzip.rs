//! Reader of gzip files: any number of members one after the other (RFC 1952, section 2.2), and
//! nothing else. Other data after the last member is distinguished from a member that was cut.

use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The error if data other than gzip follows the gzip data.
pub(crate) const TRAILING: &str = "something else follows the gzip data";

/// The contents of a gzip file.
pub(crate) struct Gzip {
    /// The member that is being read; `None` after the last.
    member: Option<GzDecoder<BufReader<File>>>,
}

impl Gzip {
    /// First bytes of a member (RFC 1952, section 2.3.1).
    pub const MAGIC: [u8; 2] = [0x1f, 0x8b];

    /// The contents of `file`, which is at its beginning.
    pub fn new(file: File) -> Self {
        Self { member: Some(GzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, file))) }
    }

    /// Advances to the next member, if there is one.
    fn go_on(&mut self) -> io::Result<()> {
        let Some(ended) = self.member.take() else { return Ok(()) };
        let mut input = ended.into_inner();
        loop {
            match input.fill_buf()? {
                [] => return Ok(()),
                [first, second, ..] if [*first, *second] == Self::MAGIC => break,
                // The second byte may not have been read yet.
                [first] if *first == Self::MAGIC[0] => break,
                // Tapes and some archives are filled up with zeroes.
                zeroes if zeroes.iter().all(|byte| *byte == 0) => {
                    let length = zeroes.len();
                    input.consume(length);
                }
                _ => return Err(io::Error::other(TRAILING)),
            }
        }
        self.member = Some(GzDecoder::new(input));
        Ok(())
    }
}

impl Read for Gzip {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let bytes = member.read(into)?;
            if bytes > 0 || into.is_empty() {
                return Ok(bytes);
            }
            self.go_on()?;
        }
        Ok(0)
    }
}

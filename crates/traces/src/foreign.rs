//! Files that are no text trace, recognised by their first bytes, and the remedy.

/// Bytes that [`foreign`] examines.
pub(crate) const LOOKED_AT: usize = 512;

/// Type of a file that is not text, and the remedy; `None` if it may be text. `begin` is the
/// beginning of its unpacked contents.
pub(crate) fn foreign(begin: &[u8]) -> Option<&'static str> {
    match begin {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(UTF_16),
        [b'P', b'K', 3, 4, ..] => {
            Some("this is a zip archive; unpack it, and name the file inside")
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Some("this is packed with xz; run xz --decompress")
        }
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => {
            Some("this is packed with bzip2; run bzip2 --decompress")
        }
        // BLK_IO_TRACE_MAGIC with version 7, in either order of bytes.
        [0x07, b't', b'a', b'e', ..] | [b'e', b'a', b't', 0x07, ..] => {
            Some("this is blktrace's binary trace; run blkparse, and save its text")
        }
        _ if begin.get(257..262) == Some(b"ustar") => {
            Some("this is a tar archive; unpack it (tar --extract), and name a file inside")
        }
        // Text in bytes of which every second one is zero.
        [0, 1..=255, 0, 1..=255, ..] | [1..=255, 0, 1..=255, 0, ..] => Some(UTF_16),
        _ => None,
    }
}

const UTF_16: &str = "this is UTF-16 text, as some Windows programs write it; convert it to UTF-8 first \
                      (iconv -f UTF-16 -t UTF-8)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_known_by_their_beginning() {
        let utf_16 = |text: &str, little: bool| -> Vec<u8> {
            let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            text.encode_utf16().flat_map(bytes).collect()
        };
        for little in [false, true] {
            for text in ["\u{feff}1.0 0 0 8 1\n", "1.0 0 0 8 1\n", "\r\n\r\n1.0"] {
                let found = foreign(&utf_16(text, little));
                assert!(found.is_some_and(|told| told.contains("UTF-16")), "{text:?}");
            }
        }
        let mut tar = vec![b'x'; 10];
        tar.resize(257, 0);
        tar.extend(b"ustar\x0000");
        for (begin, told) in [
            (&tar[..], "tar"),
            (b"PK\x03\x04\x14", "zip"),
            (b"\xfd7zXZ\x00\x00", "xz"),
            (b"BZh91AY&SY", "bzip2"),
            (b"\x07tae\x01\x00", "blktrace"),
            (b"eat\x07\x00\x00", "blktrace"),
        ] {
            assert!(foreign(begin).is_some_and(|problem| problem.contains(told)), "{told}");
        }
    }

    #[test]
    fn text_is_let_pass() {
        for text in ["", "1", "1.0 0 0 8 1", "  8,0    3", "\u{feff}time_us,op", "PK,1", "eat it"] {
            assert_eq!(foreign(text.as_bytes()), None, "{text:?}");
        }
    }
}

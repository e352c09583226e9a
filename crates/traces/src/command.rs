//! Commands that a host sends to a drive.

/// Kind of a command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Returns the data of a range.
    Read,
    /// Replaces the data of a range.
    Write,
    /// Gives a range back: its data is no longer needed (discard, deallocate).
    Trim,
    /// Returns when everything acknowledged before is durable. Has no range.
    Flush,
    /// Replaces the data of a range by zeroes without transferring them.
    WriteZeroes,
}

impl Kind {
    /// Every kind, in the order of [`Kind::index`].
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::Trim, Self::Flush, Self::WriteZeroes];

    /// The kind's place in [`Kind::ALL`], for tables with a row per kind.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind's name as configurations and results write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
            Self::WriteZeroes => "write_zeroes",
        }
    }

    /// True for every kind but flush.
    #[inline]
    pub const fn has_range(self) -> bool {
        !matches!(self, Self::Flush)
    }
}

/// One command to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// Kind of the command.
    pub kind: Kind,
    /// The first byte, counted from the start of the drive's exported space; 0 for a flush.
    pub offset: u64,
    /// Length in bytes; 0 for a flush only.
    pub bytes: u64,
}

impl Command {
    /// A flush.
    pub const FLUSH: Self = Self { kind: Kind::Flush, offset: 0, bytes: 0 };

    /// The first byte after the range.
    #[inline]
    pub const fn end(self) -> u64 {
        self.offset + self.bytes
    }
}

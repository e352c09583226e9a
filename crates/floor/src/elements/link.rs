//! The link to the host.

/// One transfer at a time, in either direction, in the order of asking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    page_ns: u64,
    free_from_ns: u64,
}

impl Link {
    pub fn new(page_ns: u64) -> Self {
        Self { page_ns, free_from_ns: 0 }
    }

    /// Carries `pages` that are ready now, at `now_ns`; when that is done. To be asked
    /// in order of time.
    pub fn carry(&mut self, pages: u32, now_ns: u64) -> u64 {
        self.free_from_ns = self.free_from_ns.max(now_ns) + u64::from(pages) * self.page_ns;
        self.free_from_ns
    }
}

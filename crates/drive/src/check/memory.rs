//! How much memory a run takes, and whether there is so much.

use ftl::Layout;
use nand::Geometry;

/// Bytes that a run takes, and that there are.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// For the map, the reverse map and live bits.
    pub map_bytes: u64,
    /// For blocks, units, queues and histograms.
    pub other_bytes: u64,
    /// For the auditor.
    pub audit_bytes: u64,
    /// Free on this machine, where that can be known.
    pub available_bytes: Option<u64>,
}

impl Memory {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.map_bytes + self.other_bytes + self.audit_bytes
    }
    /// What is wrong where there is too little.
    pub fn fault(&self) -> Option<String> {
        let available = self.available_bytes?;
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        (self.total() > available).then(|| {
            format!(
                "the drive takes {:.1} GiB of memory and {:.1} GiB are available; choose a smaller drive or a larger mapping unit{}",
                gib(self.total()),
                gib(available),
                if self.audit_bytes > 0 { ", or run without audit" } else { "" },
            )
        })
    }
}

/// The memory that a run on a drive of this layout takes.
pub fn memory(layout: &Layout, geometry: &Geometry, buffer_units: u32, audit: bool) -> Memory {
    let (logical, physical) = (u64::from(layout.logical_units), u64::from(layout.physical_units()));
    Memory {
        map_bytes: 4 * logical + 4 * physical + physical / 8,
        other_bytes: u64::from(layout.blocks()) * 48
            + u64::from(geometry.planes()) * 1024
            + u64::from(buffer_units) * 384
            + (32 << 20),
        audit_bytes: if audit { 8 * physical + 16 * logical } else { 0 },
        available_bytes: available(),
    }
}

/// Bytes that the system says it can give without swapping.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

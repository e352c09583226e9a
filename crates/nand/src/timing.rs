//! Durations of the phases of each command, resolved once from the configuration.

use crate::config::NandConfig;
use crate::geometry::Geometry;
use crate::pulses::Pulses;
use engine::{Divisor, Span};

/// Durations of the phases of flash commands.
#[derive(Clone, Debug)]
pub struct Timing {
    read: Vec<Span>,
    program: Vec<Span>,
    /// The steps of an erase.
    pub erase: Pulses,
    /// The steps of a program by page type, if they are configured.
    program_steps: Vec<Pulses>,
    /// ECC decoding after a read's transfer.
    pub decode: Span,
    /// Bytes of a codeword, if a read may transfer less than a whole unit.
    pub codeword_bytes: Option<u64>,
    /// Command cycles on the channel, if they take time.
    pub cycles: Option<Cycles>,
    types: Divisor,
    bytes_per_second: u64,
    /// Bytes of one lane.
    page_bytes: u64,
    spare_bytes: u64,
    lanes: u64,
}

/// Times for which the cycles of each command hold its channel.
#[derive(Clone, Copy, Debug)]
pub struct Cycles {
    /// Cycles to sense a page.
    pub read: Span,
    /// Cycles to program a page.
    pub program: Span,
    /// Cycles to erase a block.
    pub erase: Span,
}

impl Timing {
    /// The durations that `nand` gives for pages of `geometry`. A single figure is used for every
    /// page type.
    ///
    /// # Panics
    /// If the number of figures is neither 1 nor the number of page types, or a step of a program
    /// is too short; the check of the drive refuses both before.
    pub fn new(nand: &NandConfig, geometry: &Geometry) -> Self {
        let types = nand.cell.bits() as usize;
        let per_type = |figures: &[settings::Time]| -> Vec<Span> {
            assert!(figures.len() == 1 || figures.len() == types, "one figure a page type");
            (0..types).map(|kind| figures[kind % figures.len()].span()).collect()
        };
        let program = per_type(&nand.program);
        let steps = nand.program_steps.as_ref();
        let of_program = |whole: &Span| {
            let pulses = steps.map(|steps| Pulses::of_program(steps, *whole))?;
            Some(pulses.expect("a checked step has time for its ramp, recovery and verify"))
        };
        Self {
            read: per_type(&nand.read),
            program_steps: program.iter().filter_map(of_program).collect(),
            program,
            erase: Pulses::from(&nand.erase),
            types: Divisor::new(types as u32),
            decode: nand.decode.span(),
            codeword_bytes: nand.codeword.map(|size| size.bytes()),
            cycles: nand.command_cycles.map(|cycles| Cycles {
                read: cycles.read.span(),
                program: cycles.program.span(),
                erase: cycles.erase.span(),
            }),
            bytes_per_second: nand.channel.bytes_per_second(),
            page_bytes: geometry.page_bytes / u64::from(geometry.lanes),
            spare_bytes: geometry.spare_bytes / u64::from(geometry.lanes),
            lanes: u64::from(geometry.lanes),
        }
    }

    /// Number of page types.
    pub fn page_types(&self) -> u32 {
        self.read.len() as u32
    }
    /// Time to sense page `page` of a block.
    #[inline]
    pub fn read(&self, page: u32) -> Span {
        self.read[self.types.split(page).1 as usize]
    }
    /// Time to program page `page` of a block.
    #[inline]
    pub fn program(&self, page: u32) -> Span {
        self.program[self.types.split(page).1 as usize]
    }
    /// Time to sense a page, on average over the page types.
    pub fn mean_read(&self) -> Span {
        mean(&self.read)
    }
    /// Time to program a page, on average over the page types.
    pub fn mean_program(&self) -> Span {
        mean(&self.program)
    }
    /// The program steps of page `page` of a block.
    ///
    /// # Panics
    /// If `nand.program_steps` is not given.
    pub fn program_steps(&self, page: u32) -> &Pulses {
        &self.program_steps[self.types.split(page).1 as usize]
    }
    /// Time to transfer `data` bytes of page contents over the channel, with their share of the
    /// page's spare bytes. It is rounded to the nearest nanosecond once per transfer, so the
    /// error is at most half a nanosecond: 0.06 % for 4 KiB at 4800 MT/s. If several lanes carry
    /// a page, each carries its part, and the lane with the most bytes counts.
    pub fn transfer(&self, data: u64) -> Span {
        let of_all = self.page_bytes * self.lanes;
        let (pages, rest) = (data / of_all, data % of_all);
        self.by_lane(pages * self.page_bytes + rest.min(self.page_bytes))
    }
    /// As [`Timing::transfer`], for bytes `from..to` of pages that begin at 0.
    pub fn transfer_part(&self, from: u64, to: u64) -> Span {
        let (lane, page) = (self.page_bytes, self.page_bytes * self.lanes);
        let fullest = |at: u64| {
            let (from, to) = (from.max(at * page), to.min((at + 1) * page));
            // If lanes are only partly used, the first or the last has the most bytes.
            let first = to.min((from / lane + 1) * lane) - from;
            first.max((to - from - first).min(lane))
        };
        self.by_lane((from / page..to.div_ceil(page)).map(fullest).sum())
    }
    /// Time to transfer `data` bytes over the lane with the most bytes, with their share of spare
    /// bytes.
    fn by_lane(&self, data: u64) -> Span {
        let page = u128::from(self.page_bytes);
        let bytes_by_page = u128::from(data) * (page + u128::from(self.spare_bytes));
        let per_second = page * u128::from(self.bytes_per_second);
        let ns = (bytes_by_page * 1_000_000_000 + per_second / 2) / per_second;
        Span::from_ns(ns as u64)
    }
}

fn mean(of: &[Span]) -> Span {
    Span::from_ns(of.iter().copied().sum::<Span>().as_ns() / of.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GeometryConfig;
    use proptest::prelude::*;

    /// One byte takes one nanosecond.
    fn timing(lanes: u32, page: u64) -> Timing {
        let geometry: GeometryConfig = serde_json::from_value(serde_json::json!({
            "channels": lanes, "packages_per_channel": 1, "dies_per_package": 1,
            "planes_per_die": 1, "blocks_per_plane": 8, "pages_per_block": 8,
            "page_size": format!("{page} B"), "page_spare": "0 B",
            "gang": { "channels": lanes, "control": "synchronous" },
        }))
        .expect("a geometry");
        let nand: NandConfig = serde_json::from_value(serde_json::json!({
            "cell": "slc", "read": ["25 us"], "program": ["200 us"], "decode": "0 us",
            "erase": { "steps": 1, "ramp": "0 us", "execute": "1500 us", "recover": "0 us",
                       "verify": "0 us" },
            "channel": "1 GB/s", "endurance": 0,
        }))
        .expect("flash");
        Timing::new(&nand, &Geometry::from(&geometry))
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn the_fullest_lane_counts_byte_by_byte(
            lanes in 1..5u32,
            page in 1..9u64,
            (from, length) in (0..60u64, 0..80u64),
        ) {
            let to = from + length;
            let of_all = page * u64::from(lanes);
            // Pages are transferred one after the other, their lanes together.
            let mut expected = 0;
            for at in from / of_all..=to / of_all {
                let mut carried = vec![0; lanes as usize];
                for byte in (at * of_all).max(from)..((at + 1) * of_all).min(to) {
                    carried[(byte % of_all / page) as usize] += 1;
                }
                expected += carried.iter().max().copied().unwrap_or(0);
            }
            prop_assert_eq!(timing(lanes, page).transfer_part(from, to), Span::from_ns(expected));
        }
    }
}

//! A batch of page requests, and the rounds in which an element serves it.

use super::flash::{Flash, NoFreeBlock, Place};
use super::rules::Pool;
use std::collections::VecDeque;

/// Most reads, or writes, of one batch.
pub(super) const BATCH: usize = 100;

/// A page that a request wants from an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PageRequest {
    /// The request.
    pub request: usize,
    /// Number of the page in the element.
    pub page: usize,
    pub is_read: bool,
}

/// A page request that was served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PageDone {
    pub request: usize,
    pub at_ns: u64,
}

/// The requests that an element takes from its queue at once.
#[derive(Clone, Default, Debug)]
pub(super) struct Batch {
    pub reads: Vec<PageRequest>,
    pub writes: Vec<PageRequest>,
    /// Requests with the page and direction of one above.
    pub duplicates: Vec<PageRequest>,
}

impl Batch {
    /// Takes requests from the front of `queue`: one, or with several parallel units all, until
    /// the reads or the writes fill a batch. Duplicates do not count.
    pub fn take(queue: &mut VecDeque<PageRequest>, units: usize) -> Self {
        let most = if units > 1 { BATCH } else { 1 };
        let mut batch = Self::default();
        while batch.reads.len() < most && batch.writes.len() < most {
            let Some(next) = queue.pop_front() else { break };
            let alike = if next.is_read { &mut batch.reads } else { &mut batch.writes };
            if alike.iter().any(|taken| taken.page == next.page) {
                batch.duplicates.push(next);
            } else {
                alike.push(next);
            }
        }
        batch
    }
}

/// A page request and the space that it reads from or writes to.
#[derive(Clone, Copy, Debug)]
struct Assigned {
    wanted: PageRequest,
    space: usize,
}

impl Flash {
    /// Serves `batch` from `now_ns` on, reads before writes; returns the end of each. Duplicates
    /// end at once.
    pub fn serve(&mut self, batch: &Batch, now_ns: u64) -> Result<Vec<PageDone>, NoFreeBlock> {
        let at_once =
            |duplicate: &PageRequest| PageDone { request: duplicate.request, at_ns: now_ns };
        let mut done: Vec<_> = batch.duplicates.iter().map(at_once).collect();
        let reads = batch.reads.iter().map(|read| self.assign_read(*read)).collect();
        let reads_end_ns = self.phase(reads, now_ns, &mut done)?;
        let writes = self.assign_writes(&batch.writes);
        self.phase(writes, reads_end_ns, &mut done)?;
        Ok(done)
    }

    fn assign_read(&self, wanted: PageRequest) -> Assigned {
        Assigned { wanted, space: self.space_of(self.places[wanted.page].block) }
    }

    /// Chooses the space of each of `writes`, before any of them is written.
    fn assign_writes(&mut self, writes: &[PageRequest]) -> Vec<Assigned> {
        let mut assigned = vec![0; self.spaces.len()];
        let mut assign = |wanted: &PageRequest| {
            let space = match self.rules.pool {
                Pool::Element if self.rules.copy_back => self.choose_plane(wanted.page, &assigned),
                _ => self.space_of(self.places[wanted.page].block),
            };
            assigned[space] += 1;
            Assigned { wanted: *wanted, space }
        };
        writes.iter().map(&mut assign).collect()
    }

    /// The plane with the most free pages, among those where the new version of `page` would come
    /// after the old one in the order in which blocks were opened. Of equal planes the first from
    /// `plane_to_write` on, which then moves behind it. `assigned` counts the writes that each
    /// plane already has to take.
    fn choose_plane(&mut self, page: usize, assigned: &[i64]) -> usize {
        let planes = self.layout.planes;
        let mut best: Option<(i64, usize)> = None;
        for plane in (self.plane_to_write..self.plane_to_write + planes).map(|at| at % planes) {
            let free = self.free_pages(plane) - assigned[plane];
            if self.keeps_order(page, plane) && best.is_none_or(|(most, _)| free > most) {
                best = Some((free, plane));
            }
        }
        // The block opened last qualifies for every page: its content can only be superseded in
        // itself or in a block opened later.
        let (_, chosen) = best.expect("the plane of the newest block keeps the order");
        self.plane_to_write = (chosen + 1) % planes;
        chosen
    }

    fn keeps_order(&self, page: usize, plane: usize) -> bool {
        let Place { block, page: old } = self.places[page];
        let space = &self.spaces[plane];
        let (active, other) = (self.blocks[space.active].sequence, self.blocks[block].sequence);
        active > other || (active == other && space.next > old)
    }

    /// Pages of `plane` that can be written before anything is erased, with summaries.
    fn free_pages(&self, plane: usize) -> i64 {
        let space = &self.spaces[plane];
        let pages_per_block = self.layout.data_pages + 1;
        (space.free * pages_per_block + pages_per_block - space.next) as i64
    }

    /// Serves `assigned`, all reads or all writes, from `begin_ns` on, and adds the end of each
    /// to `done`. In a round each parallel unit serves its first remaining request; a round
    /// begins when the slowest request of the last one has ended. Returns the end of the last
    /// round.
    fn phase(
        &mut self,
        assigned: Vec<Assigned>,
        begin_ns: u64,
        done: &mut Vec<PageDone>,
    ) -> Result<u64, NoFreeBlock> {
        let mut units = vec![VecDeque::new(); self.layout.units];
        for one in assigned {
            units[self.unit_of_space(one.space)].push_back(one);
        }
        let mut round_ns = begin_ns;
        loop {
            let round: Vec<_> = units.iter_mut().filter_map(VecDeque::pop_front).collect();
            if round.is_empty() {
                return Ok(round_ns);
            }
            let mut slowest_ns = round_ns;
            for (before, one) in round.into_iter().enumerate() {
                let at_ns = round_ns + before as u64 * self.rules.transfer_ns + self.alone(one)?;
                done.push(PageDone { request: one.wanted.request, at_ns });
                slowest_ns = slowest_ns.max(at_ns);
            }
            round_ns = slowest_ns;
        }
    }

    fn unit_of_space(&self, space: usize) -> usize {
        if self.rules.copy_back { self.layout.unit_of(space) } else { 0 }
    }

    /// Reads or writes a page; returns the time, if the pins are free, in nanoseconds.
    fn alone(&mut self, one: Assigned) -> Result<u64, NoFreeBlock> {
        let in_the_array_ns = if one.wanted.is_read {
            self.rules.read_ns
        } else {
            self.program(one.wanted.page, one.space)?
        };
        Ok(in_the_array_ns + self.rules.transfer_ns)
    }
}

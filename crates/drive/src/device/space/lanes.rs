//! Programs of superblocks. The die of a program must be known when the program is asked for, so it is
//! bound to its page then, in the order of asking, and not when it starts. The programs of a stream in
//! one lane start in the order of asking, too: they need the same units, and their classes keep it.
//! The parity of a stripe is asked for right after the last batch of the stripe's data.

use crate::device::Base;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use crate::device::flash::{Ask, Bound};
use crate::device::ids::OpId;
use crate::device::space::Space;
use engine::Span;
use ftl::{Batch, BinId, SetId, Stream};
use metrics::Holder;

impl Space {
    /// True if programs are bound to pages when they are asked for.
    #[inline]
    pub(in crate::device) fn binds_early(&self) -> bool {
        self.ftl.layout.has_superblocks()
    }

    /// The stream of a program.
    fn stream_of(&self, holder: Holder) -> Stream {
        match holder {
            Holder::HostProgram => Stream::Host,
            Holder::Scrub => self.ftl.scrub_stream(),
            _ => Stream::Gc,
        }
    }

    /// Binds a program that is asked for now; returns true as well if its bin owes work for it.
    fn bind_early(&mut self, bin: BinId, stream: Stream) -> (Batch, bool) {
        let at = self.ftl.bind(bin, stream).expect("a program is asked for only if it has a page");
        let mut owes = false;
        if stream == Stream::Host {
            owes = self.note_bound(bin) == Bound::Owing;
        } else if at.batch == 0 {
            self.update_home(bin);
        }
        if at.batch == 0 || self.ftl.counts_pages() {
            self.look_at([bin]);
        }
        (at, owes)
    }
}

impl Base {
    /// Asks for a program of a payload in a superblock, and for the parity that is due then.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn ask_bound(
        &mut self,
        bin: BinId,
        holder: Holder,
        (class, owner): (Class, Owner),
        transfer: Span,
    ) -> OpId {
        let stream = self.space.stream_of(holder);
        let (at, owes) = self.space.bind_early(bin, stream);
        if owes {
            self.raise_background(bin);
        }
        if class == Class::Foreground {
            // Older programs of the lane must not start later.
            let lane = self.space.ftl.layout.lane(at.batch);
            let group = self.flash.place_of(bin, lane).group;
            self.flash.raise_background(group);
        }
        let op = self.ask_at(at, holder, (class, owner), transfer);
        if let Some(parity) = self.space.ftl.parity_after(at) {
            let whole = self.flash.shape().of_batch();
            let owner = match owner {
                Owner::ScrubWrite(_) => Owner::ScrubParity,
                _ if holder == Holder::Scrub => Owner::CollectParity(Stream::Scrub),
                _ if stream == Stream::Host => Owner::StripeParity,
                _ => Owner::CollectParity(stream),
            };
            self.ask_parity(parity, (class, owner), whole);
        }
        op
    }

    /// Asks for the parity of a stripe whose data is written.
    fn ask_parity(&mut self, at: Batch, (class, owner): (Class, Owner), transfer: Span) {
        if class == Class::Foreground {
            let bin = self.space.ftl.layout.bin(at.block);
            let group = self.flash.place_of(bin, at.batch).group;
            self.flash.raise_background(group);
        }
        let id = self.ask_at(at, Holder::Parity, (class, owner), transfer);
        if self.flash.op(id).is_collection() {
            self.begin_task(self.flash.op(id).bin);
        }
    }

    fn ask_at(
        &mut self,
        at: Batch,
        holder: Holder,
        (class, owner): (Class, Owner),
        transfer: Span,
    ) -> OpId {
        let layout = &self.space.ftl.layout;
        self.ask(Ask {
            slots: 0,
            kind: OpKind::Program,
            holder,
            owner,
            class,
            bin: layout.bin(at.block),
            planes: layout.all_planes(),
            block: at.block,
            batch: at.batch,
            row: layout.first_row(at.batch),
            rows: layout.rows_per_batch,
            transfer,
            bytes: 0,
        })
    }

    /// Raises queued background GC to foreground GC, in the groups of all lanes of a bin.
    #[inline]
    pub fn raise_background(&mut self, bin: BinId) {
        for lane in 0..self.flash.lanes() {
            let group = self.flash.place_of(bin, lane).group;
            self.flash.raise_background(group);
        }
    }

    /// Lets the scrubbing of a bin, as a task of its own, go before programs of hosts.
    pub fn raise_scrubbing(&mut self, bin: BinId) {
        for lane in 0..self.flash.lanes() {
            let group = self.flash.place_of(bin, lane).group;
            self.flash.raise_scrubbing(group, bin);
            self.serve(group);
        }
    }

    /// Ends the program of a stripe's parity.
    pub(in crate::device) fn parity_ended(&mut self, op: OpId, stream: Stream) {
        let (at, bin) = (self.flash.op(op).at(), self.flash.op(op).bin);
        self.audit_row_parity(at);
        self.space.ftl.finish_parity_at(at, stream);
        // The block may be closed now, and gain space.
        self.space.look_at([bin]);
        self.space.retry_starved(SetId(0));
    }
}

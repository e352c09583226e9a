//! Reports of the device to the auditor, if there is one.

use crate::audit::Audit;
use crate::device::Base;
use crate::device::ids::{OpId, RequestId};
use crate::device::pieces::Piece;
use crate::device::request::Requests;
use ftl::{Batch, BlockId, Lpn, Ppn};

impl Base {
    #[inline]
    pub fn audit_buffer_read(&self, requests: &mut Requests, id: RequestId, lpn: Lpn, token: u64) {
        self.audit_read(requests, id, |audit, layout, command, ticket| {
            audit.read_buffer(layout, command, ticket, lpn, token)
        });
    }
    #[inline]
    pub fn audit_flash_read(&self, requests: &mut Requests, id: RequestId, lpn: Lpn, ppn: Ppn) {
        let holds = self.space.ftl.holds(ppn);
        self.audit_read(requests, id, |audit, layout, command, ticket| {
            audit.read_flash(layout, command, ticket, lpn, ppn, holds)
        });
    }
    #[inline]
    pub fn audit_unmapped_read(&self, requests: &mut Requests, id: RequestId, lpn: Lpn) {
        self.audit_read(requests, id, |audit, layout, command, ticket| {
            audit.read_unmapped(layout, command, ticket, lpn)
        });
    }
    /// Reports a read of a unit that is computed from the rest of its stripe: from these pages, and
    /// from members in memory whose tokens give `in_ram`. The unit's token must be `stored`.
    #[inline]
    pub fn audit_rebuilt_read(
        &self,
        requests: &mut Requests,
        id: RequestId,
        (lpn, stored): (Lpn, u64),
        (from, in_ram): (impl Iterator<Item = Ppn>, u64),
    ) {
        let stripe = self.space.ftl.layout.stripes.expect("data has parity").of(lpn);
        let pages = from.map(|ppn| (ppn, self.space.ftl.holds(ppn)));
        self.audit_read(requests, id, |audit, layout, command, ticket| {
            audit.read_rebuilt(layout, command, ticket, (lpn, stored, stripe), (pages, in_ram))
        });
    }
    /// Reports a read that waits until its data, which is in the buffer, is on flash.
    #[inline]
    pub fn audit_deferred_read(&self, requests: &mut Requests, id: RequestId, lpn: Lpn) {
        self.audit_read(requests, id, |audit, layout, command, ticket| {
            audit.read_deferred(layout, command, ticket, lpn)
        });
    }
    #[inline]
    fn audit_read(
        &self,
        requests: &mut Requests,
        id: RequestId,
        check: impl FnOnce(&Audit, &ftl::Layout, host::Command, &mut crate::audit::AuditTicket),
    ) {
        if let Some(audit) = &self.audit {
            let command = requests[id].command;
            check(audit, &self.space.ftl.layout, command, requests.ticket(id));
        }
    }

    /// Reports that a unit of a write is taken in; returns its token, or 0 without auditor.
    #[inline]
    pub fn audit_token(&mut self, requests: &mut Requests, id: RequestId, lpn: Lpn) -> u64 {
        match &mut self.audit {
            Some(audit) => {
                let command = requests[id].command;
                audit.taken_in(&self.space.ftl.layout, command, requests.ticket(id), lpn)
            }
            None => 0,
        }
    }
    /// The token of new data that replaces data `of`: the part that the host wrote is new, and the
    /// rest stays.
    #[inline]
    pub fn audit_merge(&self, lpn: Lpn, token: u64, of: u64) -> u64 {
        match &self.audit {
            Some(audit) => audit.merge(lpn, token, of),
            None => token,
        }
    }
    /// The token of a partial write whose rest is the data at `ppn`.
    #[inline]
    pub fn audit_rmw_read(&self, lpn: Lpn, token: u64, ppn: Ppn) -> u64 {
        match &self.audit {
            Some(audit) => audit.merge_flash(lpn, token, ppn, self.space.ftl.holds(ppn)),
            None => token,
        }
    }
    /// Checks that bytes `from..to` of the drive, as far as they lie in `lpn`, are on the pages
    /// that will be sensed for them.
    #[inline]
    pub fn audit_pieces(&self, pieces: &[Piece], lpn: Lpn, ppn: Ppn, from: u64, to: u64) {
        if self.audit.is_some() {
            self.check_pieces(pieces, lpn, ppn, from, to);
        }
    }
    #[cold]
    #[inline(never)]
    fn check_pieces(&self, pieces: &[Piece], lpn: Lpn, ppn: Ppn, from: u64, to: u64) {
        let layout = &self.space.ftl.layout;
        let (block, place) = layout.block_and_place(ppn);
        let start = u64::from(lpn.0) * layout.unit_bytes;
        let within = |byte: u64| byte.clamp(start, start + layout.unit_bytes) - start;
        // A block's bytes lie one behind the other in its rows, a row's in its planes.
        let base = u64::from(place) * layout.unit_bytes;
        let first = (base + within(from)) / layout.page_bytes;
        let behind = (base + within(to)).div_ceil(layout.page_bytes);
        for page in first..behind {
            let planes = u64::from(layout.block_planes);
            // A batch's rows lie one behind the other in its lane.
            let (row, plane) = ((page / planes) as u32, page % planes);
            let (batch, step) = (row / layout.rows_per_batch, row % layout.rows_per_batch);
            let row = layout.first_row(batch) + step;
            assert!(
                pieces.iter().rev().any(|piece| piece.has(Batch { block, batch }, row, plane)),
                "audit: {lpn:?} lies in row {row}, plane {plane} of {block:?}, and {pieces:?} are read"
            );
        }
    }
    #[inline]
    pub fn audit_trim(&mut self, requests: &mut Requests, id: RequestId, lpn: Lpn) {
        if let Some(audit) = &mut self.audit {
            let kind = requests[id].command.kind;
            audit.trimmed(kind, requests.ticket(id), lpn);
        }
    }
    /// Reports that a part of a unit is trimmed.
    #[cold]
    pub fn audit_trim_part(&mut self, requests: &mut Requests, id: RequestId, lpn: Lpn) {
        let (command, ftl) = (requests[id].command, &self.space.ftl);
        if let Some(audit) = &mut self.audit {
            audit.trimmed_part(ftl, command, requests.ticket(id), lpn);
        }
    }
    #[inline]
    pub fn audit_program(&mut self, lpn: Lpn, ppn: Ppn, token: u64) {
        if let Some(audit) = &mut self.audit {
            audit.programmed(&self.space.ftl.layout, lpn, ppn, token);
        }
    }
    /// Reports that a member of a stripe is on flash: data, or parity.
    pub fn audit_member(&mut self, ppn: Ppn, lpn: Lpn, token: u64) {
        let stripes = self.space.ftl.layout.stripes.expect("data has parity");
        match stripes.is_parity(lpn) {
            true => self.audit_parity(ppn, token),
            false => self.audit_program(lpn, ppn, token),
        }
    }
    /// Reports that parity is on flash.
    pub fn audit_parity(&mut self, ppn: Ppn, token: u64) {
        if let Some(audit) = &mut self.audit {
            audit.parity_programmed(&self.space.ftl.layout, ppn, token);
        }
    }
    /// Reports the data at a slot of a program that was asked for in a superblock.
    #[cold]
    pub fn audit_bound(&mut self, op: OpId, slot: u32, token: u64) {
        let at = self.flash.op(op).at();
        if let Some(audit) = &mut self.audit {
            audit.bound(&self.space.ftl, at, slot, token);
        }
    }
    /// Reports that the parity of a stripe of a superblock is on flash.
    #[cold]
    pub fn audit_row_parity(&mut self, at: Batch) {
        if let Some(audit) = &mut self.audit {
            audit.row_parity_programmed(&self.space.ftl, at);
        }
    }
    /// The token of the data at `ppn`; 0 without auditor.
    pub fn audit_stored(&self, ppn: Ppn) -> u64 {
        self.audit.as_ref().map_or(0, |audit| audit.stored_at(ppn))
    }
    #[inline]
    pub fn audit_copy(&mut self, from: Ppn, to: Ppn) {
        if let Some(audit) = &mut self.audit {
            audit.copied(&self.space.ftl, from, to);
        }
    }
    /// Reports a copy-back; where it moves odd pages to odd ones, a page before it may have no data.
    #[inline(never)]
    pub fn audit_fit(&mut self, from: Batch, to: Batch) {
        if self.space.odd_even
            && let Some(audit) = &mut self.audit
        {
            audit.fits(&self.space.ftl.layout, from, to);
        }
    }
    /// Reports that all units of a batch were copied.
    #[inline(never)]
    pub fn audit_batch_copy(&mut self, from: Batch, to: Batch) {
        let layout = &self.space.ftl.layout;
        let [from, to] = [from, to].map(|at| layout.first_unit(at.block, at.batch).0);
        let slots = 0..layout.units_per_batch;
        for slot in slots {
            let [from, to] = [from, to].map(|first| Ppn(first + slot));
            self.audit_copy(from, to);
        }
    }
    #[inline]
    pub fn audit_erase(&mut self, block: BlockId) {
        if let Some(audit) = &mut self.audit {
            audit.erased(&self.space.ftl, block);
        }
    }

    /// Reports data of a program that a power cut interrupted after the data was on flash.
    pub fn audit_survived(&mut self, lpn: Lpn, ppn: Ppn, token: u64) {
        if let Some(audit) = &mut self.audit {
            audit.survived(&self.space.ftl.layout, lpn, ppn, token);
        }
    }
    /// Reports data of a program that a power cut interrupted: it cannot be distinguished from
    /// noise.
    pub fn audit_torn(&mut self, ppn: Ppn) {
        if let Some(audit) = &mut self.audit {
            audit.torn(ppn);
        }
    }

    /// True if the drive is audited.
    pub fn is_audited(&self) -> bool {
        self.audit.is_some()
    }
}

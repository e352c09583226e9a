//! What the device tells the auditor, where there is one.

use crate::audit::Audit;
use crate::device::Device;
use crate::device::port::read::Piece;
use crate::device::port::request::RequestId;
use crate::device::write::buffer::EntryId;
use ftl::{BlockId, Lpn, Pun};

impl Device {
    #[inline]
    pub(in crate::device) fn audit_buffer_read(&mut self, id: RequestId, lpn: Lpn, entry: EntryId) {
        if self.base.audit.is_some() {
            let token = self.write.buffer.token(entry);
            self.audit_read(id, |audit, layout, command, ticket| {
                audit.read_buffer(layout, command, ticket, lpn, token)
            });
        }
    }
    #[inline]
    pub(in crate::device) fn audit_flash_read(&mut self, id: RequestId, lpn: Lpn, pun: Pun) {
        let holds = self.base.space.ftl.holds(pun);
        self.audit_read(id, |audit, layout, command, ticket| {
            audit.read_flash(layout, command, ticket, lpn, pun, holds)
        });
    }
    #[inline]
    pub(in crate::device) fn audit_unmapped_read(&mut self, id: RequestId, lpn: Lpn) {
        self.audit_read(id, |audit, layout, command, ticket| {
            audit.read_unmapped(layout, command, ticket, lpn)
        });
    }
    /// A read waits until its data, which is in the buffer, is on flash.
    #[inline]
    pub(in crate::device) fn audit_deferred_read(&mut self, id: RequestId, lpn: Lpn) {
        self.audit_read(id, |audit, layout, command, ticket| {
            audit.read_deferred(layout, command, ticket, lpn)
        });
    }
    #[inline]
    fn audit_read(
        &mut self,
        id: RequestId,
        check: impl FnOnce(&Audit, &ftl::Layout, host::Command, &mut crate::audit::AuditTicket),
    ) {
        if let Some(audit) = &self.base.audit {
            let command = self.port.requests[id].command;
            check(audit, &self.base.space.ftl.layout, command, &mut self.port.requests[id].ticket);
        }
    }

    /// A unit of a write is taken in; returns its token, or 0 without auditor.
    #[inline]
    pub(in crate::device) fn audit_token(&mut self, id: RequestId, lpn: Lpn) -> u64 {
        match &mut self.base.audit {
            Some(audit) => {
                let request = &mut self.port.requests[id];
                audit.taken_in(
                    &self.base.space.ftl.layout,
                    request.command,
                    &mut request.ticket,
                    lpn,
                )
            }
            None => 0,
        }
    }
    /// The token of new data in `of`'s place, of which all but the part that the host wrote
    /// stays as it is there.
    #[inline]
    pub(in crate::device) fn audit_merge(&self, lpn: Lpn, token: u64, of: EntryId) -> u64 {
        match &self.base.audit {
            Some(audit) => audit.merge(lpn, token, self.write.buffer.token(of)),
            None => token,
        }
    }
    /// An entry's data is a part of a unit, the rest is what `pun` holds.
    #[inline]
    pub(in crate::device) fn audit_fetch(&mut self, entry: EntryId, lpn: Lpn, pun: Pun) {
        if let Some(audit) = &self.base.audit {
            let token = self.write.buffer.token(entry);
            let whole = audit.merge_flash(lpn, token, pun, self.base.space.ftl.holds(pun));
            self.write.buffer.set_token(entry, whole);
        }
    }
    /// Bytes `from..to` of the drive, as far as they lie in `lpn`, are on the pages
    /// that will be sensed for them.
    #[inline]
    pub(in crate::device) fn audit_pieces(
        &self,
        pieces: &[Piece],
        lpn: Lpn,
        pun: Pun,
        from: u64,
        to: u64,
    ) {
        if self.base.audit.is_none() {
            return;
        }
        let layout = &self.base.space.ftl.layout;
        let (block, place) = layout.block_and_place(pun);
        let start = u64::from(lpn.0) * layout.unit_bytes;
        let within = |byte: u64| byte.clamp(start, start + layout.unit_bytes) - start;
        // A block's bytes lie one behind the other in its rows, a row's in its planes.
        let base = u64::from(place) * layout.unit_bytes;
        let first = (base + within(from)) / layout.page_bytes;
        let behind = (base + within(to)).div_ceil(layout.page_bytes);
        for page in first..behind {
            let planes = u64::from(layout.block_planes);
            let (row, plane) = ((page / planes) as u32, page % planes);
            assert!(
                pieces.iter().rev().any(|piece| piece.has(block, row, plane)),
                "audit: {lpn:?} lies in row {row}, plane {plane} of {block:?}, and {pieces:?} are read"
            );
        }
    }
    #[inline]
    pub(in crate::device) fn audit_trim(&mut self, id: RequestId, lpn: Lpn) {
        if let Some(audit) = &mut self.base.audit {
            let request = &mut self.port.requests[id];
            audit.trimmed(request.command.kind, &mut request.ticket, lpn);
        }
    }
    #[inline]
    pub(in crate::device) fn audit_program(&mut self, lpn: Lpn, pun: Pun, token: u64) {
        if let Some(audit) = &mut self.base.audit {
            audit.programmed(&self.base.space.ftl.layout, lpn, pun, token);
        }
    }
    #[inline]
    pub(in crate::device) fn audit_copy(&mut self, from: Pun, to: Pun) {
        if let Some(audit) = &mut self.base.audit {
            audit.copied(&self.base.space.ftl.layout, from, to);
        }
    }
    #[inline]
    pub(in crate::device) fn audit_erase(&mut self, block: BlockId) {
        if let Some(audit) = &mut self.base.audit {
            audit.erased(&self.base.space.ftl.layout, block);
        }
    }

    /// Data of a program that the power cut off after that was on flash.
    pub(in crate::device) fn audit_survived(&mut self, lpn: Lpn, pun: Pun, token: u64) {
        if let Some(audit) = &mut self.base.audit {
            audit.survived(&self.base.space.ftl.layout, lpn, pun, token);
        }
    }
    /// What a program carried that the power cut off: it is not told from noise.
    pub(in crate::device) fn audit_torn(&mut self, pun: Pun) {
        if let Some(audit) = &mut self.base.audit {
            audit.torn(pun);
        }
    }

    /// Checks the auditor's account against all that the drive holds.
    pub(in crate::device) fn finish_account(&self, audit: &Audit) -> Result<(), String> {
        let buffered =
            |lpn| self.write.buffer.find(lpn).map(|entry| self.write.buffer.token(entry));
        audit.finish(&self.base.space.ftl, self.port.outstanding, buffered)
    }
    /// The auditor's integral over time of how many commands were in the drive, and
    /// how long commands waited before they came in, in nanoseconds; nothing without
    /// auditor.
    pub fn audited_outstanding_ns(&self) -> Option<(u128, u128)> {
        self.base.audit.as_ref().map(|audit| audit.outstanding_ns())
    }
}

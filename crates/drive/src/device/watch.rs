//! What the device tells the auditor, where there is one.

use super::Device;
use super::buffer::EntryId;
use super::read::Piece;
use super::request::RequestId;
use crate::audit::Audit;
use ftl::{BlockId, Lpn, Pun};

impl Device {
    #[inline]
    pub(super) fn audit_buffer_read(&mut self, id: RequestId, lpn: Lpn, entry: EntryId) {
        if self.audit.is_some() {
            let token = self.buffer.token(entry);
            self.audit_read(id, |audit, layout, command, ticket| {
                audit.read_buffer(layout, command, ticket, lpn, token)
            });
        }
    }
    #[inline]
    pub(super) fn audit_flash_read(&mut self, id: RequestId, lpn: Lpn, pun: Pun) {
        let holds = self.ftl.holds(pun);
        self.audit_read(id, |audit, layout, command, ticket| {
            audit.read_flash(layout, command, ticket, lpn, pun, holds)
        });
    }
    #[inline]
    pub(super) fn audit_unmapped_read(&mut self, id: RequestId, lpn: Lpn) {
        self.audit_read(id, |audit, layout, command, ticket| {
            audit.read_unmapped(layout, command, ticket, lpn)
        });
    }
    /// A read waits until its data, which is in the buffer, is on flash.
    #[inline]
    pub(super) fn audit_deferred_read(&mut self, id: RequestId, lpn: Lpn) {
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
        if let Some(audit) = &self.audit {
            let command = self.requests[id].command;
            check(audit, &self.ftl.layout, command, &mut self.requests[id].ticket);
        }
    }

    /// A unit of a write is taken in; returns its token, or 0 without auditor.
    #[inline]
    pub(super) fn audit_token(&mut self, id: RequestId, lpn: Lpn) -> u64 {
        match &mut self.audit {
            Some(audit) => {
                let request = &mut self.requests[id];
                audit.taken_in(&self.ftl.layout, request.command, &mut request.ticket, lpn)
            }
            None => 0,
        }
    }
    /// The token of new data in `of`'s place, of which all but the part that the host wrote
    /// stays as it is there.
    #[inline]
    pub(super) fn audit_merge(&self, lpn: Lpn, token: u64, of: EntryId) -> u64 {
        match &self.audit {
            Some(audit) => audit.merge(lpn, token, self.buffer.token(of)),
            None => token,
        }
    }
    /// An entry's data is a part of a unit, the rest is what `pun` holds.
    #[inline]
    pub(super) fn audit_fetch(&mut self, entry: EntryId, lpn: Lpn, pun: Pun) {
        if let Some(audit) = &self.audit {
            let token = self.buffer.token(entry);
            let whole = audit.merge_flash(lpn, token, pun, self.ftl.holds(pun));
            self.buffer.set_token(entry, whole);
        }
    }
    /// Bytes `from..to` of the drive, as far as they lie in `lpn`, are on the pages
    /// that will be sensed for them.
    #[inline]
    pub(super) fn audit_pieces(&self, pieces: &[Piece], lpn: Lpn, pun: Pun, from: u64, to: u64) {
        if self.audit.is_none() {
            return;
        }
        let layout = &self.ftl.layout;
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
    pub(super) fn audit_trim(&mut self, id: RequestId, lpn: Lpn) {
        if let Some(audit) = &mut self.audit {
            let request = &mut self.requests[id];
            audit.trimmed(request.command.kind, &mut request.ticket, lpn);
        }
    }
    #[inline]
    pub(super) fn audit_program(&mut self, lpn: Lpn, pun: Pun, token: u64) {
        if let Some(audit) = &mut self.audit {
            audit.programmed(&self.ftl.layout, lpn, pun, token);
        }
    }
    #[inline]
    pub(super) fn audit_copy(&mut self, from: Pun, to: Pun) {
        if let Some(audit) = &mut self.audit {
            audit.copied(&self.ftl.layout, from, to);
        }
    }
    #[inline]
    pub(super) fn audit_erase(&mut self, block: BlockId) {
        if let Some(audit) = &mut self.audit {
            audit.erased(&self.ftl.layout, block);
        }
    }

    /// Data of a program that the power cut off after that was on flash.
    pub(super) fn audit_survived(&mut self, lpn: Lpn, pun: Pun, token: u64) {
        if let Some(audit) = &mut self.audit {
            audit.survived(&self.ftl.layout, lpn, pun, token);
        }
    }
    /// What a program carried that the power cut off: it is not told from noise.
    pub(super) fn audit_torn(&mut self, pun: Pun) {
        if let Some(audit) = &mut self.audit {
            audit.torn(pun);
        }
    }

    /// Checks the auditor's account against all that the drive holds.
    pub(super) fn finish_account(&self, audit: &Audit) -> Result<(), String> {
        let buffered = |lpn| self.buffer.find(lpn).map(|entry| self.buffer.token(entry));
        audit.finish(&self.ftl, self.outstanding, buffered)
    }
    /// The auditor's integral over time of how many commands were in the drive, and
    /// how long commands waited before they came in, in nanoseconds; nothing without
    /// auditor.
    pub fn audited_outstanding_ns(&self) -> Option<(u128, u128)> {
        self.audit.as_ref().map(|audit| audit.outstanding_ns())
    }
}

//! What the device tells the auditor, where there is one.

use super::Device;
use super::buffer::EntryId;
use super::request::RequestId;
use crate::audit::Audit;
use ftl::{BlockId, Lpn, Pun};

impl Device {
    #[inline]
    pub(super) fn audit_buffer_read(&mut self, id: RequestId, lpn: Lpn, entry: EntryId) {
        if self.audit.is_some() {
            let token = self.buffer.entry(entry).token;
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
            Some(audit) => audit.taken_in(&mut self.requests[id].ticket, lpn),
            None => 0,
        }
    }
    #[inline]
    pub(super) fn audit_trim(&mut self, id: RequestId, lpn: Lpn) {
        if let Some(audit) = &mut self.audit {
            audit.trimmed(&mut self.requests[id].ticket, lpn);
        }
    }
    #[inline]
    pub(super) fn audit_program(&mut self, pun: Pun, token: u64) {
        if let Some(audit) = &mut self.audit {
            audit.programmed(&self.ftl.layout, pun, token);
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
}

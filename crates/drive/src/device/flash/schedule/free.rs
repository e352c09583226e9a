//! Operations that begin as soon as their unit is free, by class and age; with them, operations
//! that are suspended for reads and resume.

use crate::device::Time;
use crate::device::flash::{Flash, Placement};
use nand::GroupId;

impl Flash {
    #[inline(always)]
    pub(super) fn serve_free<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId) {
        if self.has_work(group) {
            self.go_on_working(time, p, group);
        }
        while self.groups[group].may_serve(self.all_cells) {
            let Some(pick) = self.take_next(time.now, group) else { break };
            self.begin(time, p, pick);
            if self.has_work(group) {
                self.go_on_working(time, p, group);
            }
        }
        if self.commands {
            self.ask_channels(time, group);
        }
        self.watch_idle(time, p, group);
    }
}

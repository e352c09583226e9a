//! Operations that begin as soon as their unit is free, by class and age; beside them, those that
//! make way for reads and go on.

use super::Scheduler;
use crate::config::SchedulerConfig;
use crate::device::Time;
use crate::device::flash::{Flash, Placement};
use crate::device::ids::OpId;
use engine::Instant;
use ftl::BinId;
use nand::{GroupId, Units};

/// Each operation begins as soon as it can.
#[derive(Clone)]
pub struct Free;

impl Scheduler for Free {
    const BEGINS_AT_ONCE: bool = true;
    const CALLS_COLLECTION: bool = false;

    fn new(_: &SchedulerConfig, _: &Units) -> Option<Self> {
        Some(Self)
    }

    fn begun_anew(&self) -> Self {
        Self
    }

    fn enqueue<P: Placement>(flash: &mut Flash, time: &mut Time, p: &mut P, id: OpId) {
        let group = flash.ops[id].group;
        flash.groups[group].idle_check = Instant::NEVER;
        flash.begin_wait(time, id);
        if flash.has_work(group) {
            return flash.enqueue_beside_work(time, p, id);
        }
        flash.groups[group].push_back(&mut flash.ops, id);
        flash.serve(time, p, group);
    }

    #[inline(always)]
    fn serve<P: Placement>(flash: &mut Flash, time: &mut Time, p: &mut P, group: GroupId) {
        if flash.has_work(group) {
            flash.go_on_working(time, p, group);
        }
        while flash.groups[group].may_serve(flash.all_cells) {
            let Some(pick) = flash.pick(group) else { break };
            flash.groups[group].take(&flash.ops, pick.op);
            flash.begin(time, p, pick);
            if flash.has_work(group) {
                flash.go_on_working(time, p, group);
            }
        }
        if flash.commands {
            flash.ask_channels(group);
        }
        flash.watch_idle(time, p, group);
    }

    fn may_choose(&self, _: &Flash, _: BinId) -> bool {
        true
    }
}

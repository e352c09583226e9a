//! Doing what the plan decides: commands to members, their ends, and answers to the host.

use super::ArrayRun;
use super::event::Event;
use super::members::MemberId;
use super::plan::Plan;
use super::plan::act::{Act, Allowed, Asked, HostId, Timer, UnderWay, Wait, changes};
use super::requests::{Sent, SentId, ServingId};
use crate::device::{Completion, RequestId, Window};
use crate::error::RunError;
use engine::Span;
use engine::ids::Id;
use ftl::RecoveryLevel;
use host::{Command, Kind, Priority};

impl ArrayRun {
    /// Asks the plan about a request that the host has submitted.
    pub(super) fn ask(&mut self, asked: Asked) {
        self.show_windows();
        self.plan.asked(self.now, asked, UnderWay(&self.under_way), &mut self.acts);
        self.act();
    }

    /// Shows a plan in Python the windows of its members, if drives have them.
    #[inline]
    pub(super) fn show_windows(&mut self) {
        if let Plan::Outside(plan) = &mut self.plan
            && self.drives.devices[0].has_windows()
        {
            let windows = (0..self.members.count()).map(|member| {
                let (drive, set) = self.members.place(MemberId(member));
                let device = self.drives.get_mut(drive);
                // A drive stays behind the run while nothing happens to it.
                let behind = self.now - device.now();
                let told = device.window_estimates(set).map(|mut told| {
                    told.time = told.time.checked_sub(behind).unwrap_or(Span::ZERO);
                    told
                });
                (told, device.take_window_pending(self.now, set).unwrap_or_default())
            });
            plan.show_windows(windows.collect());
        }
    }

    /// Tells the plan of a moment.
    pub(super) fn wake(&mut self, timer: Timer, number: u64) {
        self.show_windows();
        let under = UnderWay(&self.under_way);
        self.plan.woken(self.now, (timer, number), under, &mut self.acts);
        self.act();
        if timer == Timer::Swap {
            self.count_unsettled();
            self.begin_turns();
        }
    }

    /// Asks deterministic windows of members that must not be in maintenance, if drives have windows, and
    /// begins the turns of all others as soon as they may begin.
    pub(super) fn begin_turns(&mut self) {
        if self.drives.devices[0].has_windows() {
            for member in (0..self.members.count()).map(MemberId) {
                let (drive, set) = self.members.place(member);
                let device = self.drives.get_mut(drive);
                if !self.plan.may_maintain(member) {
                    device.set_window(self.now, set, Window::Dtwin);
                } else if device.ends_ndwin(set) {
                    // It is its turn again before it has ended the last one.
                    device.set_window(self.now, set, Window::Ndwin);
                }
            }
        }
        self.turns_wait = true;
        self.go_on_with_turns();
        if self.turns_wait {
            self.allow_what_is_guaranteed();
        }
    }

    /// Begins turns that wait, if no member ends one any more: so two are in maintenance at the same time
    /// only while a window is broken. A member whose window is broken delays nobody.
    pub(super) fn go_on_with_turns(&mut self) {
        if !self.turns_wait || self.is_a_turn_ending() {
            return;
        }
        self.turns_wait = false;
        if self.drives.devices[0].has_windows() {
            for member in (0..self.members.count()).map(MemberId) {
                let (drive, set) = self.members.place(member);
                if self.plan.may_maintain(member) {
                    self.drives.get_mut(drive).set_window(self.now, set, Window::Ndwin);
                }
            }
        }
        self.plan.allow(Allowed::ALL, &mut self.acts);
        self.act();
    }

    /// Lets members whose turn waits be sent what their deterministic windows guarantee.
    fn allow_what_is_guaranteed(&mut self) {
        for member in (0..self.members.count()).map(MemberId) {
            if self.plan.may_maintain(member) {
                let (drive, set) = self.members.place(member);
                let allowed = match self.drives.get(drive).units_guaranteed(set) {
                    Some((units, unit)) => Allowed::units(units, unit),
                    None => Allowed::ALL,
                };
                self.plan.allow(allowed, &mut self.acts);
            }
        }
        self.act();
    }

    fn is_a_turn_ending(&self) -> bool {
        (0..self.members.count()).map(MemberId).any(|member| {
            let (drive, set) = self.members.place(member);
            self.drives.get(drive).ends_ndwin(set)
        })
    }

    /// Counts members that the plan reads from now on although they collect.
    fn count_unsettled(&mut self) {
        let members = (0..self.members.count()).map(MemberId);
        let collects = |member: &MemberId| {
            let (drive, set) = self.members.place(*member);
            let device = self.drives.get(drive);
            let layout = &device.ftl().layout;
            device.bins_at_collection().into_iter().any(|bin| layout.set_of_bin(bin) == set)
        };
        let read = members.filter(|member| !self.plan.may_maintain(*member));
        self.unsettled += read.filter(collects).count() as u64;
    }

    /// Does what the plan has decided.
    pub(super) fn act(&mut self) {
        let maintains = self.check_decisions();
        let mut acts = std::mem::take(&mut self.acts);
        for act in acts.drain(..) {
            match act {
                Act::Send { to, command, of, after, token } => {
                    self.send((to, command), (of, after), token);
                }
                Act::Waited { of, wait } => self.requests.get_mut(of).waited(self.now, wait),
                Act::Serve { of, takes, after } => {
                    let part = self.requests.get_mut(of).begin_served(of, self.now, after);
                    let (at, number) = (self.now + takes, part.of.1);
                    let id = self.serving.insert(part);
                    self.agenda.schedule(at, Event::Served(id), number);
                }
                Act::Wake { at, timer: timer @ Timer::Own(_), .. } => {
                    let sequence = self.agenda.scheduled();
                    self.agenda.schedule(at, Event::Timer(timer), sequence);
                }
                Act::Wake { at, timer, number } => {
                    self.agenda.schedule(at, Event::Timer(timer), number);
                }
                Act::Answer { of } => self.requests.get_mut(of).suffices(),
            }
        }
        self.acts = acts;
        if maintains {
            self.count_unsettled();
            self.begin_turns();
        }
    }

    /// Sends a member a command: a part of a request that has waited in the host, or a copy of a write.
    fn send(
        &mut self,
        (to, command): (MemberId, Command),
        (of, after): (Option<HostId>, Wait),
        token: u64,
    ) {
        let mut sent = Sent { to, token, of: None, command, waits: Default::default() };
        let now = self.now;
        let (mut arrived, mut priority) = (now, Priority::Normal);
        let mut level = None;
        if let Some(id) = of {
            let request = self.requests.get_mut(id);
            sent.waits = request.begin_part(now, after);
            sent.of = Some((id, request.number));
            (arrived, priority) = (request.arrived, request.priority);
            level = self.initiators[request.initiator as usize].source.read_recovery_level();
        }
        self.audit_sent((to, command), token);
        let tag = self.sent.insert(sent);
        self.under_way[to.0 as usize] += 1;
        let own = self.members.command(to, command);
        let device = self.drives.get_mut(self.members.place(to).0);
        let request = device.submit(now, arrived, own, priority, tag.0);
        if let Some(level) = level {
            device.read_at_level(request, RecoveryLevel::try_from(level).expect("a checked level"));
        }
    }

    /// Checks that a member has what it is to be read for, and nothing newer than it is to write.
    fn audit_sent(&mut self, (to, command): (MemberId, Command), token: u64) {
        let Some(audit) = &self.audit else { return };
        let sound = match command.kind {
            Kind::Read => audit.read(to, command),
            _ => audit.write(to, command, self.plan.write_of(token)),
        };
        if let Err(fault) = sound {
            self.audit_failed(fault);
        }
    }

    /// The auditor has found a fault: of a plan in Python, or of ours.
    pub(super) fn audit_failed(&mut self, fault: String) {
        match &mut self.plan {
            Plan::Outside(outside) => outside.fail(&fault),
            _ => {
                self.fault.get_or_insert(fault);
            }
        }
    }

    /// Collects the commands that drives have completed, and does what follows.
    pub(super) fn collect(&mut self) -> Result<(), RunError> {
        while let Some(drive) = self.drives.devices.iter().position(|device| device.has_done()) {
            let mut completions = std::mem::take(&mut self.completions);
            self.drives.devices[drive].take_done(&mut completions);
            for completion in &completions {
                // Before anything is sent, which may reuse the slot of the blame.
                self.note_end(drive, completion);
            }
            for completion in completions.drain(..) {
                debug_assert_eq!(completion.finished, self.now, "an answer comes when it is due");
                self.end_of(SentId(completion.tag))?;
            }
            self.completions = completions;
        }
        Ok(())
    }

    /// Notes the end of a part of a request.
    fn note_end(&mut self, drive: usize, completion: &Completion) {
        let sent = self.sent[SentId(completion.tag)];
        self.under_way[sent.to.0 as usize] -= 1;
        if let Some(of) = sent.of
            && self.requests.unanswered(of).is_some()
        {
            let blame = self.drives.devices[drive].blame(completion.id);
            self.requests.get_mut(of.0).part_ended(completion, blame, &sent.waits);
        }
    }

    /// A command that was sent has ended, and its part was noted.
    fn end_of(&mut self, id: SentId) -> Result<(), RunError> {
        let sent = self.sent[id];
        self.sent.remove(id);
        self.ended = Some(sent);
        let of = sent.of.and_then(|of| self.requests.unanswered(of));
        if let Some(audit) = &mut self.audit
            && changes(sent.command.kind)
        {
            audit.written(sent.to, sent.command, self.plan.write_of(sent.token));
        }
        let is_read = sent.command.kind == Kind::Read;
        self.show_windows();
        let under = UnderWay(&self.under_way);
        self.plan.ended(self.now, (sent.to, is_read), of, sent.token, under, &mut self.acts);
        self.act();
        if self.plan.stop().is_some() {
            // It might have sent another part.
            return Ok(());
        }
        self.answer_if_done(sent.of)
    }

    /// The cache has served a part of a request.
    pub(super) fn served(&mut self, id: ServingId) -> Result<(), RunError> {
        let part = self.serving[id];
        self.serving.remove(id);
        self.ended = None;
        if self.requests.unanswered(part.of).is_none() {
            // A plan in Python has answered it from another part.
            return Ok(());
        }
        self.requests.get_mut(part.of.0).served(self.now, part);
        self.answer_if_done(Some(part.of))
    }

    fn answer_if_done(&mut self, of: Option<(HostId, u64)>) -> Result<(), RunError> {
        let Some(of) = of.filter(|of| self.requests.unanswered(*of).is_some()) else {
            return Ok(());
        };
        if self.requests.get(of.0).is_done() { self.answer(of.0) } else { Ok(()) }
    }

    /// Answers a request of the host.
    fn answer(&mut self, id: HostId) -> Result<(), RunError> {
        let now = self.now;
        let request = self.requests.get_mut(id);
        request.is_answered = true;
        let completion = Completion {
            id: RequestId::from_index(id.index()),
            tag: request.initiator,
            command: request.command,
            arrived: request.arrived,
            finished: now,
            unmapped: request.unmapped,
            failed: request.failed,
            met: request.met,
            blocked: request.blocked,
        };
        let latency = now - request.arrived;
        assert_eq!(request.blame.total(), latency, "blame does not sum to the latency of {id:?}");
        self.digest.mix(completion.arrived.as_ns());
        self.digest.mix(latency.as_ns() << 8 | completion.command.kind.index() as u64);
        self.measured.record(&completion, &self.requests.get(id).blame);
        if let Some(pause) = self.initiators[completion.tag as usize].answered(now) {
            self.note_pause(id, &completion, pause);
        }
        if self.drives.devices[0].records_holds() {
            self.measured.count_met(&[completion]);
        }
        if let Some(audit) = &mut self.audit
            && changes(completion.command.kind)
        {
            let number = self.requests.get(id).write;
            audit.answered(completion.command, number, self.requests.writes());
        }
        self.requests.remove(id);
        self.link.remove(completion.command.bytes);
        self.completed(completion.tag as usize, now)
    }
}

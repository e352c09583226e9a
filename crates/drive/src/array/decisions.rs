//! Checks of what a plan in Python decides. The array does what is left.

use super::ArrayRun;
use super::members::MemberId;
use super::plan::Plan;
use super::plan::act::{Act, Asked, Timer, changes};
use super::plan::outside::{Decision, Outside, ToMember};
use super::requests::Requests;
use crate::horizon::LATEST;
use engine::Instant;
use host::Command;
use traces::SECTOR_BYTES;

impl ArrayRun {
    /// Turns what a plan in Python has decided into acts, or ends the plan with its fault. Returns true
    /// if the members that may be in maintenance have changed.
    #[inline]
    pub(super) fn check_decisions(&mut self) -> bool {
        let Plan::Outside(outside) = &mut self.plan else { return false };
        let mut has_changed = false;
        for decision in std::mem::take(&mut outside.decisions) {
            match checked(decision, self.now, outside, &self.requests) {
                Ok(Checked::Act(act)) => self.acts.push(act),
                Ok(Checked::Maintenance(is_new)) => has_changed |= is_new,
                Ok(Checked::Held) => {}
                Err(fault) => {
                    outside.fail(&fault);
                    self.acts.clear();
                    return false;
                }
            }
        }
        has_changed
    }
}

/// A decision that was checked.
enum Checked {
    Act(Act),
    /// A member may be in maintenance, or not; true if that is new.
    Maintenance(bool),
    /// It tells if the run may end.
    Held,
}

fn checked(
    decision: Decision,
    now: Instant,
    outside: &mut Outside,
    requests: &Requests,
) -> Result<Checked, String> {
    let open = |request: Asked| match requests.unanswered((request.id, request.number)) {
        Some(_) => Ok(request.id),
        None => Err(format!("request {} is answered already", request.number)),
    };
    Ok(Checked::Act(match decision {
        Decision::Send(command) => {
            let of = if command.is_part { Some(open(command.request)?) } else { None };
            let (to, after) = (member(command.member, outside)?, command.after);
            let of_member = command_of(command, outside)?;
            let token = outside.note_sent(command);
            Act::Send { to, command: of_member, of, after, token }
        }
        Decision::Serve(request, takes, after) => {
            if takes > LATEST - now {
                return Err(too_late(&format!("serves a request for {} ns", takes.as_ns())));
            }
            Act::Serve { of: open(request)?, takes, after }
        }
        Decision::Waited(request, wait) => Act::Waited { of: open(request)?, wait },
        Decision::Answer(request) => Act::Answer { of: open(request)? },
        Decision::Wake(at, _) if at < now => {
            return Err(format!(
                "wants to be woken at {} ns, but it is {} ns",
                at.as_ns(),
                now.as_ns()
            ));
        }
        Decision::Wake(at, _) if at > LATEST => {
            return Err(too_late(&format!("wants to be woken at {} ns", at.as_ns())));
        }
        Decision::Wake(at, number) => {
            Act::Wake { at, timer: Timer::Own(outside.note_wake(number)), number: 0 }
        }
        Decision::Maintain(of, may) => {
            let of = member(of, outside)?;
            return Ok(Checked::Maintenance(outside.maintain(of, may)));
        }
        Decision::Hold(holds) => {
            outside.hold(holds);
            return Ok(Checked::Held);
        }
    }))
}

fn too_late(what: &str) -> String {
    format!("{what}, but a run ends by {} ns", LATEST.as_ns())
}

fn member(number: u32, outside: &Outside) -> Result<MemberId, String> {
    let members = outside.array().members;
    match number < members {
        true => Ok(MemberId(number)),
        false => Err(format!("there is no member {number}; the array has {members}, from 0 on")),
    }
}

/// The command of a member, which must lie in its namespace.
fn command_of(of: ToMember, outside: &Outside) -> Result<Command, String> {
    let ToMember { kind, offset, bytes, request, .. } = of;
    if outside.mirrors() && changes(kind) && kind != request.command.kind {
        let (own, of) = (kind.name(), request.command.kind.name());
        return Err(format!(
            "a {own} is sent for a {of}, but every member gets every write (mirrors)"
        ));
    }
    if !kind.has_range() {
        return Ok(Command { kind, offset: 0, bytes: 0 });
    }
    let all = outside.array().bytes;
    if bytes == 0 || !(offset | bytes).is_multiple_of(SECTOR_BYTES) {
        return Err(format!(
            "a {} of {bytes} bytes at {offset} does not consist of sectors of {SECTOR_BYTES} bytes",
            kind.name()
        ));
    }
    match offset.checked_add(bytes).is_some_and(|end| end <= all) {
        true => Ok(Command { kind, offset, bytes }),
        false => Err(format!(
            "a {} of {bytes} bytes at {offset} does not lie in the namespace of {all} bytes",
            kind.name()
        )),
    }
}

//! Plans that users write in Python: they are told what happens, and return decisions, which the array
//! checks.

use super::act::{Asked, UnderWay, Wait, WakeId};
use crate::array::members::MemberId;
use crate::device::{Estimates, Pending};
use engine::{Instant, Slab, Span, typed_id};
use host::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside as Place;

typed_id! {
    /// A command that the plan has sent.
    struct SentId;
}

/// Makes a plan for each run (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Place<dyn MakePlan>);

impl Python {
    /// The link to the function; see [`Place`].
    pub fn outside(&mut self) -> &mut Place<dyn MakePlan> {
        &mut self.0
    }
}

/// Two are equal if they name the same function.
impl PartialEq for Python {
    fn eq(&self, other: &Self) -> bool {
        (&self.0.file, &self.0.function) == (&other.0.file, &other.0.function)
    }
}
impl Eq for Python {}

/// The members of an array, which do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Number of members.
    pub members: u32,
    /// Bytes of the array's namespace.
    pub bytes: u64,
}

/// A function outside the simulator that makes plans.
pub trait MakePlan: Send + Sync {
    /// A new plan for an array.
    ///
    /// # Errors
    /// If it made none.
    fn make(&self, array: Array) -> Result<Box<dyn Decide>, Stop>;
}

/// Reason for which a plan did not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its fault, in one line.
    Fault(String),
    /// The user interrupted the run.
    Interrupted,
}

/// A plan outside the simulator. It keeps a state, so it is told each thing once.
pub trait Decide: Send + Sync {
    /// Decisions of the plan when it is told of something.
    ///
    /// # Errors
    /// If it did not decide.
    fn decide(&mut self, seen: Seen<'_>, news: News) -> Result<Vec<Decision>, Stop>;
    /// True if the plan looks when it is told of this: it has seen all events until then.
    fn looks(&self, news: News) -> bool;
    /// True if every member gets every write, at the addresses of the host; `None` if it does not say.
    fn mirrors(&self) -> Option<bool>;
}

/// The array as a plan sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Present time.
    pub now: Instant,
    /// Commands under way at each member.
    pub under_way: &'a [u32],
    /// Guarantees of each member for the rest of its deterministic window, none outside; and
    /// nothing if the drives have no windows.
    pub windows: Option<&'a [Option<Estimates>]>,
    /// Events of each member's windows since the plan was last told of something; nothing if the drives
    /// have no windows.
    pub window_events: Option<&'a [Pending]>,
    /// Facts that do not change.
    pub array: Array,
}

/// An event of which a plan is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The run begins.
    Begun,
    /// A request of the host.
    Asked(Asked),
    /// The end of a command that the plan has sent.
    Ended(Ended),
    /// A moment that it wanted to be told of, with its number.
    Woken(u64),
}

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The member.
    pub member: MemberId,
    /// The request that it was sent for.
    pub request: Asked,
    /// True if the request was answered before, or the command is no part of it.
    pub is_answered: bool,
    /// Kind of the command.
    pub kind: Kind,
    /// The plan's number.
    pub token: u64,
}

/// A command to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToMember {
    /// Number of the member.
    pub member: u32,
    /// The request that it is for.
    pub request: Asked,
    /// Kind of the command.
    pub kind: Kind,
    /// First byte, in the member.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// True if the request is not answered before the command has ended.
    pub is_part: bool,
    /// Cause of the request's wait until now.
    pub after: Wait,
    /// The plan's number, which comes back with its end.
    pub token: u64,
}

/// A decision of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Sends a member a command.
    Send(ToMember),
    /// Serves a part of a request from the host's memory, which takes so long. The request has waited
    /// for something until now.
    Serve(Asked, Span, Wait),
    /// The request has waited for this until now.
    Waited(Asked, Wait),
    /// The part that has just ended answers the request, although others are under way.
    Answer(Asked),
    /// Tells the plan when this moment has come.
    Wake(Instant, u64),
    /// Lets a member be in maintenance, or not, from now on.
    Maintain(u32, bool),
    /// The run does not end from now on, because members lack something; or may end.
    Hold(bool),
}

/// A plan whose making was interrupted. It is told nothing.
struct Nothing;

impl Decide for Nothing {
    fn decide(&mut self, _: Seen<'_>, _: News) -> Result<Vec<Decision>, Stop> {
        Ok(Vec::new())
    }
    fn looks(&self, _: News) -> bool {
        false
    }
    fn mirrors(&self) -> Option<bool> {
        Some(false)
    }
}

/// A plan in Python, and its state that the array needs.
pub struct Outside {
    // ---- constant ----
    array: Array,
    /// The name of the function.
    name: String,
    // ---- state ----
    plan: Box<dyn Decide>,
    /// Decisions that the array has not checked yet.
    pub(in crate::array) decisions: Vec<Decision>,
    /// True for each member that may be in maintenance.
    maintained: Vec<bool>,
    /// True while the run must not end.
    holds: bool,
    sent: Slab<SentId, ToMember>,
    /// Numbers of the moments of which it wants to be told.
    wakes: Slab<WakeId, u64>,
    /// The windows of members, as the plan sees them next.
    windows: Option<Vec<Option<Estimates>>>,
    /// Events of their windows that the plan has not seen.
    window_events: Option<Vec<Pending>>,
    /// The reason for which the plan is told nothing any more.
    stop: Option<Stop>,
}

impl Outside {
    /// A plan that a function makes.
    ///
    /// # Errors
    /// The fault of the function, in one line.
    pub fn new(policy: &Python, array: Array) -> Result<Self, String> {
        let name = policy.0.function.clone();
        let told = |fault| format!("{name}: {fault}");
        let Some(made) = policy.0.found() else {
            return Err(told("a policy in Python is found from Python only".into()));
        };
        let (plan, stop) = match made.make(array) {
            Ok(plan) => (plan, None),
            Err(Stop::Fault(fault)) => return Err(told(fault)),
            Err(Stop::Interrupted) => {
                (Box::new(Nothing) as Box<dyn Decide>, Some(Stop::Interrupted))
            }
        };
        Ok(Self {
            plan,
            name,
            decisions: Vec::new(),
            maintained: vec![true; array.members as usize],
            holds: false,
            sent: Slab::default(),
            wakes: Slab::default(),
            windows: None,
            window_events: None,
            stop,
            array,
        })
    }

    /// Shows the plan the windows of its members, by what these guarantee, and their new events.
    pub(in crate::array) fn show_windows(&mut self, shown: Vec<(Option<Estimates>, Pending)>) {
        let events =
            self.window_events.get_or_insert_with(|| vec![Pending::default(); shown.len()]);
        events.iter_mut().zip(&shown).for_each(|(all, (_, new))| all.join(*new));
        self.windows = Some(shown.into_iter().map(|(estimates, _)| estimates).collect());
    }

    /// Tells the plan of something, and keeps what it decides, unless it has stopped.
    pub fn tell(&mut self, now: Instant, under: UnderWay<'_>, news: News) {
        if self.stop.is_some() {
            return;
        }
        let (windows, window_events) = (self.windows.as_deref(), self.window_events.as_deref());
        let seen = Seen { now, under_way: under.0, windows, window_events, array: self.array };
        let decided = self.plan.decide(seen, news);
        if self.plan.looks(news) {
            self.window_events.iter_mut().flatten().for_each(|seen| *seen = Pending::default());
        }
        match decided {
            Ok(decisions) => self.decisions = decisions,
            Err(Stop::Fault(fault)) => self.fail(&fault),
            Err(Stop::Interrupted) => self.stop = Some(Stop::Interrupted),
        }
    }

    /// Tells the plan that a command has ended. It is that of a request that was not answered if
    /// `of` is one.
    pub fn ended(&mut self, now: Instant, token: u64, of: Option<Asked>, under: UnderWay<'_>) {
        let id = SentId(token as u32);
        let ToMember { member, request, kind, token, .. } = self.sent[id];
        self.sent.remove(id);
        let (member, is_answered) = (MemberId(member), of.is_none());
        let ended = Ended { member, request, is_answered, kind, token };
        self.tell(now, under, News::Ended(ended));
    }

    /// Tells the plan that a moment has come.
    pub fn woken(&mut self, now: Instant, wake: WakeId, under: UnderWay<'_>) {
        let number = self.wakes[wake];
        self.wakes.remove(wake);
        self.tell(now, under, News::Woken(number));
    }
    /// Notes a moment of which it wants to be told.
    pub(in crate::array) fn note_wake(&mut self, number: u64) -> WakeId {
        self.wakes.insert(number)
    }
    /// Notes a command that is sent; returns the token of the array.
    pub(in crate::array) fn note_sent(&mut self, command: ToMember) -> u64 {
        self.sent.insert(command).0.into()
    }
    /// The number of the write whose data a command has that was sent.
    pub fn write_of(&self, token: u64) -> u64 {
        self.sent[SentId(token as u32)].request.write
    }
    /// Lets a member be in maintenance, or not; returns true if that is new.
    pub(in crate::array) fn maintain(&mut self, member: MemberId, may: bool) -> bool {
        std::mem::replace(&mut self.maintained[member.0 as usize], may) != may
    }
    /// True if a member may be in maintenance.
    pub fn may_maintain(&self, member: MemberId) -> bool {
        self.maintained[member.0 as usize]
    }
    /// Lets the run end, or not.
    pub(in crate::array) fn hold(&mut self, holds: bool) {
        self.holds = holds;
    }
    /// True while the run must not end.
    pub fn holds(&self) -> bool {
        self.holds
    }
    /// True if every member gets every write, at the addresses of the host.
    pub fn mirrors(&self) -> bool {
        self.plan.mirrors() == Some(true)
    }
    /// True if the plan does not say if members mirror.
    pub fn says_nothing(&self) -> bool {
        self.stop.is_none() && self.plan.mirrors().is_none()
    }
    /// The members and their namespace.
    pub fn array(&self) -> Array {
        self.array
    }
    /// Ends the plan with a fault.
    pub(in crate::array) fn fail(&mut self, fault: &str) {
        self.decisions.clear();
        self.stop.get_or_insert(Stop::Fault(format!("{}: {fault}", self.name)));
    }
    /// The reason for which the plan is told nothing any more.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }
}

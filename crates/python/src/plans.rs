//! Plans for several drives that users write in Python: an object whose methods are told what happens,
//! and return acts.

use crate::function::{Function, note_interrupt, told, unsuitable};
use crate::names::{kind_of, unknown};
use drive::array::{
    Array, Asked, Decide, Decision, Ended, MakePlan, News, Seen, Stop, ToMember, Wait,
};
use drive::device::Estimates;
use engine::{Instant, Span};
use pyo3::Borrowed;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyIterator, PyList, PyTuple, PyType};
use std::sync::{Mutex, PoisonError};

/// Names of what a request may have waited for.
const WAITS: [(&str, Wait); 3] =
    [("turn", Wait::Turn), ("room", Wait::Room), ("hedge", Wait::Hedge)];

impl MakePlan for Function {
    fn make(&self, array: Array) -> Result<Box<dyn Decide>, Stop> {
        Python::attach(|py| {
            let under_way = vec![0; array.members as usize];
            let seen = Seen {
                now: Instant::START,
                under_way: &under_way,
                windows: None,
                window_events: None,
                array,
            };
            let plan = self.0.bind(py).call1((ArrayView::of(seen),));
            let plan = plan.map_err(|error| stopped(py, &error))?;
            let plan = Plan::new(&plan).map_err(Stop::Fault)?;
            Ok(Box::new(plan) as Box<dyn Decide>)
        })
    }
}

/// The fault of a class whose plans could be told nothing. What a function makes is not known before
/// the run.
pub fn lacks_asked(py: Python<'_>, function: &Function) -> Option<String> {
    let class = function.0.bind(py).cast::<PyType>().ok()?;
    let name = class.name().ok()?;
    let has = class.hasattr("asked").unwrap_or(false);
    (!has).then(|| format!("class {name} has no method asked(array, request), which a plan needs"))
}

/// Turns an exception of a plan into the end of the run.
fn stopped(py: Python<'_>, error: &PyErr) -> Stop {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        note_interrupt();
        return Stop::Interrupted;
    }
    Stop::Fault(told(py, error))
}

/// Number of plans that were made.
static PLANS: Mutex<u64> = Mutex::new(0);

/// A plan in Python, and those of its methods that it has.
struct Plan {
    plan: Py<PyAny>,
    /// The number of this plan, which its requests know.
    number: u64,
    mirrors: Option<bool>,
    begins: bool,
    ends: bool,
    wakes: bool,
}

impl Plan {
    fn new(plan: &Bound<'_, PyAny>) -> Result<Self, String> {
        let py = plan.py();
        let has = |name: &str| match plan.getattr_opt(name).map_err(|error| told(py, &error))? {
            Some(method) if method.is_callable() => Ok(true),
            Some(_) => Err(format!("{name} of the plan cannot be called")),
            None => Ok(false),
        };
        if !has("asked")? {
            return Err("must return a plan, an object with a method asked(array, request)".into());
        }
        let mirrors = plan.getattr_opt("mirrors").map_err(|error| told(py, &error))?;
        let mirrors = match mirrors.map(|mirrors| mirrors.extract()).transpose() {
            Ok(mirrors) => mirrors,
            Err(_) => return Err("mirrors of the plan must be True or False".into()),
        };
        let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *plans;
        *plans += 1;
        Ok(Self {
            number,
            mirrors,
            begins: has("begun")?,
            ends: has("ended")?,
            wakes: has("woken")?,
            plan: plan.clone().unbind(),
        })
    }

    /// Calls the method for some news, if the plan has it.
    fn call<'py>(
        &self,
        py: Python<'py>,
        seen: Seen<'_>,
        news: News,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (plan, seen) = (self.plan.bind(py), ArrayView::of(seen));
        match news {
            News::Begun if self.begins => plan.call_method1("begun", (seen,)),
            News::Asked(asked) => {
                plan.call_method1("asked", (seen, HostRequest(asked, self.number)))
            }
            News::Ended(ended) if self.ends => {
                plan.call_method1("ended", (seen, CommandEnd(ended, self.number)))
            }
            News::Woken(number) if self.wakes => plan.call_method1("woken", (seen, number)),
            News::Woken(_) => {
                return Err(PyTypeError::new_err("wants to be woken, but has no method woken"));
            }
            _ => return Ok(None),
        }
        .map(Some)
    }
}

impl Decide for Plan {
    fn decide(&mut self, seen: Seen<'_>, news: News) -> Result<Vec<Decision>, Stop> {
        Python::attach(|py| {
            let answer = self.call(py, seen, news).map_err(|error| stopped(py, &error))?;
            match answer.filter(|answer| !answer.is_none()) {
                Some(answer) => self.acts(&answer),
                None => Ok(Vec::new()),
            }
        })
    }
    fn looks(&self, news: News) -> bool {
        match news {
            News::Begun => self.begins,
            News::Ended(_) => self.ends,
            News::Asked(_) | News::Woken(_) => true,
        }
    }
    fn mirrors(&self) -> Option<bool> {
        self.mirrors
    }
}

impl Plan {
    /// The acts that a method has returned, in their order. A set has none.
    fn acts(&self, answer: &Bound<'_, PyAny>) -> Result<Vec<Decision>, Stop> {
        let py = answer.py();
        let wrong = || {
            let error = unsuitable("a list of acts (flashscape.outside.Act), or None", answer);
            Stop::Fault(error.value(py).to_string())
        };
        let has_order = answer.is_instance_of::<PyList>()
            || answer.is_instance_of::<PyTuple>()
            || answer.is_instance_of::<PyIterator>();
        if !has_order {
            return Err(wrong());
        }
        let acts = answer.try_iter().map_err(|error| stopped(py, &error))?;
        acts.map(|act| {
            let act = act.map_err(|error| stopped(py, &error))?;
            let Act(decision, plan) = act.cast::<Act>().map_err(|_| wrong())?.get();
            match plan {
                Some(plan) if *plan != self.number => {
                    Err(Stop::Fault("names a request of another run".into()))
                }
                _ => Ok(*decision),
            }
        })
        .collect()
    }
}

/// The array as a plan sees it.
#[pyclass(frozen, get_all, module = "flashscape._flashscape")]
pub struct ArrayView {
    /// Present time.
    now_ns: u64,
    /// Number of members.
    members: u32,
    /// Bytes of the namespace.
    bytes: u64,
    /// Commands under way at each member.
    under_way: Vec<u32>,
    /// Estimates of each member's deterministic window; none if the drives have no windows.
    windows: Option<Vec<Option<WindowEstimates>>>,
    /// Events of each member's windows since the plan was last told of something; none if the drives
    /// have no windows.
    window_events: Option<Vec<Vec<&'static str>>>,
}

/// Guarantees of a set for the rest of its deterministic window.
#[pyclass(frozen, get_all, module = "flashscape._flashscape")]
#[derive(Clone, Copy)]
pub struct WindowEstimates {
    /// Reads of 4 KiB; none for any number.
    reads: Option<u64>,
    /// Writes, in Optimal Write Size.
    writes: u64,
    /// Time.
    time_ns: u64,
}

impl WindowEstimates {
    fn of(told: Estimates) -> Self {
        let Estimates { reads, writes, time } = told;
        Self { reads, writes, time_ns: time.as_ns() }
    }
}

impl ArrayView {
    fn of(seen: Seen<'_>) -> Self {
        Self {
            now_ns: seen.now.as_ns(),
            members: seen.array.members,
            bytes: seen.array.bytes,
            under_way: seen.under_way.to_vec(),
            windows: seen
                .windows
                .map(|windows| windows.iter().map(|told| told.map(WindowEstimates::of)).collect()),
            window_events: seen
                .window_events
                .map(|events| events.iter().map(|of| of.names().collect()).collect()),
        }
    }
}

/// A request of the host.
#[pyclass(frozen, module = "flashscape._flashscape")]
#[derive(Clone, Copy)]
pub struct HostRequest(Asked, u64);

#[pymethods]
impl HostRequest {
    /// Number of the request, which no other has.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }
    /// Kind of the command.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.command.kind.name()
    }
    /// First byte.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.command.offset
    }
    /// Number of bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.command.bytes
    }
    fn __hash__(&self) -> u64 {
        self.0.number
    }
    fn __eq__(&self, other: &Self) -> bool {
        (self.0.number, self.1) == (other.0.number, other.1)
    }
    fn __repr__(&self) -> String {
        let Asked { number, command, .. } = self.0;
        let (kind, at) = (command.kind.name(), command.offset);
        format!("HostRequest({number}: {kind} of {} bytes at {at})", command.bytes)
    }
}

/// The end of a command that the plan has sent.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct CommandEnd(Ended, u64);

#[pymethods]
impl CommandEnd {
    /// The member.
    #[getter]
    fn member(&self) -> u32 {
        self.0.member.0
    }
    /// Request for which the command was sent.
    #[getter]
    fn request(&self) -> HostRequest {
        HostRequest(self.0.request, self.1)
    }
    /// True if the request was answered before, or the command is no part of it.
    #[getter]
    fn is_answered(&self) -> bool {
        self.0.is_answered
    }
    /// Kind of the command.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.name()
    }
    /// Number that the plan gave it.
    #[getter]
    fn token(&self) -> u64 {
        self.0.token
    }
}

/// A decision of a plan.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Act(Decision, Option<u64>);

#[pymethods]
impl Act {
    /// Send a member a command.
    #[staticmethod]
    #[pyo3(signature = (request, member, *, kind=None, offset=None, bytes=None, part=true, after="turn", token=0))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn send(
        request: &HostRequest,
        member: Member,
        kind: Option<&str>,
        offset: Option<u64>,
        bytes: Option<u64>,
        part: bool,
        after: &str,
        token: u64,
    ) -> PyResult<Self> {
        let command = request.0.command;
        let send = ToMember {
            member: member.0,
            request: request.0,
            kind: kind.map_or(Ok(command.kind), |kind| kind_of("kind", kind))?,
            offset: offset.unwrap_or(command.offset),
            bytes: bytes.unwrap_or(command.bytes),
            is_part: part,
            after: wait_of(after)?,
            token,
        };
        Ok(Self(Decision::Send(send), Some(request.1)))
    }
    /// Serve a part of a request from the host's memory.
    #[staticmethod]
    #[pyo3(signature = (request, takes_ns, *, after="turn"))]
    fn serve(request: &HostRequest, takes_ns: u64, after: &str) -> PyResult<Self> {
        let serve = Decision::Serve(request.0, Span::from_ns(takes_ns), wait_of(after)?);
        Ok(Self(serve, Some(request.1)))
    }
    /// Note what a request has waited for until now.
    #[staticmethod]
    fn waited(request: &HostRequest, after: &str) -> PyResult<Self> {
        Ok(Self(Decision::Waited(request.0, wait_of(after)?), Some(request.1)))
    }
    /// Answer a request by the part that has just ended.
    #[staticmethod]
    fn answer(request: &HostRequest) -> Self {
        Self(Decision::Answer(request.0), Some(request.1))
    }
    /// Call `woken` at a moment.
    #[staticmethod]
    #[pyo3(signature = (at_ns, number=0))]
    fn wake(at_ns: u64, number: u64) -> Self {
        Self(Decision::Wake(Instant::from_ns(at_ns), number), None)
    }
    /// Let a member be in maintenance, or not.
    #[staticmethod]
    fn maintain(member: Member, may: bool) -> Self {
        Self(Decision::Maintain(member.0, may), None)
    }
    /// Keep the run from ending, or no more.
    #[staticmethod]
    fn hold(holds: bool) -> Self {
        Self(Decision::Hold(holds), None)
    }
    fn __repr__(&self) -> String {
        let of = |request: Asked| format!("request {}", request.number);
        match self.0 {
            Decision::Send(ToMember { member, request, kind, offset, bytes, .. }) => format!(
                "Act.send({}, member {member}: {} of {bytes} bytes at {offset})",
                of(request),
                kind.name()
            ),
            Decision::Serve(request, takes, _) => {
                format!("Act.serve({}, {} ns)", of(request), takes.as_ns())
            }
            Decision::Waited(request, _) => format!("Act.waited({})", of(request)),
            Decision::Answer(request) => format!("Act.answer({})", of(request)),
            Decision::Wake(at, number) => format!("Act.wake({} ns, {number})", at.as_ns()),
            Decision::Maintain(member, may) => format!("Act.maintain(member {member}, {may})"),
            Decision::Hold(holds) => format!("Act.hold({holds})"),
        }
    }
}

/// The number of a member: a whole number, but not a `bool`, which is a whole number in Python.
struct Member(u32);

impl<'a, 'py> FromPyObject<'a, 'py> for Member {
    type Error = PyErr;
    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("a member is a whole number, not True or False"));
        }
        given.extract().map(Self)
    }
}

fn wait_of(name: &str) -> PyResult<Wait> {
    let found = WAITS.into_iter().find(|(of, _)| *of == name);
    found
        .map(|(_, wait)| wait)
        .ok_or_else(|| unknown("after", "moment", name, &WAITS.map(|(name, _)| name)))
}

//! Plans for several drives that users write in Python: an object whose methods are told what happens,
//! and return acts.

use crate::policies::{Function, note_interrupt, told, unsuitable};
use drive::array::{
    Array, Asked, Decide, Decision, Ended, MakePlan, News, Seen, Stop, ToMember, Wait,
};
use engine::{Instant, Span};
use host::Kind;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Names of what a request may have waited for.
const WAITS: [(&str, Wait); 3] =
    [("turn", Wait::Turn), ("room", Wait::Room), ("hedge", Wait::Hedge)];

impl MakePlan for Function {
    fn make(&self, array: Array) -> Result<Box<dyn Decide>, String> {
        Python::attach(|py| {
            let seen = ArrayView::of(Seen { now: Instant::START, under_way: &[], array });
            let plan = self.0.bind(py).call1((seen,)).map_err(|error| told(py, &error))?;
            Plan::new(&plan).map(|plan| Box::new(plan) as Box<dyn Decide>)
        })
    }
}

/// A plan in Python, and those of its methods that it has.
struct Plan {
    plan: Py<PyAny>,
    mirrors: bool,
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
            Ok(mirrors) => mirrors.unwrap_or(false),
            Err(_) => return Err("mirrors of the plan must be True or False".into()),
        };
        Ok(Self {
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
            News::Asked(asked) => plan.call_method1("asked", (seen, HostRequest(asked))),
            News::Ended(ended) if self.ends => {
                plan.call_method1("ended", (seen, CommandEnd(ended)))
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
            let answer = match self.call(py, seen, news) {
                Ok(answer) => answer,
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    note_interrupt();
                    return Err(Stop::Interrupted);
                }
                Err(error) => return Err(Stop::Fault(told(py, &error))),
            };
            let Some(answer) = answer.filter(|answer| !answer.is_none()) else {
                return Ok(Vec::new());
            };
            let fault = |error: PyErr| Stop::Fault(error.value(py).to_string());
            acts(&answer).map_err(fault)
        })
    }
    fn mirrors(&self) -> bool {
        self.mirrors
    }
}

/// The acts that a method has returned.
fn acts(answer: &Bound<'_, PyAny>) -> PyResult<Vec<Decision>> {
    let wrong = || unsuitable("a list of acts (flashscape.outside.Act), or None", answer);
    // A generator may fail like any function; its error is the plan's.
    answer
        .try_iter()
        .map_err(|_| wrong())?
        .map(|act| match act?.cast::<Act>() {
            Ok(act) => Ok(act.get().0),
            Err(_) => Err(wrong()),
        })
        .collect()
}

/// What a plan sees of the array.
#[pyclass(frozen, get_all, module = "flashscape._flashscape")]
pub struct ArrayView {
    /// Present time.
    now_ns: u64,
    /// Number of members.
    members: u32,
    /// Bytes of the namespace.
    bytes: u64,
    /// Commands under way at each member; empty before the run.
    under_way: Vec<u32>,
}

impl ArrayView {
    fn of(seen: Seen<'_>) -> Self {
        Self {
            now_ns: seen.now.as_ns(),
            members: seen.array.members,
            bytes: seen.array.bytes,
            under_way: seen.under_way.to_vec(),
        }
    }
}

/// A request of the host.
#[pyclass(frozen, module = "flashscape._flashscape")]
#[derive(Clone, Copy)]
pub struct HostRequest(Asked);

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
        self.0.number == other.0.number
    }
    fn __repr__(&self) -> String {
        let Asked { number, command, .. } = self.0;
        let (kind, at) = (command.kind.name(), command.offset);
        format!("HostRequest({number}: {kind} of {} bytes at {at})", command.bytes)
    }
}

/// The end of a command that the plan has sent.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct CommandEnd(Ended);

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
        HostRequest(self.0.request)
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
pub struct Act(Decision);

#[pymethods]
impl Act {
    /// Send a member a command.
    #[staticmethod]
    #[pyo3(signature = (request, member, *, kind=None, offset=None, bytes=None, part=true, after="turn", token=0))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn send(
        request: &HostRequest,
        member: u32,
        kind: Option<&str>,
        offset: Option<u64>,
        bytes: Option<u64>,
        part: bool,
        after: &str,
        token: u64,
    ) -> PyResult<Self> {
        let command = request.0.command;
        Ok(Self(Decision::Send(ToMember {
            member,
            request: request.0,
            kind: kind.map_or(Ok(command.kind), kind_of)?,
            offset: offset.unwrap_or(command.offset),
            bytes: bytes.unwrap_or(command.bytes),
            is_part: part,
            after: wait_of(after)?,
            token,
        })))
    }
    /// Serve a part of a request from the host's memory.
    #[staticmethod]
    fn serve(request: &HostRequest, takes_ns: u64) -> Self {
        Self(Decision::Serve(request.0, Span::from_ns(takes_ns)))
    }
    /// Note what a request has waited for until now.
    #[staticmethod]
    fn waited(request: &HostRequest, after: &str) -> PyResult<Self> {
        Ok(Self(Decision::Waited(request.0, wait_of(after)?)))
    }
    /// Answer a request by the part that has just ended.
    #[staticmethod]
    fn answer(request: &HostRequest) -> Self {
        Self(Decision::Answer(request.0))
    }
    /// Call `woken` at a moment.
    #[staticmethod]
    #[pyo3(signature = (at_ns, number=0))]
    fn wake(at_ns: u64, number: u64) -> Self {
        Self(Decision::Wake(Instant::from_ns(at_ns), number))
    }
    /// Let a member be in maintenance, or not.
    #[staticmethod]
    fn maintain(member: u32, may: bool) -> Self {
        Self(Decision::Maintain(member, may))
    }
    /// Keep the run from ending, or no more.
    #[staticmethod]
    fn hold(holds: bool) -> Self {
        Self(Decision::Hold(holds))
    }
    fn __repr__(&self) -> String {
        format!("Act({:?})", self.0)
    }
}

fn kind_of(name: &str) -> PyResult<Kind> {
    let all = || Kind::ALL.into_iter();
    all().find(|kind| kind.name() == name).ok_or_else(|| {
        let names: Vec<_> = all().map(Kind::name).collect();
        PyValueError::new_err(format!("kind is one of {}, not {name:?}", names.join(", ")))
    })
}

fn wait_of(name: &str) -> PyResult<Wait> {
    let found = WAITS.into_iter().find(|(of, _)| *of == name);
    found.map(|(_, wait)| wait).ok_or_else(|| {
        let names = WAITS.map(|(name, _)| name).join(", ");
        PyValueError::new_err(format!("after is one of {names}, not {name:?}"))
    })
}

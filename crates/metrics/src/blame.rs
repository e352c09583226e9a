//! Blame: the activity or the wait of a request at each moment of its life.
//!
//! A request is in exactly one [`State`] at a time, so the durations sum to its latency, to the
//! nanosecond.

use engine::{Span, bits};

/// Kind of operation that occupies a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A host read.
    HostRead = 0,
    /// A program of host data.
    HostProgram = 1,
    /// A read or program of parity, or a read of data for it. Its number follows that of host
    /// programs, and that of rebuilds follows it, because all are placed in the same way.
    Parity = 2,
    /// A read or program to rebuild data that was lost with failed flash.
    Rebuild = 3,
    /// The read before a host write of a part of a mapping unit.
    RmwRead = 4,
    /// A read that repeats one whose data could not be decoded.
    ReRead = 5,
    /// A read by garbage collection.
    GcRead = 6,
    /// A program (or copy-back) by garbage collection.
    GcProgram = 7,
    /// An erase.
    Erase = 8,
    /// A read or program of scrubbing.
    Scrub = 9,
}

impl Holder {
    /// Every holder, in the order of its number.
    pub const ALL: [Self; HOLDERS] = [
        Self::HostRead,
        Self::HostProgram,
        Self::Parity,
        Self::Rebuild,
        Self::RmwRead,
        Self::ReRead,
        Self::GcRead,
        Self::GcProgram,
        Self::Erase,
        Self::Scrub,
    ];
    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostRead => "host_read",
            Self::HostProgram => "host_program",
            Self::Parity => "parity",
            Self::Rebuild => "rebuild",
            Self::RmwRead => "rmw_read",
            Self::ReRead => "re_read",
            Self::GcRead => "gc_read",
            Self::GcProgram => "gc_program",
            Self::Erase => "erase",
            Self::Scrub => "scrub",
        }
    }
    /// Waiting for a flash unit that this holder occupies.
    #[inline]
    pub const fn on_unit(self) -> State {
        State::ALL[self as usize]
    }
    /// Waiting for a channel that this holder occupies.
    #[inline]
    pub const fn on_channel(self) -> State {
        State::ALL[HOLDERS + self as usize]
    }
    /// Waiting for a channel that carries a command of this holder, without data. Commands of
    /// collection have a state of their own.
    #[inline]
    pub const fn on_command(self) -> State {
        COMMANDS[self as usize]
    }
    /// True for collection, scrubbing and wear migrations.
    #[inline]
    pub const fn collects(self) -> bool {
        self as usize >= Self::GcRead as usize
    }
}

/// By holder, the state of waits for a channel that carries its command.
const COMMANDS: [State; HOLDERS] = {
    let (mut states, mut at) = ([State::ChannelCommand; HOLDERS], 0);
    while at < HOLDERS {
        let holder = Holder::ALL[at];
        if !holder.collects() {
            states[at] = holder.on_channel();
        }
        at += 1;
    }
    states
};

/// Number of holders.
pub const HOLDERS: usize = 10;

macro_rules! states {
    ($(#[doc = $doc:literal] $name:ident => $text:literal,)+) => {
        /// Activity or wait of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum State { $(#[doc = $doc] $name,)+ }

        impl State {
            /// Every state, in the order of its number.
            pub const ALL: [Self; STATES] = [$(Self::$name),+];
            /// The key used in results.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
            /// Meaning of the state in one sentence, from its documentation.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $doc),+ }
            }
        }

        /// Number of states.
        pub const STATES: usize = [$($text),+].len();
    };
}

impl State {
    /// True if the request itself is served in this state: it is no wait.
    #[inline]
    pub const fn is_service(self) -> bool {
        SERVICE >> self as u32 & 1 == 1
    }
    /// True if it is a wait for a flash unit or a channel.
    #[inline]
    pub const fn is_on_flash(self) -> bool {
        (self as usize) < LEDGER_STATES
    }
    /// True if collection (scrubbing and wear migrations included) holds a unit or a channel in this
    /// state: it uses it, or has reserved it. Commands do not count.
    #[inline]
    pub const fn is_hold(self) -> bool {
        HELD >> self as u32 & 1 == 1
    }
}

states! {
    /// Waits for a flash unit that is reading for a host.
    UnitHostRead => "wait_unit_host_read",
    /// Waits for a flash unit that is programming host data.
    UnitHostProgram => "wait_unit_host_program",
    /// Waits for a flash unit that is reading or programming for parity.
    UnitParity => "wait_unit_parity",
    /// Waits for a flash unit that is reading or programming to rebuild lost data.
    UnitRebuild => "wait_unit_rebuild",
    /// Waits for a flash unit that is reading for a read-modify-write.
    UnitRmwRead => "wait_unit_rmw_read",
    /// Waits for a flash unit that reads again what could not be decoded.
    UnitReRead => "wait_unit_re_read",
    /// Waits for a flash unit that garbage collection is reading.
    UnitGcRead => "wait_unit_gc_read",
    /// Waits for a flash unit that garbage collection is programming.
    UnitGcProgram => "wait_unit_gc_program",
    /// Waits for a flash unit that is erasing.
    UnitErase => "wait_unit_erase",
    /// Waits for a flash unit that scrubbing is reading or programming.
    UnitScrub => "wait_unit_scrub",
    /// Waits for a channel that carries a host read.
    ChannelHostRead => "wait_channel_host_read",
    /// Waits for a channel that carries host data to be programmed.
    ChannelHostProgram => "wait_channel_host_program",
    /// Waits for a channel that carries parity, or data for it.
    ChannelParity => "wait_channel_parity",
    /// Waits for a channel that carries data to rebuild lost data.
    ChannelRebuild => "wait_channel_rebuild",
    /// Waits for a channel that carries a read-modify-write's read.
    ChannelRmwRead => "wait_channel_rmw_read",
    /// Waits for a channel that carries what is read again because it could not be decoded.
    ChannelReRead => "wait_channel_re_read",
    /// Waits for a channel that carries a read of garbage collection.
    ChannelGcRead => "wait_channel_gc_read",
    /// Waits for a channel that carries data that garbage collection moves.
    ChannelGcProgram => "wait_channel_gc_program",
    /// Waits for a channel that carries a command of garbage collection or scrubbing, without data.
    ChannelCommand => "wait_channel_command",
    /// Waits for a channel that carries data that scrubbing moves.
    ChannelScrub => "wait_channel_scrub",
    /// Waits until an interrupted erase or program frees its unit, or until its own program resumes.
    Suspended => "wait_suspended",
    /// The unit or its channel is idle but reserved for a collection that is not preemptible.
    Reserved => "withheld_gc_reserved",
    /// The unit is idle but reserved for another operation, whose turn it is.
    Order => "withheld_order",
    /// Waits in the host because the queue depth is used up.
    QueueDepth => "withheld_queue_depth",
    /// Waits in the host because the power was cut and the drive is off or recovers.
    PowerOff => "wait_power_off",
    /// Waits in the host for room in its cache of writes.
    HostRoom => "wait_host_cache",
    /// Waits in the host for the turn of a drive to write, or for a copy of the same bytes.
    HostTurn => "wait_host_turn",
    /// Waits for a copy of the read that takes long, until a second one is sent.
    HedgeDelay => "wait_hedge",
    /// Waits until fewer of the firmware's tasks are under way, to read the rest of its stripe.
    TaskLimit => "wait_task",
    /// Waits for data ahead of it in the write buffer, or for a batch to fill.
    BufferFull => "wait_buffer",
    /// No free space: garbage collection is reading.
    SpaceGcRead => "wait_space_gc_read",
    /// No free space: garbage collection is programming.
    SpaceGcProgram => "wait_space_gc_program",
    /// No free space: a block is being erased.
    SpaceErase => "wait_space_erase",
    /// No free space, and garbage collection is not running.
    SpaceIdle => "wait_space_gc_idle",
    /// Waits until fewer programs of its NVM set are outstanding.
    Pressure => "wait_pressure",
    /// Waits for the buffer's memory, busy with data of other requests.
    BufferBusy => "wait_buffer_memory",
    /// Waits for the link to the host, busy with other requests.
    LinkBusy => "wait_link",
    /// Crosses the link to or from the host.
    Link => "link",
    /// Is handled by the firmware.
    Firmware => "firmware",
    /// Is copied to or from the host's cache of writes.
    HostCache => "host_cache",
    /// Is copied to or from the write buffer.
    Buffer => "buffer",
    /// Its page is being sensed.
    Sense => "sense",
    /// Its data is being programmed.
    Program => "program",
    /// Crosses the flash channel.
    Transfer => "transfer",
    /// Is decoded (ECC).
    Decode => "decode",
    /// Is read and decoded again because it could not be decoded.
    ReRead => "re_read",
    /// Its stripe's parity is computed, or it from parity.
    Xor => "xor",
}

/// States below this number are waits for a unit or a channel, which ledgers count.
pub const LEDGER_STATES: usize = State::Order as usize + 1;

const _: () = assert!(STATES < 64, "the states touched are kept in 64 bits");

/// Time by state; 0 for states that were never charged.
#[derive(Clone, Debug)]
pub struct Blame {
    touched: u64,
    /// The sum of `spans`: every request is checked against it.
    total: Span,
    spans: [Span; STATES],
}

impl Default for Blame {
    fn default() -> Self {
        Self::NONE
    }
}

impl Blame {
    /// A blame with no time charged.
    pub const NONE: Self = Self { touched: 0, total: Span::ZERO, spans: [Span::ZERO; STATES] };

    /// Resets all states to 0.
    #[inline]
    pub fn clear(&mut self) {
        if self.touched != 0 {
            *self = Self::NONE;
        }
    }
    /// Charges `span` to `state`.
    #[inline]
    pub fn charge(&mut self, state: State, span: Span) {
        if span.is_zero() {
            return;
        }
        self.total += span;
        self.spans[state as usize] += span;
        self.touched |= 1u64 << state as u32;
    }
    /// Moves time from one state to another.
    pub fn transfer(&mut self, span: Span, from: State, to: State) {
        self.total -= span;
        self.spans[from as usize] -= span;
        if self.spans[from as usize].is_zero() {
            self.touched &= !(1u64 << from as u32);
        }
        self.charge(to, span);
    }
    /// The time charged to `state`.
    #[inline]
    pub fn of(&self, state: State) -> Span {
        self.spans[state as usize]
    }
    /// Every state with time charged to it.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (State, Span)> + '_ {
        bits(self.touched).map(|index| (State::ALL[index], self.spans[index]))
    }
    /// Adds the nanoseconds of each state to its sum.
    #[inline]
    pub fn add_ns_to(&self, sums: &mut [u64; STATES]) {
        bits(self.touched & ALL).for_each(|index| sums[index] += self.spans[index].as_ns());
    }
    /// True if some time was a wait for a unit or a channel that collection held
    /// ([`State::is_hold`]).
    #[inline]
    pub fn has_hold(&self) -> bool {
        self.touched & HELD != 0
    }
    /// True if some time was a wait for an erase, or for the suspension of one or of a program.
    #[inline]
    pub fn has_erase(&self) -> bool {
        self.touched & ERASE != 0
    }
    /// The sum over the states of the request's own service.
    pub fn service(&self) -> Span {
        bits(self.touched & SERVICE).map(|index| self.spans[index]).sum()
    }
    /// The sum over waits for flash units and channels.
    pub fn on_flash(&self) -> Span {
        self.spans[..LEDGER_STATES].iter().copied().sum()
    }
    /// The sum over all states.
    #[inline]
    pub fn total(&self) -> Span {
        debug_assert_eq!(self.total, self.spans.iter().copied().sum(), "the sum is kept");
        self.total
    }
    /// Adds all of `other`.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        for (state, span) in other.iter() {
            self.charge(state, span);
        }
    }

    /// Adds the last `length` of the time in `other`, the blame of an operation: a wait that
    /// began while the operation was in progress inherits only the time after that. In the life
    /// of an operation, waits for space come first, then waits for units and channels, then its
    /// own service; if a class is cut, each of its states keeps its share. Returns the part of
    /// `length` beyond the total of `other`.
    pub fn add_tail(&mut self, other: &Self, length: Span) -> Span {
        [SERVICE, WAIT, SPACE]
            .into_iter()
            .fold(length, |left, class| self.add_share(other, class, left))
    }

    /// As [`Blame::add_tail`], for a wait for another request's host program: the service of that
    /// program counts as a wait for the unit.
    pub fn add_wait_for(&mut self, other: &Self, length: Span) -> Span {
        let service = other.sum_of(SERVICE).min(length);
        self.charge(State::UnitHostProgram, service);
        let left = self.add_share(other, WAIT, length - service);
        self.add_share(other, SPACE, left)
    }

    fn sum_of(&self, class: u64) -> Span {
        bits(self.touched & class).map(|index| self.spans[index]).sum()
    }

    /// Adds `most` of the time that `other` spent in a class, or all of it if it is less; each
    /// state keeps its share. Returns the rest of `most`.
    #[inline]
    fn add_share(&mut self, other: &Self, class: u64, most: Span) -> Span {
        if most.is_zero() || other.touched & class == 0 {
            return most;
        }
        let total = other.sum_of(class);
        if total <= most {
            bits(other.touched & class)
                .for_each(|index| self.charge(State::ALL[index], other.spans[index]));
            return most - total;
        }
        let share = Share::new(most, total);
        // Cumulative shares, so that the parts sum exactly to the whole.
        let (mut before, mut given) = (Span::ZERO, Span::ZERO);
        for index in bits(other.touched & class) {
            before += other.spans[index];
            let upto = share.of(before);
            self.charge(State::ALL[index], upto - given);
            given = upto;
        }
        Span::ZERO
    }
}

/// Maps the range from 0 to a total onto the range from 0 to a smaller total, with exact ends, so
/// that no part becomes longer.
#[derive(Clone, Copy)]
enum Share {
    /// In 2^-32. Rounded up, it adds less than 1 to any part of four seconds: the
    /// total maps to `most` itself, and one division serves for all parts.
    Short(u64),
    Long {
        most: u128,
        total: u128,
    },
}

impl Share {
    /// `most` is less than `total`.
    #[inline]
    fn new(most: Span, total: Span) -> Self {
        let (most, total) = (most.as_ns(), total.as_ns());
        if total >> 32 == 0 {
            Self::Short((most << 32) / total + 1)
        } else {
            Self::Long { most: most.into(), total: total.into() }
        }
    }
    #[inline]
    fn of(self, part: Span) -> Span {
        Span::from_ns(match self {
            Self::Short(ratio) => (part.as_ns() * ratio) >> 32,
            Self::Long { most, total } => (most * u128::from(part.as_ns()) / total) as u64,
        })
    }
}

/// Waits for an erase, or for the suspension of one or of a program.
const ERASE: u64 = 1 << State::UnitErase as u32 | 1 << State::Suspended as u32;
/// States of a unit or channel that collection holds: it uses it, or has reserved it. Commands do
/// not count.
const HELD: u64 = 1 << State::UnitGcRead as u32
    | 1 << State::UnitGcProgram as u32
    | 1 << State::UnitErase as u32
    | 1 << State::UnitScrub as u32
    | 1 << State::ChannelGcRead as u32
    | 1 << State::ChannelGcProgram as u32
    | 1 << State::ChannelScrub as u32
    | 1 << State::Reserved as u32;

/// Masks of the states by phase in the life of an operation: one bit per state.
const WAIT: u64 = (1 << (State::BufferFull as u32 + 1)) - 1;
const SPACE: u64 = (1 << (State::Pressure as u32 + 1)) - 1 - WAIT;
const SERVICE: u64 = ALL - WAIT - SPACE;
const ALL: u64 = (1 << STATES) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holders_and_their_waits_agree() {
        for holder in Holder::ALL {
            assert_eq!(holder.on_unit().name(), format!("wait_unit_{}", holder.name()));
            // An erase has no data.
            let of_channel = if holder == Holder::Erase { "command" } else { holder.name() };
            assert_eq!(holder.on_channel().name(), format!("wait_channel_{of_channel}"));
        }
    }

    #[test]
    fn collection_holds_what_it_uses_or_reserves_except_for_commands() {
        let held = State::ALL.into_iter().filter(|state| state.is_hold());
        let names: Vec<_> = held.map(State::name).collect();
        assert_eq!(
            names,
            [
                "wait_unit_gc_read",
                "wait_unit_gc_program",
                "wait_unit_erase",
                "wait_unit_scrub",
                "wait_channel_gc_read",
                "wait_channel_gc_program",
                "wait_channel_scrub",
                "withheld_gc_reserved",
            ]
        );
        let collects = Holder::ALL.into_iter().filter(|holder| holder.collects());
        assert!(collects.eq([Holder::GcRead, Holder::GcProgram, Holder::Erase, Holder::Scrub]));
        let mut blame = Blame::default();
        blame.charge(State::ChannelCommand, Span::from_ns(9));
        assert!(!blame.has_hold());
        blame.charge(State::Reserved, Span::from_ns(9));
        assert!(blame.has_hold());
    }

    #[test]
    fn a_tail_takes_service_first_and_then_waits() {
        let mut operation = Blame::default();
        operation.charge(State::SpaceErase, Span::from_ns(1000));
        operation.charge(State::UnitGcRead, Span::from_ns(30));
        operation.charge(State::UnitErase, Span::from_ns(10));
        operation.charge(State::Program, Span::from_ns(200));
        let mut request = Blame::default();
        assert_eq!(request.add_tail(&operation, Span::from_ns(220)), Span::ZERO);
        assert_eq!(request.of(State::Program), Span::from_ns(200));
        assert_eq!(request.of(State::UnitGcRead), Span::from_ns(15));
        assert_eq!(request.of(State::UnitErase), Span::from_ns(5));
        assert_eq!(request.of(State::SpaceErase), Span::ZERO);
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn a_tail_sums_to_its_length(
            spans in proptest::collection::vec((0..STATES, prop_oneof![0u64..1_000_000, 0..1u64 << 40]), 0..20),
            length in prop_oneof![0u64..3_000_000, 0..1u64 << 42],
        ) {
            let mut operation = Blame::default();
            for (state, ns) in spans {
                operation.charge(State::ALL[state], Span::from_ns(ns));
            }
            let mut request = Blame::default();
            let beyond = request.add_tail(&operation, Span::from_ns(length));
            prop_assert_eq!(request.total() + beyond, Span::from_ns(length));
            for blame in [&request, &operation] {
                prop_assert_eq!(blame.total(), blame.iter().map(|(_, span)| span).sum());
            }
            prop_assert!(request.iter().all(|(state, span)| span <= operation.of(state)));
        }
    }
}

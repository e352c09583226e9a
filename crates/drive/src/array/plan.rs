//! The host's plan between initiators and members. It is told the time and what happens, and returns
//! what is to be done; the array does that, and checks it.

pub mod act;
mod kept;
pub mod leveling;
mod mirror;
pub mod outside;
mod rails;
mod rotation;
pub mod stripes;
mod updates;

use crate::array::config::{Answer, PlanConfig, Release};
use crate::array::members::MemberId;
use act::{Act, Allowed, Asked, PlanCounts, Timer, UnderWay};
use engine::Instant;
use leveling::Leveling;
use leveling::chunks::Chunks;
use leveling::wear::Written;
use mirror::Mirror;
use outside::{Array, News, Outside, Stop};
use rails::{Rails, Rules};
use rotation::Rotation;
use stripes::Stripes;

/// A plan and its state.
pub enum Plan {
    /// A mirror ([`PlanConfig::Mirror`]).
    Mirror(Mirror),
    /// Flash on Rails or ping-pong ([`PlanConfig::Rails`], [`PlanConfig::PingPong`]).
    Rails(Box<Rails>),
    /// Rotation with parity ([`PlanConfig::Rotation`]).
    Rotation(Box<Rotation>),
    /// Wear-leveling over members ([`PlanConfig::Leveling`]).
    Leveling(Box<Leveling>),
    /// A plan in Python ([`PlanConfig::Python`]).
    Outside(Box<Outside>),
}

impl Plan {
    fn rails(rules: Rules) -> Self {
        Self::Rails(Box::new(Rails::new(rules)))
    }

    /// The plan of a configuration for an array.
    ///
    /// # Errors
    /// The fault of a function in Python, in one line.
    pub fn new(config: &PlanConfig, array: Array) -> Result<Self, String> {
        let members = array.members;
        Ok(match *config {
            PlanConfig::Python(ref policy) => Self::Outside(Box::new(Outside::new(policy, array)?)),
            PlanConfig::Mirror { reads, hedge } => Self::Mirror(Mirror::new(members, reads, hedge)),
            PlanConfig::Rails { period, cache, release, answer, depth, settle } => {
                let answers_early = answer == Answer::Cached;
                Self::rails(Rules {
                    members,
                    period,
                    settle,
                    cache,
                    depth,
                    release,
                    answers_early,
                    is_batch: false,
                })
            }
            PlanConfig::PingPong { period, cache, depth, settle } => Self::rails(Rules {
                members,
                period,
                settle,
                cache,
                depth,
                release: Release::Replicated,
                answers_early: true,
                is_batch: true,
            }),
            PlanConfig::Rotation { period, chunk, cache, depth, settle } => {
                let stripes = Stripes { members, chunk: chunk.bytes() };
                let rules = rotation::Rules { stripes, period, settle, cache, depth };
                Self::Rotation(Box::new(Rotation::new(rules)))
            }
            PlanConfig::Leveling { chunk, gap, copies, piece, depth, latency } => {
                let member = array.bytes / u64::from(members);
                Self::Leveling(Box::new(Leveling::new(leveling::Rules {
                    chunks: Chunks::new(members, chunk.bytes(), member),
                    gap: gap.bytes(),
                    copies,
                    piece: piece.bytes(),
                    depth,
                    latency,
                })))
            }
        })
    }

    /// The run begins.
    pub fn begin(&mut self, now: Instant, under: UnderWay<'_>, acts: &mut Vec<Act>) {
        match self {
            Self::Outside(outside) => outside.tell(now, under, News::Begun),
            Self::Mirror(_) | Self::Leveling(_) => {}
            Self::Rails(rails) => rails.begin(now, acts),
            Self::Rotation(rotation) => rotation.begin(now, acts),
        }
    }
    /// The host asks for something.
    pub fn asked(&mut self, now: Instant, asked: Asked, under: UnderWay<'_>, acts: &mut Vec<Act>) {
        match self {
            Self::Outside(outside) => outside.tell(now, under, News::Asked(asked)),
            Self::Mirror(mirror) => mirror.asked(now, asked, under, acts),
            Self::Rails(rails) => rails.asked(asked, acts),
            Self::Rotation(rotation) => rotation.asked(asked, acts),
            Self::Leveling(leveling) => leveling.asked(asked, acts),
        }
    }
    /// A command that was sent has ended at a member. `of` is its request if it was not answered
    /// before, and `is_read` tells its kind.
    pub fn ended(
        &mut self,
        now: Instant,
        (member, is_read): (MemberId, bool),
        of: Option<Asked>,
        token: u64,
        under: UnderWay<'_>,
        acts: &mut Vec<Act>,
    ) {
        match self {
            Self::Outside(outside) => outside.ended(now, token, of, under),
            Self::Mirror(mirror) => mirror.ended(member, of, token, under, acts),
            Self::Rails(_) if is_read => {}
            Self::Rails(rails) => rails.written(member, token, acts),
            Self::Rotation(rotation) if is_read => rotation.read_ended(token, acts),
            Self::Rotation(rotation) => rotation.written(member, token, acts),
            Self::Leveling(leveling) => leveling.ended(token, acts),
        }
    }
    /// A moment has come of which the plan wanted to be told.
    pub fn woken(
        &mut self,
        now: Instant,
        (timer, number): (Timer, u64),
        under: UnderWay<'_>,
        acts: &mut Vec<Act>,
    ) {
        match (self, timer) {
            (Self::Mirror(mirror), Timer::Hedge(id)) => mirror.woken(id, number, under, acts),
            (Self::Mirror(_), _) => panic!("a mirror has no periods"),
            (Self::Leveling(_), _) => panic!("leveling has no periods"),
            (Self::Outside(outside), Timer::Own(wake)) => outside.woken(now, wake, under),
            (Self::Outside(_), _) => panic!("a plan in Python has moments of its own"),
            (Self::Rails(rails), _) => rails.woken(now, timer, acts),
            (Self::Rotation(rotation), _) => rotation.woken(now, timer, acts),
        }
    }
    /// Allows so much to be sent to the member that is to write since the last swap.
    pub fn allow(&mut self, allowed: Allowed, acts: &mut Vec<Act>) {
        match self {
            Self::Rails(rails) => rails.allow(allowed, acts),
            Self::Rotation(rotation) => rotation.allow(allowed, acts),
            // A plan in Python sends what it likes.
            Self::Mirror(_) | Self::Leveling(_) | Self::Outside(_) => {}
        }
    }
    /// True if a member may be in maintenance now: if the host does not read it, or all are alike.
    pub fn may_maintain(&self, member: MemberId) -> bool {
        match self {
            Self::Mirror(_) | Self::Leveling(_) => true,
            Self::Rails(rails) => rails.writer() == member,
            Self::Rotation(rotation) => rotation.writer() == member,
            Self::Outside(outside) => outside.may_maintain(member),
        }
    }
    /// True if every member holds all data.
    pub fn is_mirrored(&self) -> bool {
        match self {
            Self::Mirror(_) | Self::Rails(_) => true,
            Self::Rotation(_) | Self::Leveling(_) => false,
            Self::Outside(outside) => outside.mirrors(),
        }
    }
    /// The number of the write whose data a command has, by its token.
    pub fn write_of(&self, token: u64) -> u64 {
        match self {
            Self::Outside(outside) => outside.write_of(token),
            _ => token,
        }
    }
    /// The reason for which a plan in Python decides nothing any more.
    pub fn stop(&self) -> Option<&Stop> {
        match self {
            Self::Outside(outside) => outside.stop(),
            _ => None,
        }
    }
    /// True if the plan holds nothing that a member lacks.
    pub fn is_at_rest(&self) -> bool {
        match self {
            Self::Mirror(_) => true,
            Self::Rails(rails) => rails.is_at_rest(),
            Self::Rotation(rotation) => rotation.is_at_rest(),
            Self::Leveling(leveling) => leveling.is_at_rest(),
            Self::Outside(outside) => !outside.holds(),
        }
    }
    /// Its counts.
    pub fn counts(&self) -> PlanCounts {
        match self {
            Self::Mirror(mirror) => mirror.counts(),
            Self::Rails(rails) => rails.counts(),
            Self::Rotation(rotation) => rotation.counts(),
            Self::Leveling(leveling) => leveling.counts(),
            Self::Outside(_) => PlanCounts::default(),
        }
    }
    /// Bytes that each member was sent to write, if the plan levels their wear.
    pub fn written(&self) -> Option<&[Written]> {
        match self {
            Self::Leveling(leveling) => Some(leveling.written()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::config::{CacheConfig, ReadChoice};
    use engine::Span;
    use settings::{Size, Time};

    #[test]
    fn only_the_member_that_writes_may_be_in_maintenance() {
        let period = Time::from(Span::from_ms(1));
        let cache = CacheConfig { size: Size::from_bytes(1), latency: period };
        let (depth, settle, chunk) = (1, None, Size::from_bytes(4096));
        let (release, answer) = (Release::Replicated, Answer::Written);
        let made = |config: &PlanConfig| {
            Plan::new(config, Array { members: 3, bytes: 4096 }).expect("built in")
        };
        let may = |plan: &Plan| [0, 1, 2].map(|member| plan.may_maintain(MemberId(member)));
        for config in [
            PlanConfig::Rails { period, cache, release, answer, depth, settle },
            PlanConfig::Rotation { period, chunk, cache, depth, settle },
        ] {
            let (mut plan, mut acts) = (made(&config), Vec::new());
            for turn in [[true, false, false], [false, true, false], [false, false, true]] {
                assert_eq!(may(&plan), turn, "{config:?}");
                plan.woken(Instant::START, (Timer::Swap, 0), UnderWay(&[0; 3]), &mut acts);
            }
        }
        let mirror = PlanConfig::Mirror { reads: ReadChoice::RoundRobin, hedge: None };
        assert_eq!(may(&made(&mirror)), [true; 3]);
    }
}

//! Configuration of an array: several drives in one run, and the host's plan for them.

use super::plan::leveling::chunks::Chunks;
use super::plan::outside;
use super::plan::stripes::Stripes;
use engine::{Span, Streams};
use ftl::Layout;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Share, Size, Time};

/// Several drives in one run. A member of the array is a drive, or an NVM set of a drive. Workloads use
/// one namespace: that of a member if each holds all data, and that of all members together if they level
/// their wear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayConfig {
    /// Number of drives. All are as `drive` says, and each is filled and aged apart.
    #[schemars(range(min = 1, max = 64))]
    pub drives: u32,
    /// True to give all drives the same random numbers, so that those with the same commands do the
    /// same. Default: false, each has numbers of its own.
    #[serde(default)]
    pub same_numbers: bool,
    /// The host's plan: the members that it sends commands to, and when.
    pub plan: PlanConfig,
}

/// The host's plan for the members of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case")]
pub enum PlanConfig {
    /// Writes go to all members at once, and a read goes to one of them.
    Mirror {
        /// The member that a read goes to. Default: round-robin.
        #[serde(default)]
        reads: ReadChoice,
        /// Hedged reads: a read that takes long is sent to another member, too. Default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hedge: Option<HedgeConfig>,
    },
    /// One member writes at a time, and the others read. The one that begins to write is first sent,
    /// in their order, the writes that it lacks; new writes follow. Source: [RAILS].
    Rails {
        /// Time for which a member writes before the next one does.
        period: Time,
        /// The host's memory for writes that a member lacks.
        cache: CacheConfig,
        /// The moment at which a write leaves the cache. Default: replicated.
        #[serde(default)]
        release: Release,
        /// The moment at which a write is answered. Default: written.
        #[serde(default)]
        answer: Answer,
        /// Most writes under way at the member that writes. Default: 32.
        #[serde(default = "depth")]
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Time before the end of a period from which on no write begins, so that the member is at
        /// rest when it is to read. Default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settle: Option<Time>,
    },
    /// Two members take turns: one reads, and the other is sent the writes that came before its
    /// period. Writes are answered from the cache. Source: [IOD17].
    PingPong {
        /// Time for which a member writes before the other one does.
        period: Time,
        /// The host's memory for writes that a member lacks.
        cache: CacheConfig,
        /// Most writes under way at the member that writes. Default: 32.
        #[serde(default = "depth")]
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Time before the end of a period from which on no write begins. Default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settle: Option<Time>,
    },
    /// Three or more members hold parity over each other, in turn. One of them writes at a time, and what
    /// is read of that one is computed from the others. The cache answers writes. Source: [RAILS].
    Rotation {
        /// Time for which a member writes before the next one does.
        period: Time,
        /// Bytes of a member that are addressed one behind the other; the next ones lie at the next
        /// member. A multiple of the mapping unit.
        chunk: Size,
        /// The host's memory for data and parity that their members lack.
        cache: CacheConfig,
        /// Most writes under way at the member that writes. Default: 32.
        #[serde(default = "depth")]
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Time before the end of a period from which on no write begins. Default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settle: Option<Time>,
    },
    /// Two or more members hold a part of the data each. If one was written more than another, a chunk
    /// that hosts write much changes places with one that they write little. Source: [IOD17].
    Leveling {
        /// Bytes that lie together at a member, and change places together. A multiple of `piece`.
        chunk: Size,
        /// Difference between the bytes that the most and the least written member were sent to write,
        /// above which chunks change places.
        gap: Size,
        /// Most bytes that the host copies, as a share of those that it has written. Default: 25 %.
        #[serde(default = "copies")]
        copies: Share,
        /// Bytes of a chunk that are copied at a time. A multiple of the mapping unit. Default: 128 KiB.
        #[serde(default = "piece")]
        piece: Size,
        /// Most pieces under way. Each is one of both chunks: two reads, and then two writes. Default: 4.
        #[serde(default = "pieces")]
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Time to read a piece under way from the host's memory. Default: 1 us.
        #[serde(default = "latency")]
        latency: Time,
    },
    /// Asks a plan in a Python file, which `function` makes anew for each run
    /// (docs/how-to/add-a-policy.md).
    Python(outside::Python),
}

impl PlanConfig {
    /// The name of the policy.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mirror { .. } => "mirror",
            Self::Rails { .. } => "rails",
            Self::PingPong { .. } => "ping-pong",
            Self::Rotation { .. } => "rotation",
            Self::Leveling { .. } => "leveling",
            Self::Python(_) => "python",
        }
    }
}

impl ArrayConfig {
    /// Rows of chunks over members, if these hold parity over each other. None, too, if the chunks do
    /// not fit members of a drive of this layout, which is refused.
    pub fn stripes(&self, layout: &Layout) -> Option<Stripes> {
        let PlanConfig::Rotation { chunk, .. } = self.plan else { return None };
        let (members, chunk) = (self.drives.saturating_mul(layout.set_count()), chunk.bytes());
        let fits = members > 1 && (1..=member_bytes(layout)).contains(&chunk);
        fits.then_some(Stripes { members, chunk })
    }
    /// Chunks of members that level their wear. None, too, if they do not fit members of a drive of this
    /// layout, which is refused.
    pub fn chunks(&self, layout: &Layout) -> Option<Chunks> {
        let PlanConfig::Leveling { chunk, .. } = self.plan else { return None };
        let (members, member) =
            (self.drives.saturating_mul(layout.set_count()), member_bytes(layout));
        let fits = (1..=member).contains(&chunk.bytes());
        fits.then(|| Chunks::new(members, chunk.bytes(), member))
    }
    /// Bytes of the array's namespace if its drives have this layout.
    pub fn bytes(&self, layout: &Layout) -> u64 {
        let member = member_bytes(layout);
        match (self.stripes(layout), self.chunks(layout)) {
            (Some(stripes), _) => stripes.data_bytes(member),
            (_, Some(chunks)) => chunks.all_bytes(),
            (None, None) => member,
        }
    }
}

/// Bytes of a member: of the smallest NVM set, or of a drive without sets.
pub fn member_bytes(layout: &Layout) -> u64 {
    let units = layout.set_ids().map(|set| layout.host_units_of_set(set)).min();
    u64::from(units.expect("a drive is a set")) * layout.unit_bytes
}

fn depth() -> u32 {
    32
}
fn copies() -> Share {
    Share::from_percent(25)
}
fn piece() -> Size {
    Size::from_bytes(128 << 10)
}
fn pieces() -> u32 {
    4
}
fn latency() -> Time {
    Time::from(Span::from_us(1))
}

/// The member of a mirror that a read goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadChoice {
    /// One after the other.
    #[default]
    RoundRobin,
    /// The one with the fewest commands under way; the first of several such.
    LeastOutstanding,
}

/// Hedged reads. Whatever comes back first answers the read. A hedge that still waits in the host is
/// cancelled then, and one that was sent ends as any read does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HedgeConfig {
    /// Time after which a read that is not answered is issued a second time, to another member.
    pub after: Time,
    /// A hedge is sent when fewer than so many commands are under way at its member, and waits in the
    /// host until then. Default: no limit, it is sent at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub below: Option<u32>,
}

/// The host's memory for writes that a member lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Bytes of writes that it holds; others wait. One write is held even if it is larger.
    pub size: Size,
    /// Time to read from it, or to write to it.
    pub latency: Time,
}

/// The moment at which a write leaves the cache of Rails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// As soon as all members have it.
    #[default]
    Replicated,
    /// At the second swap after it came, if all members have it then, or as soon as they do.
    SwapAfterNext,
}

/// The moment at which Rails answers a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// As soon as the first member has answered it.
    #[default]
    Written,
    /// As soon as the cache holds it.
    Cached,
}

/// The seed of a drive. The first one has the seed of the experiment, so that it is the drive of a run
/// without an array.
pub fn seed_of(seed: u64, array: &ArrayConfig, drive: u32) -> u64 {
    match drive == 0 || array.same_numbers {
        true => seed,
        false => Streams::new(seed).hash("array.drive").bits(u64::from(drive)),
    }
}

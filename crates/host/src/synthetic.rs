//! A synthetic workload: kinds, sizes, addresses and issue times, each from a random stream of
//! its own, so that changing one of them does not change the others. A flush draws neither a size
//! nor an address, so the n-th request with a range stays the same with any flushes in between.

use crate::addresses::Addresses;
use crate::arrivals::Arrivals;
use crate::config::{AddressConfig, AlignConfig, SizeConfig, Sizing, WorkloadConfig};
use crate::mix::{Mix, shares};
use crate::region::Region;
use crate::request::{Issue, Request};
use crate::sizes::{Sizes, smallest};
use engine::{Span, Streams};
use settings::Size;
use traces::{Command, Kind};

/// Default bytes per request.
const SIZE: Sizing = Sizing::Fixed(Size::from_bytes(4096));

/// A stream of synthetic requests.
#[derive(Clone, Debug)]
pub(crate) struct Synthetic {
    mix: Mix,
    /// Sizes and addresses: one entry for all kinds, or one for each.
    ranges: Vec<Ranges>,
    /// Entry of each kind, by [`Kind::index`].
    of_kind: [usize; 5],
    arrivals: Arrivals,
    flushes: Option<Flushes>,
    region: Region,
}

/// Sizes and addresses of requests.
#[derive(Clone, Debug)]
struct Ranges {
    sizes: Sizes,
    addresses: Addresses,
}

/// Flushes that follow each n-th write.
#[derive(Clone, Debug)]
struct Flushes {
    every: u64,
    writes: u64,
    /// Issue of the flush that is due.
    due: Option<Issue>,
}

impl Synthetic {
    /// The requests of `config`, which has been checked, in `region`.
    pub fn build(config: &WorkloadConfig, region: Region, streams: Streams) -> Self {
        let stream = |what: &str| streams.stream(&format!("workload.{}.{what}", config.name));
        let pattern = config.addresses.clone().unwrap_or(AddressConfig::Uniform {});
        let ranges = |kind: Kind, suffix: &str| {
            let [sizes, places] =
                ["sizes", "addresses"].map(|what| stream(&format!("{what}{suffix}")));
            let align = align_of(config, kind);
            Ranges {
                sizes: Sizes::new(sizing_of(config, kind), region.bytes, sizes),
                addresses: Addresses::new(&pattern, region.bytes, align, places),
            }
        };
        let shares = shares(config);
        let mut of_kind = [0; 5];
        let ranges = if differs_by_kind(config) {
            let kinds = Kind::ALL.into_iter().filter(|kind| asks_for(&shares, *kind));
            let numbered = kinds.enumerate().map(|(number, kind)| {
                of_kind[kind.index()] = number;
                ranges(kind, &format!(".{}", kind.name()))
            });
            numbered.collect()
        } else {
            vec![ranges(Kind::Read, "")]
        };
        Self {
            mix: Mix::new(shares, stream("mix")),
            ranges,
            of_kind,
            arrivals: Arrivals::new(config, streams),
            flushes: config.flush_every.map(|every| Flushes { every, writes: 0, due: None }),
            region,
        }
    }

    /// The next request; there always is one.
    #[inline]
    pub fn next(&mut self) -> Request {
        if let Some(issue) = self.flushes.as_mut().and_then(|flushes| flushes.due.take()) {
            return Request { command: self.region.flush(), issue };
        }
        let kind = self.mix.next();
        let command = if kind == Kind::Flush {
            self.region.flush()
        } else {
            let Ranges { sizes, addresses } = &mut self.ranges[self.of_kind[kind.index()]];
            let bytes = sizes.next();
            let offset = self.region.offset + addresses.next(bytes);
            Command { kind, offset, bytes }
        };
        let issue = self.arrivals.next();
        if let Some(flushes) = &mut self.flushes {
            flushes.count(kind, issue);
        }
        Request { command, issue }
    }
}

impl Flushes {
    /// Counts a request; if it is the n-th write, a flush is due.
    #[inline]
    fn count(&mut self, kind: Kind, issue: Issue) {
        if kind != Kind::Write {
            return;
        }
        self.writes += 1;
        if self.writes.is_multiple_of(self.every) {
            self.due = Some(match issue {
                Issue::At(at) => Issue::At(at),
                Issue::After(_) => Issue::After(Span::ZERO),
            });
        }
    }
}

/// True if a workload with these shares issues requests of this kind with a range.
pub(crate) fn asks_for(shares: &[f64; 5], kind: Kind) -> bool {
    kind.has_range() && shares[kind.index()] > 0.0
}

/// True if each kind has sizes and addresses of its own.
pub(crate) fn differs_by_kind(config: &WorkloadConfig) -> bool {
    matches!(config.size, Some(SizeConfig::ByKind(_)))
        || matches!(config.align, Some(AlignConfig::ByKind(_)))
}

/// Sizes of a kind; the default if they are missing.
pub(crate) fn sizing_of(config: &WorkloadConfig, kind: Kind) -> &Sizing {
    config.size.as_ref().and_then(|size| size.of(kind)).unwrap_or(&SIZE)
}

/// Alignment of the requests of a kind, in bytes.
pub(crate) fn align_of(config: &WorkloadConfig, kind: Kind) -> u64 {
    let align = match &config.align {
        None => None,
        Some(AlignConfig::All(align)) => Some(align),
        Some(AlignConfig::ByKind(by_kind)) => by_kind.of(kind),
    };
    align.map_or_else(|| smallest(sizing_of(config, kind)), |align| align.bytes())
}

//! A synthetic workload: kinds, sizes, addresses and issue times, each from a random stream of
//! its own, so that changing one of them does not change the others. A flush draws neither a size
//! nor an address, so the n-th request with a range stays the same with any flushes in between.

use crate::addresses::Addresses;
use crate::arrivals::Arrivals;
use crate::config::{AddressConfig, SizeConfig, WorkloadConfig};
use crate::mix::{Mix, shares};
use crate::region::Region;
use crate::request::Request;
use crate::sizes::{Sizes, smallest};
use engine::Streams;
use settings::Size;
use traces::{Command, Kind};

/// Default bytes per request.
const SIZE: Size = Size::from_bytes(4096);

/// A stream of synthetic requests.
#[derive(Clone, Debug)]
pub(crate) struct Synthetic {
    mix: Mix,
    sizes: Sizes,
    addresses: Addresses,
    arrivals: Arrivals,
    region: Region,
}

impl Synthetic {
    /// The requests of `config`, which has been checked, in `region`.
    pub fn build(config: &WorkloadConfig, region: Region, streams: Streams) -> Self {
        let stream = |what: &str| streams.stream(&format!("workload.{}.{what}", config.name));
        let size = size(config);
        let pattern = config.addresses.clone().unwrap_or(AddressConfig::Uniform {});
        let align = align(config);
        Self {
            mix: Mix::new(shares(config), stream("mix")),
            sizes: Sizes::new(&size, region.bytes, stream("sizes")),
            addresses: Addresses::new(&pattern, region.bytes, align, stream("addresses")),
            arrivals: Arrivals::new(config, stream("arrivals")),
            region,
        }
    }

    /// The next request; there always is one.
    #[inline]
    pub fn next(&mut self) -> Request {
        let kind = self.mix.next();
        let command = if kind == Kind::Flush {
            self.region.flush()
        } else {
            let bytes = self.sizes.next();
            let offset = self.region.offset + self.addresses.next(bytes);
            Command { kind, offset, bytes }
        };
        Request { command, issue: self.arrivals.next() }
    }
}

/// The sizes of `config`.
pub(crate) fn size(config: &WorkloadConfig) -> SizeConfig {
    config.size.clone().unwrap_or(SizeConfig::Fixed(SIZE))
}

/// Alignment of the requests of `config`, in bytes.
pub(crate) fn align(config: &WorkloadConfig) -> u64 {
    config.align.map_or_else(|| smallest(&size(config)), Size::bytes)
}

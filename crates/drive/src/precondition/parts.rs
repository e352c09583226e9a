//! Subunits that hold data in the units of a drive that was filled.

use engine::{Stream, Streams};
use ftl::{Ftl, Layout, Lpn};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Problems, Share, Size};

/// Parts of the filled units that hold data, as requests of one size and alignment have written them.
/// Reads find the whole unit on flash all the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartsConfig {
    /// Bytes of a request.
    pub size: Size,
    /// Requests begin at multiples of this. Default: `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
    /// Share of the places for a request that were written, drawn at random for each unit. A unit has
    /// at least one, unless the share is 0 %. Default: 100 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

impl PartsConfig {
    fn align(&self) -> u64 {
        self.align.unwrap_or(self.size).bytes()
    }
    fn share(&self) -> f64 {
        self.share.map_or(1.0, |share| share.fraction())
    }
    /// Reports values that make no sense, and a drive that does not know of parts.
    pub(crate) fn check(&self, layout: &Layout, problems: &mut Problems) {
        if !layout.has_subunits() {
            let fault = "the drive does not know which parts of a unit hold data; give drive.ftl.subunit, or leave parts out";
            problems.push("precondition.parts", fault);
        }
        for (key, size) in [("size", Some(self.size)), ("align", self.align)] {
            if size.is_some_and(|size| size.bytes() == 0) {
                problems.push(format!("precondition.parts.{key}"), "must be more than 0");
            }
        }
        if self.share() > 1.0 {
            problems.push("precondition.parts.share", "more than all places");
        }
    }
    /// The subunits of a unit that hold data.
    fn draw(&self, layout: &Layout, lpn: Lpn, numbers: &mut Stream) -> u64 {
        let (size, align, share) = (self.size.bytes(), self.align(), self.share());
        let start = u64::from(lpn.0) * layout.unit_bytes;
        // The first place whose request reaches into the unit.
        let first = (start + 1).saturating_sub(size).div_ceil(align);
        let behind = (start + layout.unit_bytes).div_ceil(align);
        let (mut mask, mut left) = (0, behind.saturating_sub(first));
        for place in (first..behind).map(|number| number * align) {
            // While none is written, this one is in so many of the cases in which any is.
            let one_of_left = || share / (1.0 - libm::pow(1.0 - share, left as f64));
            let wanted = if mask == 0 && share > 0.0 { one_of_left() } else { share };
            if wanted >= 1.0 || numbers.unit() < wanted {
                mask |= layout.in_unit(lpn, place, place + size).touched;
            }
            left -= 1;
        }
        mask
    }
}

/// Sets the subunits of all units that hold data.
pub(super) fn mark(ftl: &mut Ftl, config: PartsConfig, streams: Streams) {
    let mut numbers = streams.stream("precondition.parts");
    for lpn in (0..ftl.layout.host_units).map(Lpn) {
        if ftl.lookup(lpn).is_some() {
            let mask = config.draw(&ftl.layout, lpn, &mut numbers);
            ftl.set_written(lpn, mask);
        }
    }
    ftl.take_written();
}

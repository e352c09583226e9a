//! NVM sets of chosen flash: each is named by its channels, dies and planes.

use crate::ids::SetId;
use engine::ids::Id;
use nand::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Flash of an NVM set: some planes of some dies of some channels, numbered from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPart {
    /// Channels. A synchronous gang counts as one. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<u32>>,
    /// Dies of each of these channels, package by package. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dies: Option<Vec<u32>>,
    /// Planes of each of these dies. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<Vec<u32>>,
}

/// Numbers of channels, of dies of a channel, and of planes of a die.
fn counts(geometry: &Geometry) -> [u32; 3] {
    let dies = geometry.dies_per_channel();
    [geometry.channels, dies, geometry.planes_per_die]
}

impl SetPart {
    fn levels(&self) -> [(&'static str, Option<&Vec<u32>>); 3] {
        [
            ("channels", self.channels.as_ref()),
            ("dies", self.dies.as_ref()),
            ("planes", self.planes.as_ref()),
        ]
    }
    /// Contradictions with the flash.
    fn faults(&self, geometry: &Geometry) -> Vec<String> {
        let mut faults = Vec::new();
        for ((level, given), count) in self.levels().into_iter().zip(counts(geometry)) {
            let Some(numbers) = given else { continue };
            if numbers.is_empty() {
                faults.push(format!("{level} names none; leave it out for all"));
            }
            if let Some(beyond) = numbers.iter().find(|number| **number >= count) {
                faults.push(format!("{level}: {beyond} is beyond the last one, {}", count - 1));
            }
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                faults.push(format!("{level}: {} comes twice", pair[0]));
            }
        }
        faults
    }
    /// The planes of the part, counted over the drive.
    fn planes(&self, geometry: &Geometry) -> Vec<u32> {
        let [_, dies, planes] = counts(geometry);
        let [of_channels, of_dies, of_planes] = [0, 1, 2].map(|level| {
            let (_, given) = self.levels()[level];
            given.cloned().unwrap_or_else(|| (0..counts(geometry)[level]).collect())
        });
        let mut all = Vec::new();
        for channel in of_channels {
            for die in &of_dies {
                all.extend(of_planes.iter().map(|plane| (channel * dies + die) * planes + plane));
            }
        }
        all
    }
}

/// Contradictions of the parts with the flash, or with each other.
pub(crate) fn faults(parts: &[SetPart], geometry: &Geometry) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, part) in (1..).zip(parts) {
        faults.extend(part.faults(geometry).into_iter().map(|of| format!("set {number}: {of}")));
    }
    if !faults.is_empty() {
        return faults;
    }
    let named = |plane: usize| {
        let [_, dies, planes] = counts(geometry).map(|count| count as usize);
        let [channel, die] = [plane / planes / dies, plane / planes % dies];
        format!("plane {} of die {die} of channel {channel}", plane % planes)
    };
    let mut of_planes = vec![None; geometry.planes() as usize];
    for (number, part) in (1..).zip(parts) {
        for plane in part.planes(geometry) {
            let before: &mut Option<u32> = &mut of_planes[plane as usize];
            if let Some(other) = before.replace(number) {
                let plane = named(plane as usize);
                faults.push(format!(
                    "{plane} lies in sets {other} and {number}; a plane lies in one"
                ));
                return faults;
            }
        }
    }
    if let Some(plane) = of_planes.iter().position(Option::is_none) {
        faults.push(format!("{} lies in no set; add it to one, or give it a set", named(plane)));
    }
    faults
}

/// The set of each plane.
pub(crate) fn of_planes(parts: &[SetPart], geometry: &Geometry) -> Vec<SetId> {
    let mut of_planes = vec![SetId(0); geometry.planes() as usize];
    for (set, part) in parts.iter().enumerate() {
        for plane in part.planes(geometry) {
            of_planes[plane as usize] = SetId::from_index(set);
        }
    }
    of_planes
}

//! Drives that ship with flashscape. A preset is a file and a line here.

/// A drive that ships with flashscape.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name in `preset = "..."`.
    pub name: &'static str,
    /// Its version. A change of a value makes a new version; `docs/presets.md` tells what moved.
    pub version: u32,
    /// Its description, in one line.
    pub about: &'static str,
    /// Its `[drive]` table, with the source of each figure.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal $version:literal: $about:literal,)+) => {
        /// Every preset.
        pub const PRESETS: &[Preset] = &[$(Preset {
            name: $name,
            version: $version,
            about: $about,
            text: include_str!(concat!("../../../python/flashscape/presets/", $name, ".toml")),
        }),+];
    };
}

presets! {
    "dc-tlc" 2: "a modern TLC data-center drive",
    "atc19" 1: "the low-latency drive of Practical Erase Suspension (USENIX ATC 2019)",
    "atc08" 1: "the baseline of Design Tradeoffs for SSD Performance (USENIX ATC 2008)",
    "fast17" 1: "the drive of Tiny-Tail Flash with all of its techniques (USENIX FAST 2017)",
    "fast19" 1: "the drive of Design Tradeoffs for SSD Reliability (USENIX FAST 2019)",
}

/// The preset called `name`.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

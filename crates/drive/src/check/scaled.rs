//! Notes on a drive that is a small copy of a preset, and the effects on its collection.

use super::space::spare_if_full;
use crate::config::DriveConfig;
use crate::experiment::Experiment;
use crate::presets::preset;
use ftl::Layout;
use nand::Geometry;
use settings::{Document, Problems};

/// Ratio of block sizes from which the note mentions smaller blocks.
const SMALLER: f64 = 2.0;

/// Share of the preset's spare below which the note mentions it.
const LESS: f64 = 0.75;

/// The reason why latency tails and write amplification differ from those of the preset, if blocks
/// are much smaller or collection has much less spare to use.
pub fn note(experiment: &Experiment, layout: &Layout) -> Option<String> {
    let drive = &experiment.drive;
    let whole = preset(drive.preset.as_deref()?)?;
    let config: DriveConfig =
        Document::parse(whole.text, whole.name).ok().and_then(|text| text.read().ok())?;
    let of_preset = Experiment { drive: config, ..experiment.clone() };
    let geometry = Geometry::from(&of_preset.drive.geometry);
    let original = super::flash::check(&of_preset.drive, &geometry, &mut Problems::new(""))?;
    let name = whole.name;
    let bytes = |layout: &Layout| f64::from(layout.units_per_block()) * layout.unit_bytes as f64;
    let times = bytes(&original) / bytes(layout);
    let frequent = (times >= SMALLER).then(|| {
        format!("blocks are {times:.0} times smaller than {name}'s, so erases are {times:.0} times as frequent (fewer dies or blocks make a drive smaller without that)")
    });
    let [spare, usual] = [(experiment, layout), (&of_preset, &original)]
        .map(|(experiment, layout)| spare_if_full(experiment, layout));
    let tight = (spare < LESS * usual).then(|| {
        format!(
            "when the drive is full, collection can use {:.1} % of the data as spare, and {:.1} % in {name}, so write amplification is higher",
            100.0 * spare,
            100.0 * usual
        )
    });
    let told: Vec<String> = [frequent, tight].into_iter().flatten().collect();
    (!told.is_empty()).then(|| format!("scaled: {}", told.join("; ")))
}

#[cfg(test)]
mod tests {
    use crate::load::load;

    /// The note on a drive of the preset with these settings.
    fn told(changes: &[(&str, &str)]) -> Option<String> {
        let text = "[drive]\npreset = \"dc-tlc\"\n\n[[workload]]\nname = \"host\"\nreads = \"100 %\"\n\n[run]\nrequests = 1\n";
        let changes: Vec<_> = changes
            .iter()
            .map(|(path, value)| (format!("drive.{path}"), (*value).into()))
            .collect();
        let (_, checked) = load(text, "ssd.toml", &changes).unwrap_or_else(|why| panic!("{why}"));
        checked.notes.into_iter().find(|note| note.starts_with("scaled: "))
    }

    const FOUR_DIES: [(&str, &str); 2] =
        [("geometry.channels", "4"), ("geometry.dies_per_package", "1")];

    #[test]
    fn fewer_dies_and_blocks_of_the_preset_need_no_note() {
        assert_eq!(told(&[]), None);
        let exported = ("ftl.over_provisioning", "{ exported = \"240 GB\" }");
        assert_eq!(told(&[FOUR_DIES[0], FOUR_DIES[1], exported]), None);
    }

    #[test]
    fn smaller_blocks_are_told_by_how_much() {
        // 2112 pages of the preset's over 48. 504 blocks of 48 pages on 16 planes are 6.34 GB.
        let pages = ("geometry.pages_per_block", "48");
        let exported = ("ftl.over_provisioning", "{ exported = \"5.4 GB\" }");
        let note = told(&[FOUR_DIES[0], FOUR_DIES[1], pages, exported]).expect("a note");
        assert!(note.contains("44 times smaller than dc-tlc's"), "{note}");
        assert!(!note.contains("when the drive is full"), "{note}");
    }

    #[test]
    fn few_blocks_leave_collection_less_spare() {
        // As much spare as the preset, 16.3 %: of 100 blocks a bin 86 hold data, two are open and
        // five are kept free. So 7 of 86 are left for collection, and in the preset 14.7 %: of 504
        // blocks 433.5 hold data.
        let blocks = ("geometry.blocks_per_plane", "100");
        let exported = ("ftl.over_provisioning", "{ spare = \"16.3 %\" }");
        let note = told(&[FOUR_DIES[0], FOUR_DIES[1], blocks, exported]).expect("a note");
        assert!(!note.contains("times smaller"), "{note}");
        assert!(
            note.contains("collection can use 8.2 % of the data as spare, and 14.7 % in dc-tlc"),
            "{note}"
        );
    }
}

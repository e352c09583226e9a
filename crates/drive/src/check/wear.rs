//! Checks wear-leveling, which compares the remaining lives of blocks.

use crate::config::DriveConfig;
use settings::{Problems, Share};

pub fn check(drive: &DriveConfig, problems: &mut Problems) {
    let Some(wear) = &drive.ftl.wear else { return };
    let path = "drive.ftl.wear";
    if drive.nand.endurance == 0 {
        problems.push(path, "blocks never wear out (drive.nand.endurance is 0); give an endurance, or leave this out");
    }
    if wear.retirement_age.is_none() && wear.age_variance.is_none() {
        problems.push(path, "says neither retirement_age (migration) nor age_variance (rate-limiting); give one or both, or leave this out");
    }
    let of = |share: Option<Share>| share.map(|share| share.fraction());
    for (key, share) in
        [("retirement_age", wear.retirement_age), ("age_variance", wear.age_variance)]
    {
        if of(share).is_some_and(|share| share <= 0.0 || share >= 1.0) {
            problems.push(
                format!("{path}.{key}"),
                "is a share above 0 % and below 100 % of the mean life",
            );
        }
    }
    let left = wear.age_variance.map(|variance| 1.0 - variance.fraction());
    match (of(wear.rate_window), left) {
        (Some(_), None) => problems.push(
            format!("{path}.rate_window"),
            "nothing is rate-limited without age_variance; give that, or leave this out",
        ),
        (Some(window), Some(left)) if window > left + 1e-12 => {
            let problem = format!(
                "must be at most {:.4} %, the share of the mean life that age_variance leaves",
                100.0 * left
            );
            problems.push(format!("{path}.rate_window"), problem);
        }
        _ => {}
    }
}

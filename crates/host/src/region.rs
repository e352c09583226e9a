//! The part of the drive that an initiator uses, and the namespace that it lies in.

use crate::config::WorkloadConfig;
use settings::Extent;
use traces::Command;

/// A range of the drive's exported bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The first byte of the namespace that it lies in. A flush, which has no address, goes there.
    pub namespace_begin: u64,
}

impl Region {
    /// The region of `config` in a namespace, not yet checked: if it does not fit, it has no bytes or
    /// reaches beyond the namespace.
    pub fn of(config: &WorkloadConfig, namespace: Self) -> Self {
        let region = config.region.clone().unwrap_or_default();
        let bytes = |extent: Extent| extent.of(namespace.bytes);
        let offset = region.offset.map_or(0, bytes);
        let rest = namespace.bytes.saturating_sub(offset);
        Self {
            offset: namespace.offset.saturating_add(offset),
            bytes: region.size.map_or(rest, bytes),
            namespace_begin: namespace.namespace_begin,
        }
    }

    /// A flush of its namespace.
    #[inline]
    pub(crate) fn flush(&self) -> Command {
        Command { offset: self.namespace_begin, ..Command::FLUSH }
    }

    /// The first byte behind it, if a number can tell it.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.bytes)
    }
}

impl From<u64> for Region {
    /// The namespace of a drive that exports so many bytes.
    fn from(bytes: u64) -> Self {
        Self { offset: 0, bytes, namespace_begin: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::Region;
    use crate::config::RegionConfig;
    use crate::{QueueDepth, WorkloadConfig};
    use settings::Share;

    fn workload(region: RegionConfig) -> WorkloadConfig {
        let reads = Some(Share::from_percent(100));
        WorkloadConfig { name: "host".into(), reads, region: Some(region), ..Default::default() }
    }

    fn in_percent(offset: &str, size: &str) -> WorkloadConfig {
        let [offset, size] = [offset, size].map(|text| Some(text.parse().unwrap()));
        workload(RegionConfig { offset, size })
    }

    #[test]
    fn shares_are_of_the_namespace() {
        // The second of two NVM sets, of 40 MB each: a quarter is 10 MB, or 2,441 times 4 KiB.
        let namespace =
            Region { offset: 40_000_000, bytes: 40_000_000, namespace_begin: 40_000_000 };
        let region = Region::of(&in_percent("25 %", "50 %"), namespace);
        assert_eq!(region.offset, 40_000_000 + 2_441 * 4_096);
        assert_eq!(region.bytes, 4_882 * 4_096);
        assert_eq!(region.namespace_begin, 40_000_000);
        let rest = workload(RegionConfig { offset: Some("75 %".parse().unwrap()), size: None });
        let region = Region::of(&rest, namespace);
        assert_eq!(region.end(), Some(80_000_000));
    }

    #[test]
    fn shares_beyond_the_whole_are_refused() {
        let keys = |config: WorkloadConfig| -> Vec<String> {
            config.faults(1 << 30).into_iter().map(|fault| fault.key).collect()
        };
        assert_eq!(keys(in_percent("50 %", "50 %")), [""; 0]);
        assert_eq!(keys(in_percent("0 %", "100 %")), [""; 0]);
        assert_eq!(keys(in_percent("50 %", "60 %")), ["region"]);
        assert_eq!(keys(in_percent("110 %", "1 %")), ["region"]);
        assert_eq!(keys(in_percent("50 %", "0 %"))[0], "region");
    }

    #[test]
    fn only_an_open_loop_has_no_limit_of_requests() {
        let endless = WorkloadConfig {
            queue_depth: Some(QueueDepth::Unlimited),
            ..workload(RegionConfig::default())
        };
        let [fault] = &endless.faults(1 << 30)[..] else { panic!("one fault") };
        assert_eq!(fault.key, "queue_depth");
        assert!(fault.problem.contains("only an open loop"), "{}", fault.problem);
        let arrivals = crate::config::ArrivalConfig {
            process: crate::config::ArrivalProcess::Poisson,
            rate: "1 kIOPS".parse().unwrap(),
            phase: None,
        };
        let open = WorkloadConfig { arrivals: Some(arrivals), ..endless };
        assert!(open.faults(1 << 30).is_empty());
    }

    #[test]
    fn all_is_no_name_of_one_initiator() {
        let all = WorkloadConfig { name: "all".into(), ..workload(RegionConfig::default()) };
        let [fault] = &all.faults(1 << 30)[..] else { panic!("one fault") };
        assert_eq!(fault.key, "name");
    }
}

//! Namespaces: the addresses that an initiator uses. A drive has one, or one for each NVM set.

use ftl::{Layout, SetId};
use host::{Region, WorkloadConfig};

/// The namespace of an NVM set; of the whole drive without sets.
pub fn of_set(layout: &Layout, set: SetId) -> Region {
    let bytes = u64::from(layout.host_units_of_set(set)) * layout.unit_bytes;
    let offset = u64::from(layout.first_unit_of_set(set).0) * layout.unit_bytes;
    Region { offset, bytes, namespace_begin: offset }
}

/// The namespace of a drive's workload: of the first set if it names one that is not there.
pub fn of_workload(layout: &Layout, workload: &WorkloadConfig) -> Region {
    let named = workload.nvm_set.unwrap_or(1).saturating_sub(1);
    let set = if named < layout.set_count() { named } else { 0 };
    of_set(layout, SetId(set))
}

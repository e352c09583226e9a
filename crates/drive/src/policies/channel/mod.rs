//! The order in which a channel serves transfers: data that waits, and operations that are to
//! begin.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error
//! messages, the schema, the documentation and the contract tests follow from the line.

mod order;

pub use order::{Begins, Order, Orders, RANKS};

settings::family! {
    /// Order in which a channel serves the transfers that wait for it.
    ChannelOrder asks order() -> Order;
    /// Data on its way out, that of host reads first; then data on its way in and operations that
    /// begin, by age. Once the latter could have gone, only transfers that were waiting by then go
    /// before them.
    "out-first" => out_first::OutFirst,
    /// Data that waits, that of host reads first; then operations that begin.
    "data-first" => data_first::DataFirst,
    /// Operations that begin, so that units have work; then data that waits, that of host reads
    /// first.
    "commands-first" => commands_first::CommandsFirst,
    /// Collections that begin an operation, if they go before programs or have their unit reserved;
    /// then reads that begin; then data on its way out; then the rest, by age.
    "reads-first" => reads_first::ReadsFirst,
    /// First come, first served.
    "by-age" => by_age::ByAge,
}

impl Default for ChannelOrder {
    fn default() -> Self {
        Self::OutFirst(out_first::OutFirst::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contract of every policy: ranks are those that a channel has lists for, and the best
    /// rank is used.
    #[test]
    fn every_policy_keeps_its_contract() {
        for policy in ChannelOrder::all() {
            let order = policy.order();
            assert_eq!(order, policy.order());
            assert!(order.bounded, "{policy:?}: without bounds only where it is asked for");
            let begins = order.begins.map_or([order.begin; 2], |of| [of.collection, of.read]);
            let [of_collection, of_read] = begins;
            let data = [order.out_of_hosts, order.out, order.into];
            let ranks: Vec<u8> =
                data.into_iter().chain([order.begin, of_collection, of_read]).collect();
            assert!(ranks.iter().all(|rank| usize::from(*rank) < RANKS), "{policy:?}");
            assert!(ranks.contains(&0), "{policy:?}");
        }
    }

    #[test]
    fn every_name_is_a_tag_of_the_configuration() {
        let tags = ChannelOrder::all().into_iter().map(|policy| {
            let written = serde_json::to_value(policy).unwrap();
            written["policy"].as_str().unwrap().to_owned()
        });
        assert_eq!(tags.collect::<Vec<_>>(), ChannelOrder::NAMES);
    }
}

//! Flash elements that serve page requests in rounds, like the simulator of "Design Tradeoffs for
//! SSD Performance" (Agrawal et al., USENIX ATC 2008), by its rules alone and as plainly as
//! possible. Slow, and meant to be believed.
//!
//! A drive consists of elements (packages) behind one host link. Consecutive pages lie on
//! consecutive elements. Each element has a queue, and is either idle or busy: with a cleaning,
//! or with a batch of page requests. A batch is served in two phases, reads before writes; a
//! phase consists of rounds. In a round each parallel unit (some planes of the element) serves
//! one request, and the slowest of them ends the round.
//!
//! Of events at one moment, those inside the drive come before arrivals of requests; otherwise
//! both keep the order in which they were scheduled.

mod audit;
mod clean;
mod drive;
mod flash;
mod layout;
mod link;
mod round;
mod rules;
#[cfg(test)]
mod tests;

pub use rules::{Mapping, Pool, Refused, Request, Rules, Served};

/// Serves `requests`, which are in order of arrival, on a drive that is logically full. Cleaning
/// in the background continues to its end after the last request.
///
/// # Errors
/// If the rules make no drive, a request is at fault or space runs out.
pub fn serve(rules: &Rules, requests: &[Request]) -> Result<Served, Refused> {
    let mut drive = drive::Drive::new(rules)?;
    let served = drive.serve(requests, |_| ())?;
    if cfg!(debug_assertions) {
        drive.audit();
    }
    Ok(served)
}

//! Flash elements that serve page requests in rounds, as the simulator of "Design
//! Tradeoffs for SSD Performance" (Agrawal et al., USENIX ATC 2008) does, by its
//! rules alone and as plainly as can be. Slow, and meant to be believed.
//!
//! A drive is a row of elements (packages) behind one host link. Pages go round the
//! elements. Each element has a queue, and is either idle or busy: with a cleaning,
//! or with a batch of page requests. A batch is served in two phases, reads before
//! writes; a phase is a row of rounds. In a round each parallel unit (some planes of
//! the element) serves one request, and the slowest of them ends the round.
//!
//! Of events at one moment, those inside the drive come before arrivals of requests;
//! both otherwise keep the order in which they came about.

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

/// Serves `requests`, which come in order of arrival, on a drive that is logically
/// full. Cleaning in the background goes on to its end after the last request.
///
/// # Errors
/// Where the rules make no drive, a request is at fault or space runs out.
pub fn serve(rules: &Rules, requests: &[Request]) -> Result<Served, Refused> {
    let mut drive = drive::Drive::new(rules)?;
    let served = drive.serve(requests, |_| ())?;
    if cfg!(debug_assertions) {
        drive.audit();
    }
    Ok(served)
}

//! Runs an experiment with nothing around it, for profilers. On a machine with other users, the
//! fastest slices of a run are more reliable than its mean.
//!
//! ```console
//! $ cargo build --release --example profile
//! $ valgrind --tool=callgrind --toggle-collect='drive::run::Run::advance' \
//!       target/release/examples/profile experiments/bench-gc.toml run.requests=60000
//! ```

use drive::{Run, load};
use std::error::Error;
use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "it is the simulator's own time that is measured")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name an experiment file")?;
    let overrides = arguments
        .map(|given| match given.split_once('=') {
            Some((path, value)) => Ok((path.to_owned(), value.to_owned())),
            None => Err(format!("{given}: give path=value")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let text = std::fs::read_to_string(&file)?;
    let (experiment, _) =
        load::load(&text, &file, &overrides).map_err(|problems| problems.to_string())?;
    let surveys = experiment
        .workload
        .iter()
        .map(|workload| workload.survey())
        .collect::<Result<Vec<_>, _>>()?;
    let mut run = Run::new(&experiment, &surveys, &mut |_| true)?.ok_or("interrupted")?;
    let mut slices = Vec::new();
    loop {
        let (before, begun) = (run.device().counters().total(), Instant::now());
        let goes_on = run.advance(1 << 16)?;
        let operations = run.device().counters().total() - before;
        slices.push(begun.elapsed().as_nanos() as f64 / operations.max(1) as f64);
        if !goes_on {
            break;
        }
    }
    run.finish();
    slices.sort_by(f64::total_cmp);
    let part = |share: f64| slices[(slices.len() as f64 * share) as usize];
    println!(
        "{:.0} ns a flash command in the fastest tenth of slices, {:.0} in the median",
        part(0.1),
        part(0.5)
    );
    println!(
        "{} requests, {} flash commands, {} events, {:.3} s simulated, digest {:016x}",
        run.issued(),
        run.measured().counters().total(),
        run.device().events(),
        run.elapsed().as_secs_f64(),
        run.device().digest()
    );
    Ok(())
}

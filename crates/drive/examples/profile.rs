//! Runs an experiment with nothing around it, for profilers:
//!
//! ```console
//! $ cargo build --release --example profile
//! $ valgrind --tool=callgrind --toggle-collect='drive::run::Run::advance' \
//!       target/release/examples/profile experiments/bench-gc.toml run.requests=60000
//! ```

use drive::{Run, load};
use std::error::Error;

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
    while run.advance(1 << 20)? {}
    run.finish();
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

//! Runs an experiment file and prints a few figures.
use drive::{Experiment, Run, load};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let overrides: Vec<(String, String)> = args[2..]
        .iter()
        .map(|a| {
            let (k, v) = a.split_once('=').unwrap();
            (k.to_string(), v.to_string())
        })
        .collect();
    let (experiment, checked): (Experiment, _) = match load::load(&text, &args[1], &overrides) {
        Ok(x) => x,
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(2)
        }
    };
    eprintln!(
        "exported {:.2} GB, units {}, bins {}, thresholds {:?} mem {:?}",
        checked.layout.exported_bytes() as f64 / 1e9,
        checked.layout.logical_units,
        checked.layout.bins,
        checked.thresholds,
        checked.memory
    );
    let surveys: Vec<_> = experiment.workload.iter().map(|w| w.survey().unwrap()).collect();
    #[allow(clippy::disallowed_methods)]
    let clock = || std::time::Instant::now();
    let t = clock();
    let mut run = Run::new(&experiment, &surveys, &mut |_| true).unwrap().unwrap();
    let pre = t.elapsed().as_secs_f64();
    let p = run.preconditioned();
    eprintln!(
        "precondition {pre:.3}s filled {} aged {} wa {:?} tally {:?}; {:.1} M unit programs/s",
        p.filled,
        p.aged,
        p.write_amplification,
        p.tally,
        p.tally.units.iter().sum::<u64>() as f64 / pre / 1e6
    );
    let t = clock();
    while run.advance(1 << 20).unwrap() {}
    let secs = t.elapsed().as_secs_f64();
    run.finish();
    let m = run.measured();
    for i in m.initiators() {
        for (k, s) in host::Kind::ALL.iter().zip(&i.kinds) {
            if let Some(s) = s {
                println!("{} {} {}", i.name, k.name(), s.latency.to_json());
                for (st, ns) in metrics::State::ALL.iter().zip(s.blame_ns) {
                    if ns > 0 {
                        println!(
                            "    {:24} {:10.3} us/req",
                            st.name(),
                            ns as f64 / s.latency.count() as f64 / 1e3
                        );
                    }
                }
            }
        }
    }
    for (l, r) in m.slowest().iter().take(3) {
        println!("slow {l} {:?} at {:?}: {:?}", r.command, r.arrived, r.blame);
    }
    if std::env::var("SERIES").is_ok() {
        let col = |n: &str| match m.series().column(n).unwrap() {
            metrics::Values::U64(v) => v.clone(),
            _ => vec![],
        };
        let (w, h, g, e, f) = (
            col("writes"),
            col("host_units_programmed"),
            col("gc_units_programmed"),
            col("erases"),
            col("free_blocks"),
        );
        for i in 0..w.len().min(160) {
            println!("{i} writes {} host {} gc {} erases {} free {}", w[i], h[i], g[i], e[i], f[i]);
        }
    }
    let ops = m.counters().total();
    println!(
        "simulated {:?}, tally {:?} wa {:.3}",
        m.span(),
        m.tally(),
        m.tally().write_amplification()
    );
    println!(
        "cpu {secs:.3}s, {:.1} ns/request, {:.1} ns/flash op ({} ops), {:.1} ns/event, digest {:016x}",
        secs * 1e9 / run.issued() as f64,
        secs * 1e9 / ops as f64,
        ops,
        secs * 1e9 / run.device().events() as f64,
        run.device().digest()
    );
}

//! Threads that wait by polling give way before long, whatever else their loops do, under every strategy.

mod common;

use common::{exit, for_each, fresh_dir, programs, run};
use raddle_trace::file::TraceReader;

/// Most events of a run. Where a loop that waits keeps the turn until its time slice is over, each of these programs has
/// millions.
const MOST_EVENTS: usize = 400_000;

#[test]
fn loops_that_wait_and_write_give_way() {
    let mut sources = programs("spins");
    sources.retain(|it| !it.ends_with("assembly_unseen.c"));
    let dir = fresh_dir("spins");
    for_each(&sources, |source| {
        for strategy in ["rr", "random", "pct", "pos", "surw"] {
            let name = source.file_name().unwrap_or_default().to_string_lossy();
            let trace = dir.join(format!("{name}-{strategy}.trace"));
            let options = [
                "--strategy",
                strategy,
                "--runs",
                "2",
                "--verify",
                "--no-races",
                "--trace",
                trace.to_str().expect("a path in UTF-8"),
            ];
            run(source, &dir.join("out"), &options)
                .expect(exit::CLEAN)?
                .expect_line("2 runs, 0 failures, data races not looked for, 2 verified")?;
            let reader = TraceReader::open(&trace).map_err(|error| error.to_string())?;
            let events = reader.count();
            if events > MOST_EVENTS {
                return Err(format!("{strategy}: {events} events"));
            }
        }
        Ok(())
    });
}

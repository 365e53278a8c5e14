//! What Raddle costs a program: against the program as it is, and against ThreadSanitizer on the same source.
//!
//! `cargo bench -p raddle --bench overhead [-- <names> --cpu --times N]`. Each kernel of `benches/kernels`, and
//! pbzip2 if its source can be fetched (`apt-get source`), is built three times and run four ways: as it is,
//! under ThreadSanitizer, by `raddle run` without a trace, and by `raddle run --trace`. The table shows how many
//! times longer each takes than the program as it is. Every number is the least of several runs, which take turns.
//!
//! `--cpu` counts processor time of all processes in the place of time on the clock: what to look at on a
//! busy machine. A recording's two sides then add up, though they run at the same time.

mod builds;
mod measure;
mod table;

use builds::Subject;
use measure::{Clock, Times, measure};

fn main() {
    let mut clock = Clock::Wall;
    let mut times = 5;
    let mut wanted = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // Cargo's own.
            "--bench" => {}
            "--cpu" => clock = Clock::Processor,
            "--times" => {
                let number = args.next().and_then(|it| it.parse().ok());
                times = number.expect("a number behind --times");
            }
            _ => wanted.push(arg),
        }
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut rows: Vec<(String, Times)> = Vec::new();
    table::head(clock);
    for build in builds::all() {
        if !wanted.is_empty() && !wanted.contains(&build.name) {
            continue;
        }
        let subject: Subject = match build.make(dir.path()) {
            Ok(subject) => subject,
            Err(why) => {
                println!("{:<12} left out: {why}", build.name);
                continue;
            }
        };
        let row = measure(&subject, clock, times, dir.path());
        table::row(&build.name, &row);
        rows.push((build.name, row));
    }
    table::summary(&rows);
}

//! The solver against Z3 and Yices 2 on the questions of a race predictor.
//!
//! ```text
//! cargo bench -p raddle-solve --bench solvers -- [--quick] [--ours] [--sizes 1000,5000]
//! ```
//!
//! `--quick`: at most 1,000 events, few cases. `--ours`: without the other solvers. They are fetched
//! from PyPI into the target folder if they are not there. Everybody gets the same problems, with what
//! must happen before what already decided, and 60 seconds for each (10 if it has to be quick). Times of this solver include
//! building it; those of the others are given for the whole process and as they report them.

#[path = "../../tests/support/mod.rs"]
mod support;

mod cases;
mod incremental;
mod peers;
mod rows;

use std::process::ExitCode;
use std::time::Duration;

use cases::{Case, Group, Kind};
use peers::Peer;
use rows::{Row, Summary};

/// What the command line asks for.
struct Options {
    sizes: Vec<usize>,
    /// Cases in each row, and threads of the rows.
    seeds: u64,
    threads: Vec<usize>,
    limit: Duration,
    ours_only: bool,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            sizes: vec![200, 1_000, 5_000, 20_000, 100_000],
            seeds: 4,
            threads: vec![2, 4, 8, 16],
            limit: Duration::from_secs(60),
            ours_only: false,
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => {
                    options.sizes.retain(|&size| size <= 1_000);
                    options.seeds = 2;
                    options.limit = Duration::from_secs(10);
                    options.threads = vec![4];
                }
                "--ours" => options.ours_only = true,
                "--sizes" => {
                    let list = arguments
                        .next()
                        .ok_or("--sizes needs a list like 1000,5000")?;
                    let sizes: Result<_, _> = list.split(',').map(str::parse).collect();
                    options.sizes = sizes.map_err(|_| format!("{list:?} is no list of sizes"))?;
                }
                // Cargo adds this one.
                "--bench" => {}
                other => return Err(format!("unknown option {other:?}")),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(what) => {
            eprintln!("{what}; there are --quick, --ours and --sizes");
            return ExitCode::FAILURE;
        }
    };
    let mut peers = Vec::new();
    if !options.ours_only {
        match peers::find() {
            Ok(found) => peers = found,
            Err(what) => {
                eprintln!("{what}\nUse --ours to measure without the other solvers.");
                return ExitCode::FAILURE;
            }
        }
    }
    if measure(&options, &mut peers) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether all verdicts agreed.
fn measure(options: &Options, peers: &mut [Peer]) -> bool {
    let mut summary = Summary::default();
    let limit = options.limit;
    rows::heading("order only", peers);
    for &size in &options.sizes {
        for &threads in &options.threads {
            let group = Group {
                size,
                threads,
                values: false,
                limit,
            };
            measure_group(group, options.seeds, peers, &mut summary);
        }
    }
    peers.iter_mut().for_each(Peer::begin_again);
    rows::heading("order and 32-bit values", peers);
    for &size in options.sizes.iter().filter(|&&size| size <= 1_000) {
        let group = Group {
            size,
            threads: 4,
            values: true,
            limit,
        };
        measure_group(group, options.seeds, peers, &mut summary);
    }
    incremental::measure(&options.sizes);
    summary.print();
    summary.agreed()
}

/// A row for each kind of answer.
fn measure_group(group: Group, seeds: u64, peers: &mut [Peer], summary: &mut Summary) {
    let cases = cases::of(group, seeds);
    for kind in [Kind::Satisfiable, Kind::Unsatisfiable, Kind::Undecided] {
        let of_kind: Vec<&Case> = cases.iter().filter(|case| case.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        peers.iter_mut().for_each(Peer::next_row);
        let mut row = Row::new(group, kind, peers.len());
        for case in of_kind {
            row.ours.push(case.seconds);
            let text = peers
                .iter()
                .any(|peer| peer.takes(case))
                .then(|| case.smtlib());
            for (index, peer) in peers.iter_mut().enumerate() {
                let Some(text) = text.as_ref().filter(|_| peer.takes(case)) else {
                    continue;
                };
                let run = peer.run(case, text);
                if run.verdict.is_some_and(|verdict| !kind.agrees(verdict)) {
                    println!("{} disagrees: {}", peer.name, case.name);
                    summary.disagreed += 1;
                }
                row.peers[index].push(run);
            }
        }
        row.print();
        summary.add(row);
    }
}

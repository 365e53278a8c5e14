//! The table and what it comes to.

use crate::cases::{Group, Kind};
use crate::peers::{Peer, Run};

/// Questions of one sort.
pub struct Row {
    group: Group,
    kind: Kind,
    pub ours: Vec<f64>,
    /// Of each peer; it may have got fewer questions.
    pub peers: Vec<Vec<Run>>,
}

/// All rows.
#[derive(Default)]
pub struct Summary {
    rows: Vec<Row>,
    pub disagreed: usize,
}

/// What stands above the columns.
pub fn heading(what: &str, peers: &[Peer]) {
    println!("\n{what}: median seconds (process, as reported), times slower than ours, timeouts\n");
    print!(
        "{:>7} {:>7} {:>5} {:>5} {:>10} {:>10}",
        "events", "threads", "kind", "cases", "ours", "slowest"
    );
    for peer in peers {
        print!(" | {:^34}", peer.name);
    }
    println!();
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Row {
    pub fn new(group: Group, kind: Kind, peers: usize) -> Self {
        Self {
            group,
            kind,
            ours: Vec::new(),
            peers: vec![Vec::new(); peers],
        }
    }

    /// How many times slower than ours a peer was, in each question that it got.
    fn ratios(&self, peer: usize) -> impl Iterator<Item = f64> {
        self.peers[peer]
            .iter()
            .zip(&self.ours)
            .map(|(run, ours)| run.seconds / ours)
    }

    pub fn print(&self) {
        let ours = median(self.ours.clone()).unwrap_or(0.0);
        let slowest = self.ours.iter().copied().fold(0.0, f64::max);
        print!(
            "{:>7} {:>7} {:>5} {:>5} {ours:>10.6} {slowest:>10.6}",
            self.group.size,
            self.group.threads,
            self.kind.name(),
            self.ours.len()
        );
        for (index, runs) in self.peers.iter().enumerate() {
            let seconds = median(runs.iter().map(|run| run.seconds).collect());
            let reported = median(runs.iter().filter_map(|run| run.reported).collect());
            let timeouts = runs.iter().filter(|run| run.verdict.is_none()).count();
            let reported = reported.map_or("-".into(), |r| format!("{r:.2}"));
            let ratio = median(self.ratios(index).collect()).unwrap_or(0.0);
            match seconds {
                None => print!(" | {:>34}", "not asked"),
                Some(s) if s >= self.group.limit.as_secs_f64() => {
                    print!(
                        " | {:>16} {:>9} {timeouts:>3}/{:<3}",
                        format!("> {s:.0}"),
                        format!("> {ratio:.0}x"),
                        runs.len()
                    );
                }
                Some(s) => {
                    let both = format!("{s:.3} ({reported})");
                    print!(
                        " | {both:>16} {:>9} {timeouts:>3}/{:<3}",
                        format!("{ratio:.0}x"),
                        runs.len()
                    );
                }
            }
        }
        println!();
    }
}

impl Summary {
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn agreed(&self) -> bool {
        self.disagreed == 0
    }

    /// The medians of each size, over all its questions without values.
    pub fn print(&self) {
        println!();
        let mut sizes: Vec<usize> = self.rows.iter().map(|row| row.group.size).collect();
        sizes.dedup();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            let rows = || {
                self.rows
                    .iter()
                    .filter(move |row| row.group.size == size && !row.group.values)
            };
            let seconds = median(rows().flat_map(|row| row.ours.iter().copied()).collect());
            print!("at {size} events: {:.6} s", seconds.unwrap_or(0.0));
            for (peer, name) in [(1, "tuned Z3"), (2, "Yices")] {
                let ratios = rows().filter(|row| row.peers.len() > peer);
                if let Some(times) = median(ratios.flat_map(|row| row.ratios(peer)).collect()) {
                    print!(", {times:.0} times faster than {name}");
                }
            }
            println!(" (medians)");
        }
        match self.disagreed {
            0 => println!("all verdicts agree"),
            count => println!("{count} verdicts DISAGREE"),
        }
    }
}

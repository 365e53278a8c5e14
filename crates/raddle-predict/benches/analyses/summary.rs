//! What comes out of it all.

use crate::measure::{Analysis, Cost};

/// Lengths that are compared.
const DECADES: [usize; 3] = [100_000, 1_000_000, 10_000_000];
/// The trace that patterns are searched in: about a hundred shared locations.
const PATTERN_TRACE: (&str, usize) = ("hundred cells", 450_000);

/// Prints the cost against the length, then the targets.
pub fn print(costs: &[Cost]) {
    println!("\nCost of an event, in nanoseconds, by the length of the trace\n");
    println!("  analysis         trace                       10^5     10^6     10^7   10^7/10^5");
    for analysis in [Analysis::View, Analysis::Races]
        .into_iter()
        .chain(Analysis::ON_VIEW)
    {
        let own = costs.iter().filter(|cost| cost.analysis == analysis);
        let own: Vec<&Cost> = own.collect();
        for of_shape in own.chunk_by(|a, b| a.shape == b.shape) {
            let at = |events| of_shape.iter().find(|cost| cost.events == events);
            print!("  {:<16} {:<22}", analysis.name(), of_shape[0].shape);
            for cost in DECADES.map(at) {
                print!(
                    " {}",
                    cost.map_or(dash(8), |cost| format!("{:>8.1}", cost.of_event()))
                );
            }
            let growth = at(DECADES[2]).zip(at(DECADES[0]));
            let growth = growth.map(|(long, short)| long.of_event() / short.of_event());
            println!(
                "   {}",
                growth.map_or(dash(9), |growth| format!("{growth:>9.2}"))
            );
        }
    }
    println!("\nTargets, in millions of events a second: the slowest figure of all traces\n");
    println!("  analysis           target  slowest  with view  which");
    for (analysis, target) in [
        (Analysis::HappensBefore, 10),
        (Analysis::Hybrid, 10),
        (Analysis::SyncPreserving, 2),
    ] {
        let own = costs.iter().filter(|cost| cost.analysis == analysis);
        if let Some(slowest) = own.min_by(|a, b| a.rate().total_cmp(&b.rate())) {
            println!(
                "  {:<16} {target:>8} {:>8.1} {:>10.1}  {}, {} events",
                analysis.name(),
                slowest.rate(),
                slowest.rate_with_view(),
                slowest.shape,
                slowest.events
            );
        }
    }
    let patterns = costs.iter().find(|cost| {
        cost.analysis == Analysis::Patterns && (cost.shape, cost.events) == PATTERN_TRACE
    });
    if let Some(cost) = patterns {
        println!(
            "  patterns in {} events, {}: {:.3} s, target 1 s",
            cost.events,
            cost.shape,
            cost.seconds()
        );
    }
    if let Some(peak) = peak_memory() {
        println!("\nMost memory used: {peak}");
    }
}

fn dash(width: usize) -> String {
    format!("{:>width$}", "-")
}

/// As the kernel tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(format!("{} MiB", kilobytes / 1024))
}

//! Prints what was measured.

use crate::measure::{Clock, Times};

/// The head of the table.
pub fn head(clock: Clock) {
    let what = match clock {
        Clock::Wall => "time on the clock",
        Clock::Processor => "processor time",
    };
    println!(
        "times longer than the program as it is, by {what}; in brackets as a share of ThreadSanitizer's"
    );
    println!(
        "{:<12} {:>10} {:>8} {:>16} {:>16} {:>12} {:>10}",
        "", "as it is", "TSan", "run", "recorded", "events", "bytes/ev."
    );
}

/// One program's row.
pub fn row(name: &str, times: &Times) {
    let tsan = times.tsan_ratio();
    let share = |ratio: f64| format!("{ratio:.1} ({:.2})", ratio / tsan);
    println!(
        "{name:<12} {:>7.1} ms {tsan:>8.1} {:>16} {:>16} {:>12} {:>10.2}",
        times.native * 1e3,
        share(times.run_ratio()),
        share(times.record_ratio()),
        times.events,
        times.bytes_an_event(),
    );
}

/// Medians and worst of all rows.
pub fn summary(rows: &[(String, Times)]) {
    if rows.is_empty() {
        return;
    }
    let column = |of: &dyn Fn(&Times) -> f64| {
        let mut numbers: Vec<f64> = rows.iter().map(|(_, times)| of(times)).collect();
        numbers.sort_by(f64::total_cmp);
        (numbers[numbers.len() / 2], numbers[numbers.len() - 1])
    };
    let run = column(&|it| it.run_ratio() / it.tsan_ratio());
    let recorded = column(&|it| it.record_ratio() / it.tsan_ratio());
    let bytes = column(&Times::bytes_an_event);
    println!();
    let lines = [
        (
            "run, as a share of TSan's slowdown",
            run,
            "0.5 in the median",
        ),
        (
            "recorded, as a share of TSan's slowdown",
            recorded,
            "1 in the median, 2 at worst",
        ),
        ("bytes of trace an event", bytes, "6 in the median"),
    ];
    for (what, (median, worst), aim) in lines {
        println!("{what:<42} median {median:>6.2}   worst {worst:>6.2}   (aim: {aim})");
    }
}

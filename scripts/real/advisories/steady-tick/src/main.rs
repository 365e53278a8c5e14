//! A spinner ticks by itself while a bar is inserted after it and moved to its end.

use indicatif::{MultiProgress, ProgressBar};
use std::time::Duration;

fn main() {
    let all = MultiProgress::new();
    let spinner = all.add(ProgressBar::new_spinner());
    spinner.enable_steady_tick(Duration::from_millis(50));
    let bar = all.insert_after(&spinner, ProgressBar::new(3));
    for _ in 0..3 {
        bar.inc(1);
    }
    bar.finish();
    spinner.finish();
}

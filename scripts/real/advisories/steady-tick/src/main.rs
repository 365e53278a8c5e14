//! A spinner ticks by itself while the parts of a job come and go below it, each with a bar of its own.

use indicatif::{MultiProgress, ProgressBar};
use std::thread;
use std::time::Duration;

fn main() {
    let all = MultiProgress::new();
    let spinner = all.add(ProgressBar::new_spinner());
    spinner.enable_steady_tick(Duration::from_millis(120));
    for _part in 0..3 {
        let bar = all.insert_after(&spinner, ProgressBar::new(2));
        for _ in 0..2 {
            thread::sleep(Duration::from_millis(40));
            bar.inc(1);
        }
        bar.finish();
    }
    spinner.finish();
}

//! Events a second of each analysis, on generated traces of growing length: `cargo bench -p
//! raddle-predict`. An argument limits the length.

mod generator;

use std::hint::black_box;
use std::time::Instant;

use raddle_predict::clocks::Clocks;
use raddle_predict::hb;
use raddle_predict::hybrid::{self, Limits};
use raddle_predict::patterns::{self, Units, builtin};
use raddle_predict::sync_preserving::SyncPreserving;
use raddle_predict::view::{BadTrace, Survey, View};

use generator::{Generator, Shape};

const SHAPES: [(&str, Shape); 4] = [
    (
        "mostly private",
        Shape {
            threads: 8,
            locks: 64,
            cells: 256,
            private_percent: 80,
            bare_percent: 1,
        },
    ),
    (
        "mostly shared, 100 cells",
        Shape {
            threads: 8,
            locks: 16,
            cells: 100,
            private_percent: 0,
            bare_percent: 5,
        },
    ),
    (
        "many locks and cells",
        Shape {
            threads: 8,
            locks: 10_000,
            cells: 100_000,
            private_percent: 20,
            bare_percent: 2,
        },
    ),
    (
        "32 threads",
        Shape {
            threads: 32,
            locks: 64,
            cells: 256,
            private_percent: 20,
            bare_percent: 2,
        },
    ),
];

fn main() -> Result<(), BadTrace> {
    let limit = std::env::args().find_map(|argument| argument.parse().ok());
    let limit = limit.unwrap_or(10_000_000);
    for (name, shape) in SHAPES {
        println!("{name}");
        for length in [100_000, 450_000, 1_000_000, 10_000_000] {
            if length <= limit {
                measure(shape, length)?;
            }
        }
    }
    Ok(())
}

fn measure(shape: Shape, length: u64) -> Result<(), BadTrace> {
    let start = Instant::now();
    let events = || Generator::new(shape).take(length as usize);
    black_box(events().count());
    let generating = start.elapsed().as_secs_f64();

    let timed = |work: &mut dyn FnMut() -> Result<usize, BadTrace>| {
        let start = Instant::now();
        let found = work()?;
        Ok::<_, BadTrace>((start.elapsed().as_secs_f64(), found))
    };
    let mut view: Option<View> = None;
    let (viewing, _) = timed(&mut || {
        let mut survey = Survey::default();
        events().try_for_each(|event| survey.observe(&event))?;
        let mut recorder = survey.finish();
        events().try_for_each(|event| recorder.observe(&event))?;
        view = Some(recorder.finish());
        Ok(0)
    })?;
    let Some(view) = view else {
        return Ok(());
    };
    let viewing = viewing - 2.0 * generating;
    println!(
        "  {length:>9} events, {:>9} kept, {} cells",
        view.len(),
        view.cells().len()
    );
    let report = |what: &str, seconds: f64, found: &str| {
        println!(
            "    {what:<16} {seconds:>8.3} s {:>7.1} M events/s, {:>7.1} M kept/s {found}",
            length as f64 / seconds / 1e6,
            view.len() as f64 / seconds / 1e6,
        );
    };
    report("view", viewing, "");
    let (seconds, found) = timed(&mut || Ok(hb::races(&view).len()))?;
    report("happens-before", seconds, &format!("{found} races"));
    let (seconds, found) = timed(&mut || {
        let order = Clocks::must_order(&view, |_| true);
        let candidates = hybrid::candidates(&view, &order, Limits::default());
        Ok(candidates.pairs.len())
    })?;
    report("hybrid", seconds, &format!("{found} candidates"));
    let mut is_cut = false;
    let (seconds, found) = timed(&mut || {
        let order = Clocks::must_order(&view, |_| true);
        let units = Units::new(&view);
        let all = builtin::unserialisable();
        let found = patterns::search(&view, &order, &all, &units, patterns::Limits::default());
        is_cut = !found.cut.is_empty();
        Ok(found.matches.len())
    })?;
    let cut = if is_cut { ", cut short" } else { "" };
    report("patterns", seconds, &format!("{found} matches{cut}"));
    let (seconds, found) = timed(&mut || Ok(SyncPreserving::new(&view).races().races.len()))?;
    report("sync-preserving", seconds, &format!("{found} races"));
    Ok(())
}

//! Many questions about one window, through assumptions, to one solver.

use std::time::{Duration, Instant};

use raddle_solve::{Answer, Budget};

use crate::support::rng::Rng;
use crate::support::run::Session;
use crate::support::trace::{Shape, Trace};
use crate::support::window::{Reads, Style, Window};

/// Questions to each window.
const QUESTIONS: usize = 1_000;
/// The time for one question.
const LIMIT: Duration = Duration::from_secs(5);

/// Measures windows of 5,000 and 20,000 events, as far as these sizes are asked for.
pub fn measure(sizes: &[usize]) {
    let sizes: Vec<usize> = [5_000, 20_000]
        .into_iter()
        .filter(|size| sizes.contains(size))
        .collect();
    if sizes.is_empty() {
        return;
    }
    println!("\none solver, {QUESTIONS} questions about one window (8 threads, all reads)\n");
    println!(
        "{:>7} {:>9} {:>9} {:>6} {:>6} {:>8} {:>12} {:>11}",
        "events", "style", "seconds", "sat", "unsat", "unknown", "questions/s", "slowest, s"
    );
    for size in sizes {
        for style in [Style::Cut, Style::Adjacent] {
            window(size, style);
        }
    }
}

fn window(size: usize, style: Style) {
    let trace = Trace::simulate(Shape::new(size, 8), 1);
    let window = Window::new(&trace, style, Reads::SameValue { percent: 100 }, 1);
    let pairs = trace.candidates(&mut Rng::new(1), QUESTIONS);
    let begun = Instant::now();
    let mut session = Session::of(&window.instance.steps);
    let (mut satisfiable, mut unsatisfiable, mut unknown) = (0, 0, 0);
    let mut slowest = Duration::ZERO;
    for &pair in &pairs {
        let asked = Instant::now();
        let question = window.question(pair);
        let assumptions: Vec<_> = question
            .iter()
            .map(|formula| session.lit(formula))
            .collect();
        match session
            .solver
            .solve(&assumptions, Budget::unlimited().time(LIMIT))
        {
            Answer::Satisfiable(_) => satisfiable += 1,
            Answer::Unsatisfiable(_) => unsatisfiable += 1,
            Answer::Unknown(_) => unknown += 1,
        }
        slowest = slowest.max(asked.elapsed());
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{size:>7} {:>9} {seconds:>9.3} {satisfiable:>6} {unsatisfiable:>6} {unknown:>8} {:>12.0} {:>11.3}",
        format!("{style:?}"),
        pairs.len() as f64 / seconds,
        slowest.as_secs_f64()
    );
}

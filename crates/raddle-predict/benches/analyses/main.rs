//! How fast the analyses are, on made-up traces of growing length.
//!
//! ```text
//! cargo bench -p raddle-predict --bench analyses -- [--quick] [--most EVENTS] [--shape WORD] [--best-of N]
//! ```
//!
//! - `--quick`: traces of up to a million events, each measured twice;
//! - `--most EVENTS`: no longer traces than that (10,000,000);
//! - `--shape WORD`: only the kinds of traces that have the word in their names;
//! - `--best-of N`: how often everything is measured, of which the fastest counts (5 times, traces of ten
//!   million events 3 times).
//!
//! A trace is made once and lies in memory. What is counted are *all* its events: those that the view
//! drops as well, since the two passes that make the view look at each of them. A row says what an
//! analysis costs by itself, on a view that is there already, and what it costs together with making the
//! view. Whatever else an analysis needs (clocks, units, its own tables) is made anew each time and is in
//! its time. Time is that of the processor for this thread: everything here is sequential, and other work
//! on the machine shall not count.
//!
//! At the end: the cost of an event against the length of the trace, and the targets with the slowest
//! figure for each.

mod generator;
mod measure;
mod options;
mod summary;

use generator::{Generator, Shape};
use measure::{Cost, measure};
use options::Options;
use raddle_predict::view::BadTrace;
use raddle_trace::event::Event;

const LENGTHS: [usize; 4] = [100_000, 450_000, 1_000_000, 10_000_000];

fn main() -> Result<(), BadTrace> {
    let options = match Options::from_arguments(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    };
    let mut costs: Vec<Cost> = Vec::new();
    for shape in Shape::all().filter(|shape| shape.name.contains(&options.shape)) {
        println!("\n{shape}\n");
        println!("    events       kept  analysis         ns/event  M events/s  with view  found");
        for length in LENGTHS.into_iter().filter(|length| *length <= options.most) {
            let events: Vec<Event> = Generator::new(shape).take(length).collect();
            for cost in measure(shape.name, &events, options.repetitions(length))? {
                println!("{cost}");
                costs.push(cost);
            }
        }
    }
    summary::print(&costs);
    Ok(())
}

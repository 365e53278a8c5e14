//! The problem that a race predictor poses: which orders of a trace's events are runs of the program?

use super::instance::{
    Bits, Formula, Hold, Instance, Operation, Read, Relation, Source, Step, When, Write,
};
use super::rng::Rng;
use super::trace::{Action, Computed, Trace, VALUES};

/// How the question is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The two events are neighbours in a run of all events.
    Adjacent,
    /// An event cuts the run; both events are next after the cut, and what follows it need not be a run.
    Cut,
}

/// What is said of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// So many of a hundred must read the value that they read in the trace.
    SameValue { percent: usize },
    /// They may read any value, as long as the branches go the same way.
    SameBranches,
}

/// A window without its questions.
#[derive(Clone, Debug)]
pub struct Window {
    pub instance: Instance,
    style: Style,
    cut: usize,
    /// The event before each event, in its thread, or else the one that started the thread.
    previous: Vec<Option<usize>>,
}

/// Bits of a value in windows of the second kind.
const WIDTH: u32 = 32;

impl Window {
    /// The window of a whole trace. Its events have the numbers they have in the trace.
    pub fn new(trace: &Trace, style: Style, reads: Reads, seed: u64) -> Self {
        let mut maker = Maker {
            trace,
            steps: Vec::new(),
            when: match style {
                Style::Adjacent => When::Always,
                Style::Cut => When::Before(trace.events.len()),
            },
            writes: vec![Vec::new(); trace.variables],
            write_count: 0,
        };
        let previous = maker.order();
        if style == Style::Cut {
            maker.steps.push(Step::Event(None));
        }
        maker.locks();
        match reads {
            Reads::SameValue { percent } => maker.same_values(percent, &mut Rng::new(seed)),
            Reads::SameBranches => maker.same_branches(),
        }
        let instance = Instance { steps: maker.steps };
        Self {
            instance,
            style,
            cut: trace.events.len(),
            previous,
        }
    }

    /// What to assume to ask whether two events can be next to each other.
    pub fn question(&self, (a, b): (usize, usize)) -> Vec<Formula> {
        match self.style {
            Style::Adjacent => vec![Formula::Adjacent(a, b)],
            Style::Cut => {
                let previous = [a, b].into_iter().filter_map(|e| self.previous[e]);
                let reached = previous.map(|e| Formula::Before(e, self.cut));
                let next = [a, b].map(|e| Formula::Before(self.cut, e));
                reached.chain(next).collect()
            }
        }
    }

    /// The window with one question.
    pub fn asking(&self, pair: (usize, usize)) -> Instance {
        let mut instance = self.instance.clone();
        instance.steps.push(Step::Solve(self.question(pair)));
        instance
    }
}

struct Maker<'a> {
    trace: &'a Trace,
    steps: Vec<Step>,
    when: When,
    /// The writes of each variable, with the values they wrote.
    writes: Vec<Vec<(usize, u64)>>,
    write_count: usize,
}

impl Maker<'_> {
    /// Threads, and the order that starting and waiting for them gives.
    fn order(&mut self) -> Vec<Option<usize>> {
        self.steps.extend(vec![Step::Chain; self.trace.threads]);
        let mut last = vec![None; self.trace.threads];
        let mut previous = Vec::new();
        let mut edges = Vec::new();
        for (index, event) in self.trace.events.iter().enumerate() {
            self.steps.push(Step::Event(Some(event.thread)));
            let before: Option<usize> = last[event.thread].replace(index);
            previous.push(before);
            match event.action {
                Action::Fork(started) => last[started] = Some(index),
                Action::Join(ended) => edges.extend(last[ended].map(|end| (end, index))),
                _ => {}
            }
            // The first event of a thread follows the event that started it.
            if let Some(before) = before
                && self.trace.events[before].thread != event.thread
            {
                edges.push((before, index));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        self.steps
            .extend(edges.into_iter().map(|(a, b)| Step::Order(a, b)));
        previous
    }

    fn locks(&mut self) {
        self.steps.extend(vec![Step::Resource; self.trace.locks]);
        let mut from = vec![0; self.trace.locks];
        for (index, event) in self.trace.events.iter().enumerate() {
            match event.action {
                Action::Acquire(lock) => from[lock] = index,
                Action::Release(lock) => self.steps.push(Step::Hold(Hold {
                    resource: lock,
                    from: from[lock],
                    to: Some(index),
                    exclusive: true,
                    when: self.when.clone(),
                })),
                _ => {}
            }
        }
    }

    fn write(&mut self, variable: usize, event: usize, value: u64, bits: Option<Bits>) {
        self.steps.push(Step::Write(Write {
            location: variable,
            event,
            value: bits,
        }));
        self.writes[variable].push((self.write_count, value));
        self.write_count += 1;
    }

    fn read(&mut self, event: usize, sources: usize, width: Option<u32>) {
        let Action::Read {
            variable: location,
            value: hint,
        } = self.trace.events[event].action
        else {
            unreachable!("event {event} is a read");
        };
        let when = self.when.clone();
        self.steps.push(Step::Read(Read {
            location,
            event,
            sources,
            when,
            width,
            hint,
        }));
    }

    fn same_values(&mut self, percent: usize, rng: &mut Rng) {
        self.steps
            .extend(vec![Step::Location(None); self.trace.variables]);
        for (index, event) in self.trace.events.iter().enumerate() {
            if let Action::Write {
                variable, value, ..
            } = event.action
            {
                self.write(variable, index, value, None);
            }
        }
        for variable in 0..self.trace.variables {
            for value in 0..VALUES {
                let initial = (value == 0).then_some(Source::Initial);
                let writes = self.writes[variable]
                    .iter()
                    .filter(|(_, written)| *written == value);
                let from = initial
                    .into_iter()
                    .chain(writes.map(|(write, _)| Source::Write(*write)));
                self.steps.push(Step::Sources {
                    location: variable,
                    from: from.collect(),
                });
            }
        }
        for (index, event) in self.trace.events.iter().enumerate() {
            if let Action::Read { variable, value } = event.action
                && rng.percent(percent)
            {
                self.read(index, variable * VALUES as usize + value as usize, None);
            }
        }
    }

    fn same_branches(&mut self) {
        let constant = |value| Bits::Constant {
            width: WIDTH,
            value,
        };
        let zero = Step::Location(Some(constant(0)));
        self.steps.extend(vec![zero; self.trace.variables]);
        // A value that is computed from a read is a name first: the read may yet depend on it.
        let mut unknowns = 0;
        for (index, event) in self.trace.events.iter().enumerate() {
            if let Action::Write {
                variable,
                value,
                computed,
            } = event.action
            {
                let bits = if computed == Computed::Constant {
                    constant(value)
                } else {
                    self.steps.push(Step::Unknown {
                        width: WIDTH,
                        hint: value,
                    });
                    unknowns += 1;
                    Bits::Unknown(unknowns - 1)
                };
                self.write(variable, index, value, Some(bits));
            }
        }
        for variable in 0..self.trace.variables {
            let writes = self.writes[variable]
                .iter()
                .map(|(write, _)| Source::Write(*write));
            let from = std::iter::once(Source::Initial).chain(writes).collect();
            self.steps.push(Step::Sources {
                location: variable,
                from,
            });
        }
        self.computations(constant);
    }

    /// What threads do with the values they read.
    fn computations(&mut self, constant: impl Fn(u64) -> Bits) {
        let mut last = vec![None; self.trace.threads];
        let (mut reads, mut unknowns) = (0, 0);
        for (index, event) in self.trace.events.iter().enumerate() {
            let last_read = last[event.thread].map(Bits::Read);
            match event.action {
                Action::Read { variable, .. } => {
                    self.read(index, variable, Some(WIDTH));
                    last[event.thread] = Some(reads);
                    reads += 1;
                }
                Action::Write {
                    computed: Computed::LastReadPlus(more),
                    ..
                } => {
                    let last_read = last_read.expect("it is computed from a read");
                    let sum = Bits::Binary(Operation::Add, Box::new([last_read, constant(more)]));
                    let reduced = Box::new([sum, constant(VALUES - 1)]);
                    let value = Bits::Binary(Operation::And, reduced);
                    let equal = Box::new([Bits::Unknown(unknowns), value]);
                    unknowns += 1;
                    self.steps.push(Step::Require(vec![Formula::Compare(
                        Relation::Equal,
                        equal,
                    )]));
                }
                Action::Branch { limit, taken } => {
                    let last_read = last_read.expect("a branch follows a read");
                    let sides = Box::new([last_read, constant(limit)]);
                    let less = Formula::Compare(Relation::UnsignedLess, sides);
                    let mut clause = vec![if taken { less } else { less.negated() }];
                    if let When::Before(cut) = self.when {
                        clause.push(Formula::Before(cut, index));
                    }
                    self.steps.push(Step::Require(clause));
                }
                _ => {}
            }
        }
    }
}

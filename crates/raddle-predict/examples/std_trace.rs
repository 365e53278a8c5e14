//! Writes STD traces of any length to standard output, the same for the same arguments.
//!
//! ```text
//! cargo run --release -p raddle-predict --example std_trace -- [--events N] [--threads N] [--locks N]
//!     [--variables N] [--races PERCENT] [--seed N] [--many]
//! ```
//!
//! The first thread creates the others. Each thread takes one lock at a time (now and then a second one inside, in
//! ascending order) and accesses variables that the lock guards; some accesses are to the thread's own variables. With
//! `--races` this share of the accesses is without a lock. A location stands for a lock, a variable and the kind of
//! access modulo a constant, as the lines of a program do. `--many` makes each thread end after four events of its own:
//! a trace of many short threads.

use std::io::{self, BufWriter, Write};

/// Different locations of accesses for each kind of access.
const LOCATIONS: u64 = 64;
/// Variables of its own that a thread has.
const OWN_VARIABLES: u64 = 16;
/// Accesses in a hundred that go to them.
const OWN_PERCENT: u64 = 20;

struct Options {
    events: u64,
    threads: u64,
    locks: u64,
    variables: u64,
    races: u64,
    seed: u64,
    many: bool,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            events: 100_000,
            threads: 8,
            locks: 16,
            variables: 256,
            races: 0,
            seed: 1,
            many: false,
        };
        while let Some(name) = arguments.next() {
            let field = match name.as_str() {
                "--many" => {
                    options.many = true;
                    continue;
                }
                "--events" => &mut options.events,
                "--threads" => &mut options.threads,
                "--locks" => &mut options.locks,
                "--variables" => &mut options.variables,
                "--races" => &mut options.races,
                "--seed" => &mut options.seed,
                _ => return Err(format!("{name} is not an option")),
            };
            let value = arguments.next().and_then(|it| it.parse().ok());
            *field = value.ok_or_else(|| format!("{name} needs a number"))?;
        }
        if options.threads < 2 || options.locks < 2 || options.variables < options.locks {
            return Err("at least two threads, two locks, a variable for each lock".to_owned());
        }
        Ok(options)
    }
}

/// What a thread is doing: the locks that it holds, and the accesses left under them.
#[derive(Clone, Default)]
struct Section {
    held: Vec<u64>,
    left: u64,
}

struct Generator<W> {
    options: Options,
    state: u64,
    sections: Vec<Section>,
    is_held: Vec<bool>,
    written: u64,
    out: W,
}

impl<W: Write> Generator<W> {
    fn new(options: Options, out: W) -> Self {
        Self {
            state: options.seed,
            sections: vec![Section::default(); options.threads as usize],
            is_held: vec![false; options.locks as usize],
            written: 0,
            options,
            out,
        }
    }

    /// A linear congruential generator (Knuth's MMIX).
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }

    fn line(&mut self, thread: u64, what: &str, operand: &str, location: u64) -> io::Result<()> {
        self.written += 1;
        writeln!(self.out, "T{thread}|{what}({operand})|{location}")
    }

    /// An access to a variable that is shared or the thread's own.
    fn access(&mut self, thread: u64, variable: u64, location: u64) -> io::Result<()> {
        let writes = self.below(3) == 0;
        let location = 4 * (location % LOCATIONS) + u64::from(writes);
        let what = if writes { "w" } else { "r" };
        if self.below(100) < OWN_PERCENT {
            let own = self.below(OWN_VARIABLES);
            return self.line(thread, what, &format!("P{thread}.{own}"), location + 2);
        }
        self.line(thread, what, &format!("V{variable}"), location)
    }

    /// A variable that a lock guards.
    fn guarded(&mut self, lock: u64) -> u64 {
        let (locks, variables) = (self.options.locks, self.options.variables);
        lock + locks * self.below(variables / locks)
    }

    fn acquire(&mut self, thread: u64, lock: u64) -> io::Result<()> {
        self.is_held[lock as usize] = true;
        let left = 1 + self.below(6);
        let section = &mut self.sections[thread as usize];
        section.held.push(lock);
        section.left = left;
        self.line(thread, "acq", &format!("L{lock}"), 4 * lock + 1000)
    }

    fn release(&mut self, thread: u64) -> io::Result<()> {
        let section = &mut self.sections[thread as usize];
        section.left = 0;
        let Some(lock) = section.held.pop() else {
            return Ok(());
        };
        self.is_held[lock as usize] = false;
        self.line(thread, "rel", &format!("L{lock}"), 4 * lock + 1001)
    }

    fn step(&mut self, thread: u64) -> io::Result<()> {
        let section = &self.sections[thread as usize];
        let inside = section.held.last().copied();
        match inside {
            Some(_) if section.left == 0 => self.release(thread),
            Some(lock) => {
                self.sections[thread as usize].left -= 1;
                let inner = lock + 1;
                let is_free = self.is_held.get(inner as usize) == Some(&false);
                if is_free && self.below(20) == 0 {
                    return self.acquire(thread, inner);
                }
                let variable = self.guarded(lock);
                self.access(thread, variable, variable)
            }
            None if self.below(100) < self.options.races => {
                let variable = self.below(self.options.variables);
                self.access(thread, variable, variable + 7)
            }
            None => {
                let lock = self.below(self.options.locks);
                match self.is_held[lock as usize] {
                    true => Ok(()),
                    false => self.acquire(thread, lock),
                }
            }
        }
    }

    /// Threads that run at the same time to the end of the trace.
    fn long(&mut self) -> io::Result<()> {
        let threads = self.options.threads;
        for child in 1..threads {
            self.line(0, "fork", &format!("T{child}"), 2000)?;
        }
        let mut thread = 0;
        while self.written < self.options.events {
            if self.below(8) == 0 {
                thread = self.below(threads);
            }
            self.step(thread)?;
        }
        for thread in 0..threads {
            while !self.sections[thread as usize].held.is_empty() {
                self.release(thread)?;
            }
        }
        Ok(())
    }

    /// Threads of four events each: a critical section, or with races a share of bare accesses.
    fn many(&mut self) -> io::Result<()> {
        for child in 1..self.options.threads {
            self.line(0, "fork", &format!("T{child}"), 2000)?;
            let lock = self.below(self.options.locks);
            if self.below(100) < self.options.races {
                let variable = self.below(self.options.variables);
                self.line(child, "w", &format!("V{variable}"), 4 * LOCATIONS)?;
                continue;
            }
            self.acquire(child, lock)?;
            let variable = self.guarded(lock);
            self.line(
                child,
                "w",
                &format!("V{variable}"),
                4 * (variable % LOCATIONS),
            )?;
            self.release(child)?;
        }
        Ok(())
    }

    fn write(mut self) -> io::Result<()> {
        match self.options.many {
            true => self.many()?,
            false => self.long()?,
        }
        self.out.flush()
    }
}

fn main() -> io::Result<()> {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(1);
        }
    };
    let out = BufWriter::new(io::stdout().lock());
    Generator::new(options, out).write()
}

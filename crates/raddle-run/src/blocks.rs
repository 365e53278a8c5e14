//! Blocks of a trace, made by threads of their own.
//!
//! A block does not depend on the others, so it does not matter who makes it; results are taken in the order
//! of the blocks. A run of less than a block has none of these threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use raddle_trace::decode::{DecodeError, SlotDecoder};
use raddle_trace::file::{BlockBuilder, EventBlock, WriteError};
use raddle_trace::sites::SiteTable;

use crate::error::Error;
use crate::slots::{Place, Slots};

/// Blocks that a thread may be given before somebody takes the first of them.
const DEPTH: usize = 3;

/// Most threads that make blocks.
const MOST_THREADS: usize = 3;

/// A block to be made.
pub struct Job {
    pub slots: Slots,
    /// Where they begin.
    pub start: Place,
    pub sites: Arc<SiteTable>,
}

/// A block that is made, and its slots back.
pub struct Done {
    pub slots: Slots,
    pub block: EventBlock,
    /// What was wrong with the slots, behind the events of the block.
    pub decoded: Result<(), DecodeError>,
    pub packed: Result<(), WriteError>,
}

/// Whoever makes blocks.
#[derive(Default)]
pub struct Makers {
    threads: Vec<Maker>,
    /// Blocks given to threads, and blocks taken back.
    given: usize,
    taken: usize,
    /// Space that is used again.
    slots: Vec<Slots>,
    blocks: Vec<EventBlock>,
}

struct Maker {
    jobs: SyncSender<(Job, EventBlock)>,
    done: Receiver<Done>,
}

impl Makers {
    /// Has a block made. Returns the earliest of those before that was not taken yet, if it is time to.
    pub fn submit(&mut self, job: Job) -> Result<Option<Done>, Error> {
        if self.threads.is_empty() {
            self.start()?;
        }
        let is_due = self.given - self.taken == DEPTH * self.threads.len();
        let done = if is_due { self.next() } else { None };
        let space = self.blocks.pop().unwrap_or_default();
        let maker = &self.threads[self.given % self.threads.len()];
        // A thread ends only by a panic, which whoever waits for its results is told.
        let _ = maker.jobs.send((job, space));
        self.given += 1;
        Ok(done)
    }

    /// The earliest block that was not taken yet; `None` if all were.
    pub fn next(&mut self) -> Option<Done> {
        if self.taken == self.given {
            return None;
        }
        let maker = &self.threads[self.taken % self.threads.len()];
        self.taken += 1;
        Some(maker.done.recv().expect("a block can be made of any slots"))
    }

    /// The same, unless it is not made yet.
    pub fn ready(&mut self) -> Option<Done> {
        if self.taken == self.given {
            return None;
        }
        let maker = &self.threads[self.taken % self.threads.len()];
        let done = maker.done.try_recv().ok()?;
        self.taken += 1;
        Some(done)
    }

    /// Makes a block at once.
    pub fn make(&mut self, job: Job) -> Done {
        make(&mut BlockBuilder::new(), job, EventBlock::default())
    }

    /// Takes space back.
    pub fn reuse(&mut self, slots: Slots, block: EventBlock) {
        self.slots.push(slots);
        self.blocks.push(block);
    }

    /// Space for slots.
    pub fn spare(&mut self) -> Slots {
        self.slots.pop().unwrap_or_default()
    }

    /// One core is the program's.
    fn start(&mut self) -> Result<(), Error> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..(cores - 1).clamp(1, MOST_THREADS) {
            let (jobs, given) = sync_channel::<(Job, EventBlock)>(DEPTH);
            let (finished, done) = sync_channel(DEPTH);
            let work = move || {
                let mut builder = BlockBuilder::new();
                for (job, block) in given {
                    if finished.send(make(&mut builder, job, block)).is_err() {
                        break;
                    }
                }
            };
            let started = thread::Builder::new().name("blocks".to_owned()).spawn(work);
            started.map_err(Error::system("start a thread"))?;
            self.threads.push(Maker { jobs, done });
        }
        Ok(())
    }
}

fn make(builder: &mut BlockBuilder, job: Job, mut block: EventBlock) -> Done {
    let Place {
        thread,
        tick,
        position,
    } = job.start;
    let mut decoder = SlotDecoder::at(thread, tick, position);
    let decoded = decoder.decode_bytes(&job.sites, job.slots.bytes(), builder);
    let packed = builder.finish(&mut block);
    Done {
        slots: job.slots,
        block,
        decoded,
        packed,
    }
}

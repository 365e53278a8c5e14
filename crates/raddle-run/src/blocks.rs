//! Blocks of a trace, made by threads of their own.
//!
//! A block holds the events of so many chunks, and the same events fill the same chunks, so that the file does not
//! depend on anybody's pace. No block depends on another either: it does not matter who makes it, and results are taken
//! in the order of the blocks. Who makes a block reads its chunks, too, one by one, so that what is decoded has just come
//! into this core's own cache. A run of less than a block has none of these threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use raddle_trace::decode::SlotDecoder;
use raddle_trace::file::{BLOCK_EVENTS, BlockBuilder, EventBlock, WriteError};
use raddle_trace::ids::{ThreadId, Tick};
use raddle_trace::sharing::Private;
use raddle_trace::sifting::SiftedBlock;
use raddle_trace::sites::SiteTable;
use raddle_trace::wire::{Message, SLOT_BYTES};

use crate::error::Error;
use crate::ring::{CHUNK_BYTES, RING_CHUNKS, Ring};

/// Chunks of a block.
pub const BLOCK_CHUNKS: usize = 4;
const _: () = {
    let slots = BLOCK_CHUNKS as u64 * CHUNK_BYTES / SLOT_BYTES as u64;
    assert!(
        slots <= BLOCK_EVENTS,
        "a block holds every event of its chunks"
    );
};

/// Blocks that a thread may be given before somebody takes the first of them.
const DEPTH: usize = RING_CHUNKS as usize / BLOCK_CHUNKS;

/// Most threads that make blocks.
const MOST_THREADS: usize = 4;

/// A block to be made.
#[derive(Default)]
pub struct Job {
    /// The chunks that are full, and how many slots of each.
    pub chunks: Vec<Message>,
    /// A chunk of a program that has ended, behind those.
    pub last: Option<u32>,
    /// Slots of the run before these.
    pub position: u64,
    pub sites: Arc<SiteTable>,
}

/// A block that is made.
pub struct Done {
    pub block: EventBlock,
    /// What was wrong with the slots, behind the events of the block.
    pub decoded: Result<(), Error>,
    pub packed: Result<(), WriteError>,
}

impl Job {
    /// Slots of the run up to the end of the full chunks.
    pub fn end(&self) -> u64 {
        let slots = self.chunks.iter().map(|it| u64::from(it.slots));
        self.position + slots.sum::<u64>()
    }
}

/// Whoever makes blocks.
pub struct Makers {
    ring: Arc<Ring>,
    /// What blocks are made without.
    leave_out: Option<Arc<Private>>,
    threads: Vec<Maker>,
    /// Blocks given to threads, and blocks taken back.
    given: usize,
    taken: usize,
    /// Space that is used again.
    blocks: Vec<EventBlock>,
}

struct Maker {
    jobs: SyncSender<(Job, EventBlock)>,
    done: Receiver<Done>,
}

impl Makers {
    /// Nobody yet.
    pub fn new(ring: Ring, leave_out: Option<Arc<Private>>) -> Self {
        Self {
            ring: Arc::new(ring),
            leave_out,
            threads: Vec::new(),
            given: 0,
            taken: 0,
            blocks: Vec::new(),
        }
    }

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
    pub fn make(&self, job: Job) -> Done {
        self.workbench().make(&job, EventBlock::default())
    }

    fn workbench(&self) -> Workbench {
        Workbench {
            ring: self.ring.clone(),
            leave_out: self.leave_out.clone(),
            builder: BlockBuilder::new(),
            slots: Vec::new(),
        }
    }

    /// Takes space back.
    pub fn reuse(&mut self, block: EventBlock) {
        self.blocks.push(block);
    }

    /// A thread for each core: the program waits where it writes faster than they read.
    fn start(&mut self) -> Result<(), Error> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..cores.min(MOST_THREADS) {
            let (jobs, given) = sync_channel::<(Job, EventBlock)>(DEPTH);
            let (finished, done) = sync_channel(DEPTH);
            let mut bench = self.workbench();
            let work = move || {
                for (job, block) in given {
                    if finished.send(bench.make(&job, block)).is_err() {
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

/// What one needs to make blocks.
struct Workbench {
    ring: Arc<Ring>,
    leave_out: Option<Arc<Private>>,
    builder: BlockBuilder,
    /// The slots of one chunk.
    slots: Vec<u8>,
}

impl Workbench {
    fn make(&mut self, job: &Job, mut block: EventBlock) -> Done {
        let decoded = self.decode(job);
        let packed = self.builder.finish(&mut block);
        Done {
            block,
            decoded,
            packed,
        }
    }

    fn decode(&mut self, job: &Job) -> Result<(), Error> {
        let Self {
            ring,
            leave_out,
            builder,
            slots,
        } = self;
        let read = || Error::system("read the program's events");
        // Every chunk opens with a switch, which says whose slots follow.
        let mut decoder = SlotDecoder::at(ThreadId(0), Tick(0), job.position);
        let mut decode = |slots: &[u8]| {
            let decoded = match leave_out {
                Some(private) => {
                    let mut sifted = SiftedBlock { builder, private };
                    decoder.decode_bytes(&job.sites, slots, &mut sifted)
                }
                None => decoder.decode_bytes(&job.sites, slots, builder),
            };
            decoded.map_err(Error::runtime)
        };
        for full in &job.chunks {
            ring.take(*full, slots).map_err(read())?;
            decode(slots)?;
        }
        if let Some(last) = job.last {
            ring.last(last, slots).map_err(read())?;
            decode(slots)?;
        }
        Ok(())
    }
}

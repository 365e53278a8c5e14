//! Made-up streams that look like what programs do.

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind, Outcomes};
use raddle_trace::ids::{Address, AllocId, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Ordering, Role};

const HEAP: u64 = 0x7fff_6000_0000;
const STACK: u64 = 0x7fff_f000_0000;
const CODE: u64 = 0x5555_5555_0000;

/// Makes the events of a stream.
type Maker = fn(&mut Stream);

/// Every stream, by name.
pub fn all(length: usize) -> impl Iterator<Item = (&'static str, Vec<Event>)> {
    let makers: [(&str, Maker); 6] = [
        ("array sum", array_sum),
        ("matrix of floats", matrix),
        ("hash table, one lock", hash_table),
        ("list of random nodes", list),
        ("calls", calls),
        ("atomics, many switches", atomics),
    ];
    makers.into_iter().map(move |(name, round)| {
        let mut stream = Stream::new(length);
        while stream.events.len() < length {
            round(&mut stream);
            stream.round += 1;
        }
        stream.events.truncate(length);
        (name, stream.events)
    })
}

/// Events so far, and the state of the made-up program.
struct Stream {
    events: Vec<Event>,
    ticks: [Tick; 4],
    thread: usize,
    round: u64,
    random: u64,
}

impl Stream {
    fn new(length: usize) -> Self {
        Self {
            events: Vec::with_capacity(length + 64),
            ticks: [Tick(0); 4],
            thread: 0,
            round: 0,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn push(&mut self, kind: EventKind) {
        let tick = self.ticks[self.thread];
        let thread = ThreadId(self.thread as u32);
        let event = Event { thread, tick, kind };
        self.ticks[self.thread] = event.next_tick();
        self.events.push(event);
    }

    fn read(&mut self, site: u32, addr: u64, value: u64) {
        self.push(EventKind::Read(access(site, addr, value)));
    }

    fn write(&mut self, site: u32, addr: u64, value: u64) {
        self.push(EventKind::Write(access(site, addr, value)));
    }

    fn act(&mut self, pc: u64, action: Action) {
        let pc = Address(CODE + pc);
        self.push(EventKind::Action { pc, action });
    }

    fn branches(&mut self) {
        let outcomes = 1 << 63 | self.random();
        self.push(EventKind::Branches(
            Outcomes::from_sentinel(outcomes).expect("bit 63 is set"),
        ));
    }

    fn stack(&self) -> u64 {
        STACK - ((self.thread as u64) << 23)
    }
}

fn access(site: u32, addr: u64, value: u64) -> Access {
    Access {
        site: SiteId(site),
        addr: Address(addr),
        size: 8,
        value,
    }
}

/// Random small elements, a running sum; the turn goes around every thousand.
fn array_sum(stream: &mut Stream) {
    let at = stream.round % 1_000_000;
    let value = stream.random() % 1000;
    stream.read(100, HEAP + at * 8, value);
    let sum = stream.stack();
    stream.write(101, sum, stream.round * 499);
    if stream.round.is_multiple_of(1000) {
        stream.thread = (stream.thread + 1) % 4;
    }
    if stream.round.is_multiple_of(63) {
        stream.branches();
    }
}

/// Two loads of doubles and a store of one, as in a product of matrices.
fn matrix(stream: &mut Stream) {
    let (row, column) = (stream.round / 200 % 200, stream.round % 200);
    let left = (stream.random() as f64).sqrt();
    let right = column as f64 * 0.5;
    stream.read(200, HEAP + (row * 200 + column) * 8, left.to_bits());
    stream.read(
        201,
        HEAP + 0x10_0000 + (column * 200 + row) * 8,
        right.to_bits(),
    );
    stream.write(202, HEAP + 0x20_0000 + row * 8, (left * right).to_bits());
    if stream.round.is_multiple_of(500) {
        stream.thread = (stream.thread + 1) % 4;
    }
    if stream.round.is_multiple_of(63) {
        stream.branches();
    }
}

/// A lock, a bucket, a chain of one or two nodes, a counter.
fn hash_table(stream: &mut Stream) {
    let lock = Address(HEAP - 0x100);
    let key = stream.random() % 100_000;
    let bucket = key.wrapping_mul(0x9e37_79b9) % 4096;
    let node = |index: u64| HEAP + 0x1_0000 + (bucket * 37 + index) % 60_000 * 48;
    stream.act(0x120, Action::Lock { lock, tried: false });
    stream.read(300, HEAP + bucket * 8, node(0));
    for index in 0..=stream.random() % 2 {
        stream.read(301, node(index), key + index);
        stream.read(302, node(index) + 8, node(index + 1));
    }
    let value = stream.random() % 64;
    stream.write(303, node(0) + 16, value);
    stream.read(304, HEAP - 0x80, stream.round);
    stream.write(305, HEAP - 0x80, stream.round + 1);
    stream.act(0x180, Action::Unlock { lock });
    if stream.random().is_multiple_of(8) {
        stream.thread = (stream.random() % 4) as usize;
    }
    if stream.round.is_multiple_of(12) {
        stream.branches();
    }
}

/// Pointer after pointer through memory, each node with a payload nobody can foresee.
fn list(stream: &mut Stream) {
    let node = HEAP + stream.random() % (1 << 20) * 32;
    let next = HEAP + stream.random() % (1 << 20) * 32;
    let payload = stream.random();
    stream.read(400, node, next);
    stream.read(401, node + 8, payload);
    if stream.round.is_multiple_of(40) {
        stream.branches();
    }
    if stream.round.is_multiple_of(5000) {
        stream.thread = (stream.thread + 1) % 4;
    }
}

/// Small functions with locals, results of calls, blocks of memory.
fn calls(stream: &mut Stream) {
    let depth = stream.random() % 6;
    for level in 0..depth {
        let frame = Address(stream.stack() - level * 0x60);
        let site = 500 + 8 * (level as u32 + (stream.random() % 8) as u32 * 8);
        let return_address = Address(CODE + 0x1000 + u64::from(site) * 4);
        stream.push(EventKind::Enter {
            site: SiteId(site),
            frame,
            return_address,
        });
        let value = stream.random() % 300;
        stream.write(site + 1, frame.0 - 0x18, value);
        stream.read(site + 2, frame.0 - 0x18, value);
        stream.push(EventKind::Value {
            site: SiteId(site + 3),
            addr: Address(0),
            value: value / 2,
        });
        stream.push(EventKind::Exit {
            site: SiteId(site + 4),
            frame,
        });
    }
    let (id, size) = (AllocId(stream.round), 16 << (stream.random() % 5));
    let addr = Address(HEAP + stream.round % 9000 * 0x40);
    stream.act(0x900, Action::Alloc { addr, size, id });
    if stream.round.is_multiple_of(4) {
        stream.branches();
    }
    if stream.round.is_multiple_of(64) {
        stream.thread = (stream.thread + 1) % 4;
    }
}

/// Compare-exchange loops of four threads that meet at every step.
fn atomics(stream: &mut Stream) {
    let atomicity = Atomicity {
        order: Ordering::AcqRel,
        role: Role::None,
    };
    let load = access(600, HEAP, stream.round);
    stream.push(EventKind::AtomicLoad(load, atomicity));
    let success = !stream.random().is_multiple_of(5);
    stream.push(EventKind::Cas {
        access: access(601, HEAP, stream.round),
        atomicity,
        new: stream.round + 1,
        success,
    });
    let slot = HEAP + 0x1000 + stream.round % 256 * 16;
    let value = stream.random() % 10_000;
    stream.write(602, slot, value);
    stream.push(EventKind::Rmw {
        access: access(603, HEAP + 64, stream.round * 3),
        atomicity,
        new: stream.round * 3 + 3,
    });
    stream.thread = (stream.random() % 4) as usize;
}

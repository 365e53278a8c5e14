//! The input log: what the outside told the program, so that a replay needs no outside.
//!
//! A run that is not a replay writes an entry for every call whose outcome is the outside's (see
//! [`InputEntry`]), with one `write` to a file that the launcher made: what was written survives a
//! crash, and the file may be as long as the disk allows. A replay maps the file and answers each
//! thread's calls from that thread's entries. An entry answers the call of its tick only, so that a
//! call which never returned is known as one.
//!
//! Where the program asks for something else than it did, that is the divergence, and from there on
//! its questions go to the real outside.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};

use raddle_trace::wire::{
    Control, DivergenceKind, INPUT_MAGIC, InputCall, InputEntry, InputHead, MAX_THREADS, Slot,
    StrategyKind,
};

use crate::control;
use crate::sched::SCHED;
use crate::sys;
use crate::thread::{Thread, Tid};
use crate::tls;

/// Descriptor of the log while it is written.
const LOG_FD: i32 = 202;
/// Most parts of one entry.
pub const MOST_PARTS: usize = 40;
/// The object of calls that concern no descriptor.
pub const NO_OBJECT: u64 = u64::MAX;

/// Bytes that a call fills in.
#[derive(Clone, Copy)]
pub struct Part {
    start: *mut u8,
    len: usize,
}

/// Nothing.
pub const NOTHING: Part = Part {
    start: core::ptr::null_mut(),
    len: 0,
};

impl Part {
    /// The `len` bytes at `start`; nothing if that is null.
    pub fn new<T>(start: *mut T, len: usize) -> Part {
        let len = if start.is_null() { 0 } else { len };
        let start = start.cast();
        Part { start, len }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// One value; nothing if it is null.
    pub fn of<T>(place: *mut T) -> Part {
        Part::new(place, size_of::<T>())
    }
}

/// The writing end, or -1.
static LOG: AtomicI32 = AtomicI32::new(-1);
/// The log that a replay answers from, or null, and its length.
static START: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static LEN: AtomicU64 = AtomicU64::new(0);
/// Whether the program asked for something else than the log has.
static LEFT: AtomicBool = AtomicBool::new(false);
/// A [`Cursor`] a thread, while answering.
static CURSORS: AtomicPtr<Cursor> = AtomicPtr::new(core::ptr::null_mut());

/// How far a thread has come in the log. Zero at first.
struct Cursor {
    /// Where to look for its next entry.
    at: u64,
    /// Where its next signal is, or where the search for it has come to.
    signal: u64,
}

/// Who answers a call.
pub enum Source {
    /// The outside.
    Live,
    /// The log.
    Recorded(Entry),
    /// The log, which has a signal first.
    Signal,
    /// Nobody: in the recorded run the call did not return.
    Never,
}

/// An entry of the log.
#[derive(Clone, Copy)]
pub struct Entry {
    head: InputEntry,
    data: *const u8,
    end: u64,
}

impl Entry {
    /// What the call returned.
    pub fn result(&self) -> i64 {
        self.head.result
    }

    /// `errno` as it left it.
    pub fn errno(&self) -> i32 {
        self.head.errno.into()
    }

    /// Copies what the call filled in.
    pub fn fill(&self, parts: &[Part]) {
        let mut rest = self.rest();
        for part in parts {
            let Some((bytes, behind)) = first_part(rest) else {
                return;
            };
            rest = behind;
            let len = bytes.len().min(part.len);
            // SAFETY: the call would have filled in as much of the program's memory.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), part.start, len) };
        }
    }

    fn rest(&self) -> &'static [u8] {
        // SAFETY: `entry_at` found that the data lies within the mapped log.
        unsafe { core::slice::from_raw_parts(self.data, self.head.len as usize) }
    }
}

fn first_part(data: &'static [u8]) -> Option<(&'static [u8], &'static [u8])> {
    let (len, rest) = data.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_ne_bytes(*len) as usize)
}

/// Opens the logs that the launcher names. Called once, by the only thread.
pub fn start(memory: i32, control: &Control) {
    let path = |region| {
        let bytes = control::map_region::<u8>(memory, region);
        // SAFETY: the region stays mapped and nobody writes it.
        let bytes = unsafe { &*bytes };
        core::ffi::CStr::from_bytes_until_nul(bytes).ok()
    };
    let cursors = sys::map_own((MAX_THREADS * size_of::<Cursor>()) as u64);
    CURSORS.store(cursors.cast(), Ordering::Relaxed);
    let is_replay = control.strategy == StrategyKind::Replay as u32;
    if let Some(path) = path(control.inputs_in).filter(|_| is_replay) {
        map_log(path);
    } else if let Some(path) = path(control.inputs_out) {
        LOG.store(sys::open_append_as(path, LOG_FD), Ordering::Relaxed);
    }
}

fn map_log(path: &core::ffi::CStr) {
    let Ok(fd @ 0..) = i32::try_from(sys::open_read(path)) else {
        control::fail_start("the log of the run's inputs cannot be opened");
    };
    let len = sys::file_len(fd);
    let start = sys::map_readable(fd, len).cast_mut();
    sys::close(fd);
    // SAFETY: the mapping is at least as long as the head.
    let is_log = !start.is_null()
        && len >= size_of::<InputHead>() as u64
        && unsafe { start.cast::<InputHead>().read_unaligned() }.magic == INPUT_MAGIC;
    if !is_log {
        control::fail_start("the log of the run's inputs is not one");
    }
    LEN.store(len, Ordering::Relaxed);
    START.store(start, Ordering::Relaxed);
}

/// Stops all this: in a child process.
pub fn detach() {
    LOG.store(-1, Ordering::Relaxed);
    START.store(core::ptr::null_mut(), Ordering::Relaxed);
}

/// Whether calls are answered from a log.
pub fn answers() -> bool {
    !START.load(Ordering::Relaxed).is_null() && !LEFT.load(Ordering::Relaxed)
}

/// Whether a descriptor is the runtime's own.
pub fn is_own(fd: i32) -> bool {
    (LOG_FD - 2..=LOG_FD).contains(&fd) && !control::get().is_null()
}

/// Notes that the program calls something whose outcome is not recorded.
pub fn note_uncovered(name: &str) {
    let control = control::get();
    if control.is_null() {
        return;
    }
    // SAFETY: the head stays mapped; one thread runs at a time.
    let place = unsafe { &mut (*control).uncovered };
    if place[0] == 0 {
        let len = name.len().min(place.len());
        place[..len].copy_from_slice(&name.as_bytes()[..len]);
    }
}

// ---- writing ----

/// Where `me`, which has the turn, is in its own time.
pub fn tick(me: &Thread) -> u64 {
    me.tick_at(tls::cur())
}

/// Writes down a call that began at `tick`.
pub fn note(me: &Thread, what: (InputCall, u64), tick: u64, result: (i64, i32), parts: &[Part]) {
    tls::on_own_stack(|| note_here(me, what, tick, result, parts));
}

fn note_here(me: &Thread, what: (InputCall, u64), tick: u64, result: (i64, i32), parts: &[Part]) {
    let fd = LOG.load(Ordering::Relaxed);
    if fd < 0 {
        return;
    }
    let parts = &parts[..parts.len().min(MOST_PARTS)];
    let mut lens = [0u32; MOST_PARTS];
    let mut vectors = [[0u64; 2]; 2 * MOST_PARTS + 1];
    let mut len = 0;
    for (at, part) in parts.iter().enumerate() {
        lens[at] = part.len as u32;
        vectors[2 * at + 1] = [(&raw const lens[at]) as u64, 4];
        vectors[2 * at + 2] = [part.start as u64, part.len as u64];
        len += 4 + part.len;
    }
    let head = InputEntry {
        len: len as u32,
        thread: me.id,
        tick,
        call: what.0 as u16,
        errno: result.1 as u16,
        reserved: 0,
        object: what.1,
        result: result.0,
    };
    vectors[0] = [(&raw const head) as u64, size_of::<InputEntry>() as u64];
    if !sys::write_all_vectors(fd, &mut vectors[..=2 * parts.len()]) {
        LOG.store(-1, Ordering::Relaxed);
        note_uncovered("anything more: the disk is full");
    }
}

// ---- answering ----

/// Who answers a call that `me`, which has the turn, makes now.
pub fn source(me: &Thread, what: (InputCall, u64)) -> Source {
    if answers() {
        tls::on_own_stack(|| recorded_source(me, what))
    } else {
        Source::Live
    }
}

fn recorded_source(me: &Thread, what: (InputCall, u64)) -> Source {
    let tick = tick(me);
    let strict = SCHED.lock().follows_replay();
    let Some(entry) = peek(me.id) else {
        return Source::Never;
    };
    if strict && entry.head.tick > tick {
        return Source::Never;
    }
    if entry.head.call == InputCall::Signal as u16 {
        return Source::Signal;
    }
    let found = (entry.head.call, entry.head.object);
    if found != (what.0 as u16, what.1) || (strict && entry.head.tick < tick) {
        diverge(me, entry.head.call, what.0);
        return Source::Live;
    }
    Source::Recorded(entry)
}

/// Who answers a call that a signal handler makes in the place of a thread, which has the turn.
pub fn handler_source(me: &Thread, what: (InputCall, u64)) -> Source {
    let entry = peek(me.id).filter(|_| answers());
    let is_wanted = |it: &Entry| (it.head.call, it.head.object) == (what.0 as u16, what.1);
    entry
        .filter(is_wanted)
        .map_or(Source::Live, Source::Recorded)
}

/// Goes on behind an entry that answered.
pub fn consume(me: &Thread, entry: &Entry) {
    if let Some(cursor) = cursor(me.id) {
        cursor.at = entry.end;
    }
}

/// The thread's next entry.
fn peek(id: Tid) -> Option<Entry> {
    let cursor = cursor(id)?;
    let (at, entry) = search(cursor.at, |it| it.thread == id);
    cursor.at = at;
    entry
}

/// The tick and data of the thread's next signal.
pub fn next_signal(id: Tid) -> Option<(u64, Entry)> {
    if !answers() {
        return None;
    }
    let cursor = cursor(id)?;
    let is_signal = |it: &InputEntry| it.thread == id && it.call == InputCall::Signal as u16;
    let (at, entry) = search(cursor.signal.max(cursor.at), is_signal);
    cursor.signal = at;
    entry.map(|entry| (entry.head.tick, entry))
}

/// The number of a signal's entry, and of switches made before it.
pub fn signal_of(entry: &Entry) -> (u32, u64) {
    (entry.head.object as u32, entry.head.result as u64)
}

/// Whether a signal ended the wait of a thread here in the recorded run, `more` switches from now.
pub fn rouses(thread: &Thread, more: u64) -> bool {
    next_signal(thread.id).is_some_and(|(tick, entry)| {
        let stopped = thread.segment.is_null() || thread.cur_address.is_null();
        // SAFETY: the thread-locals of a thread with a segment are alive.
        let now = match stopped {
            true => thread.tick_base,
            false => thread.tick_at(unsafe { *thread.cur_address }),
        };
        let here = tick == now && signal_of(&entry).1 == control::switches() + more;
        here && entry.head.errno != 0
    })
}

/// Slots that a thread may write before a signal is due.
pub fn signal_budget(thread: &Thread, cursor: *mut Slot) -> u64 {
    if thread.arrived.load(Ordering::Relaxed) != 0 {
        return 0;
    }
    let due = next_signal(thread.id).map(|(tick, _)| tick);
    due.map_or(u64::MAX, |tick| tick.saturating_sub(thread.tick_at(cursor)))
}

fn cursor(id: Tid) -> Option<&'static mut Cursor> {
    let cursors = CURSORS.load(Ordering::Relaxed);
    // SAFETY: the table has an entry for every thread; the turn orders accesses.
    (!cursors.is_null()).then(|| unsafe { &mut *cursors.add(id as usize) })
}

/// The first entry at or behind `at` that is `wanted`, and where it is.
fn search(at: u64, wanted: impl Fn(&InputEntry) -> bool) -> (u64, Option<Entry>) {
    let mut at = at.max(size_of::<InputHead>() as u64);
    while let Some(entry) = entry_at(at) {
        if wanted(&entry.head) {
            return (at, Some(entry));
        }
        at = entry.end;
    }
    (at, None)
}

/// The entry at `at`, if the log goes on so far.
fn entry_at(at: u64) -> Option<Entry> {
    let start = START.load(Ordering::Relaxed);
    let len = LEN.load(Ordering::Relaxed);
    let data = at + size_of::<InputEntry>() as u64;
    if start.is_null() || data > len {
        return None;
    }
    // SAFETY: the head lies within the mapped log.
    let head = unsafe { start.add(at as usize).cast::<InputEntry>().read_unaligned() };
    let end = data + u64::from(head.len);
    (end <= len).then(|| Entry {
        head,
        // SAFETY: at most one past the log's end.
        data: unsafe { start.add(data as usize) },
        end,
    })
}

fn diverge(me: &Thread, expected: u16, actual: InputCall) {
    LEFT.store(true, Ordering::Relaxed);
    // SAFETY: the head stays mapped; one thread runs at a time.
    let control = unsafe { &mut *control::get() };
    if control.divergence.kind == DivergenceKind::None as u32 {
        control.divergence.kind = DivergenceKind::Input as u32;
        control.divergence.thread = me.id;
        control.divergence.switch = control.switch_count;
        control.divergence.expected = expected.into();
        control.divergence.actual = actual as u64;
    }
}

/// Waits for ever, as the call did in the recorded run. The thread may be cancelled in here. If
/// nobody else is left who could end the run, and the recorded run did end, this one has taken
/// another way: it ends.
pub fn never(id: Tid) -> ! {
    const PAUSE_MS: i32 = 20;
    const MOST_LOOKS: u32 = 10;
    let start = START.load(Ordering::Relaxed);
    // SAFETY: `start` maps at least the head.
    let complete =
        !start.is_null() && unsafe { start.cast::<InputHead>().read_unaligned() }.complete != 0;
    let mut looks = 0;
    loop {
        crate::real::poll(core::ptr::null_mut(), 0, PAUSE_MS);
        looks = if complete && SCHED.lock().is_idle_but_for(id) {
            looks + 1
        } else {
            0
        };
        if looks == MOST_LOOKS {
            // SAFETY: the head stays mapped.
            let divergence = unsafe { &mut (*control::get()).divergence };
            if divergence.kind == DivergenceKind::None as u32 {
                divergence.kind = DivergenceKind::Ended as u32;
                divergence.thread = id;
            }
            sys::exit_process(1);
        }
    }
}

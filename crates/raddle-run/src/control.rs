//! The memory file that a program shares with its launcher, seen from the launcher's side.
//!
//! The layout is `raddle_trace::wire::Control`. It is written and read field by field, at the
//! offsets the compiler gives, so that no byte of a program that may have gone wild is ever taken
//! for a typed value. Numbers that the program wrote are clamped to the size of their region.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem::{offset_of, size_of};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use raddle_trace::run::Clock;
use raddle_trace::wire::{
    self, Choice, Control, Divergence, Image, ImagePath, Region, Switch, ThreadRecord,
};
use rustix::fs::MemfdFlags;

use crate::ring::{CHUNK_BYTES, CHUNK_SLOTS, RING_CHUNKS, Ring};

/// Bytes for the sites of all images.
const SITES_BYTES: u64 = 32 << 20;
/// Most switches and most choices that one run can leave.
const MAX_SWITCHES: u64 = 1 << 24;
const PAGE: u64 = 4096;

/// What the launcher tells the runtime before the program starts.
#[derive(Clone, Debug)]
pub struct Orders<'a> {
    /// Bits of [`wire::flags`].
    pub flags: u32,
    /// Seed of every choice.
    pub seed: u64,
    /// How threads are chosen.
    pub strategy: wire::StrategyKind,
    /// PCT's depth.
    pub depth: u32,
    /// Scheduling points of a profiling run, 0 if unknown.
    pub expected: u64,
    /// The virtual clock.
    pub clock: Clock,
    /// For how long a thread that could run may be off its processor.
    pub preempted_ns: u64,
    /// Slots after which the run is ended, 0 if there is no limit.
    pub most_ticks: u64,
    /// One bit a site number; empty: all sites are visible.
    pub visible: &'a [u8],
    /// Switches to follow.
    pub schedule: &'a [Switch],
    /// Choices to follow.
    pub choices: &'a [u32],
    /// Visible events of each thread in a profiling run.
    pub weights: &'a [u64],
    /// Path of the input log to answer from, NUL-terminated, or nothing.
    pub inputs_in: Vec<u8>,
    /// Path of the input log to write, NUL-terminated, or nothing.
    pub inputs_out: Vec<u8>,
    /// The signal by which the launcher will end the run, or 0.
    pub stop_signal: u32,
}

/// The part of [`Control`] that the runtime writes, as it stood when it was read.
#[derive(Clone, Debug)]
pub struct Head {
    /// Valid bytes of the sites' region.
    pub sites_len: u64,
    /// Instrumented images, in the order of their loading.
    pub images: Vec<Image>,
    /// The files of those images, where they are known.
    pub image_paths: Vec<PathBuf>,
    /// Threads created, main included.
    pub thread_count: u32,
    /// Switches made.
    pub switch_count: u64,
    /// Choices made.
    pub choice_count: u64,
    /// Slots written by all threads.
    pub ticks: u64,
    /// Scheduling points passed.
    pub points: u64,
    /// The chunk being written.
    pub current_chunk: u32,
    /// Whether the runtime took the program under its control.
    pub started: bool,
    /// How the run failed, if the runtime saw it.
    pub outcome: wire::Outcome,
    /// Where a replay left its schedule.
    pub divergence: Divergence,
    /// A call whose outcome is the outside's and was not recorded.
    pub uncovered: Option<String>,
}

/// The memory file.
#[derive(Debug)]
pub struct ControlFile {
    file: File,
    ring: Region,
    sites: Region,
    schedule_out: Region,
    choices_out: Region,
    threads: Region,
}

impl ControlFile {
    /// Makes the memory file of one run. It is sparse: a short run touches few of its pages.
    ///
    /// # Errors
    /// If the system refuses a memory file.
    pub fn create(orders: &Orders<'_>) -> io::Result<ControlFile> {
        let recording = orders.flags & wire::flags::RECORD != 0;
        let chunks = if recording { RING_CHUNKS } else { 1 };
        let mut end = (size_of::<Control>() as u64).next_multiple_of(PAGE);
        let mut region = |len: u64| {
            let region = Region { offset: end, len };
            end += len.next_multiple_of(PAGE);
            region
        };
        let ring = region(chunks * CHUNK_BYTES);
        let sites = region(SITES_BYTES);
        let visible = region(orders.visible.len() as u64);
        let schedule_in = region(size_of_val(orders.schedule) as u64);
        let schedule_out = region(MAX_SWITCHES * size_of::<Switch>() as u64);
        let choices_in = region(size_of_val(orders.choices) as u64);
        let choices_out = region(MAX_SWITCHES * size_of::<Choice>() as u64);
        let weights = region(size_of_val(orders.weights) as u64);
        let threads = region((wire::MAX_THREADS * size_of::<ThreadRecord>()) as u64);
        let inputs_in = region(orders.inputs_in.len() as u64);
        let inputs_out = region(orders.inputs_out.len() as u64);

        let file = File::from(rustix::fs::memfd_create(
            "raddle-control",
            MemfdFlags::CLOEXEC,
        )?);
        file.set_len(end)?;
        let mut head = vec![0; size_of::<Control>()];
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        for (at, number) in [
            (offset_of!(Control, version), wire::WIRE_VERSION),
            (offset_of!(Control, flags), orders.flags),
            (offset_of!(Control, strategy), orders.strategy as u32),
            (offset_of!(Control, depth), orders.depth),
            (offset_of!(Control, stop_signal), orders.stop_signal),
        ] {
            put(at, &number.to_ne_bytes());
        }
        for (at, number) in [
            (offset_of!(Control, magic), wire::CONTROL_MAGIC),
            (offset_of!(Control, seed), orders.seed),
            (offset_of!(Control, expected), orders.expected),
            (offset_of!(Control, clock_start_ns), orders.clock.start_ns),
            (
                offset_of!(Control, clock_ns_per_tick),
                orders.clock.ns_per_tick,
            ),
            (offset_of!(Control, preempted_ns), orders.preempted_ns),
            (offset_of!(Control, most_ticks), orders.most_ticks),
            (offset_of!(Control, chunk_slots), CHUNK_SLOTS),
        ] {
            put(at, &number.to_ne_bytes());
        }
        for (at, region) in [
            (offset_of!(Control, ring), ring),
            (offset_of!(Control, sites), sites),
            (offset_of!(Control, visible), visible),
            (offset_of!(Control, schedule_in), schedule_in),
            (offset_of!(Control, schedule_out), schedule_out),
            (offset_of!(Control, choices_in), choices_in),
            (offset_of!(Control, choices_out), choices_out),
            (offset_of!(Control, weights), weights),
            (offset_of!(Control, threads), threads),
            (offset_of!(Control, inputs_in), inputs_in),
            (offset_of!(Control, inputs_out), inputs_out),
        ] {
            put(
                at + offset_of!(Region, offset),
                &region.offset.to_ne_bytes(),
            );
            put(at + offset_of!(Region, len), &region.len.to_ne_bytes());
        }
        file.write_all_at(&head, 0)?;
        file.write_all_at(orders.visible, visible.offset)?;
        let schedule: Vec<u8> = orders.schedule.iter().flat_map(encode_switch).collect();
        file.write_all_at(&schedule, schedule_in.offset)?;
        let choices = orders.choices.iter().flat_map(|it| it.to_ne_bytes());
        file.write_all_at(&choices.collect::<Vec<_>>(), choices_in.offset)?;
        let counts = orders.weights.iter().flat_map(|it| it.to_ne_bytes());
        file.write_all_at(&counts.collect::<Vec<_>>(), weights.offset)?;
        file.write_all_at(&orders.inputs_in, inputs_in.offset)?;
        file.write_all_at(&orders.inputs_out, inputs_out.offset)?;
        Ok(ControlFile {
            file,
            ring,
            sites,
            schedule_out,
            choices_out,
            threads,
        })
    }

    /// The file itself, to be handed to the program.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Reads what the runtime has written so far.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn head(&self) -> io::Result<Head> {
        let mut bytes = vec![0; size_of::<Control>()];
        self.file.read_exact_at(&mut bytes, 0)?;
        let bytes = Bytes(&bytes);
        let count = (bytes.u32(offset_of!(Control, image_count)) as usize).min(wire::MAX_IMAGES);
        let images = (0..count).map(|index| {
            let at = offset_of!(Control, images) + index * size_of::<Image>();
            Image {
                start: bytes.u64(at + offset_of!(Image, start)),
                len: bytes.u64(at + offset_of!(Image, len)),
                offset: bytes.u64(at + offset_of!(Image, offset)),
            }
        });
        let at = offset_of!(Control, divergence);
        let divergence = Divergence {
            kind: bytes.u32(at + offset_of!(Divergence, kind)),
            thread: bytes.u32(at + offset_of!(Divergence, thread)),
            switch: bytes.u64(at + offset_of!(Divergence, switch)),
            expected: bytes.u64(at + offset_of!(Divergence, expected)),
            actual: bytes.u64(at + offset_of!(Divergence, actual)),
        };
        Ok(Head {
            sites_len: bytes
                .u64(offset_of!(Control, sites_len))
                .min(self.sites.len),
            images: images.collect(),
            image_paths: (0..count).map(|index| image_path(bytes, index)).collect(),
            thread_count: bytes
                .u32(offset_of!(Control, thread_count))
                .min(wire::MAX_THREADS as u32),
            switch_count: bytes
                .u64(offset_of!(Control, switch_count))
                .min(MAX_SWITCHES),
            choice_count: bytes
                .u64(offset_of!(Control, choice_count))
                .min(MAX_SWITCHES),
            ticks: bytes.u64(offset_of!(Control, ticks)),
            points: bytes.u64(offset_of!(Control, points)),
            current_chunk: bytes.u32(offset_of!(Control, current_chunk)),
            started: bytes.u32(offset_of!(Control, started)) != 0,
            outcome: decode_outcome(bytes, offset_of!(Control, outcome)),
            divergence,
            uncovered: uncovered(bytes),
        })
    }

    /// The copies of all images' site records.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn sites(&self, head: &Head) -> io::Result<Vec<u8>> {
        self.read(self.sites, head.sites_len)
    }

    /// The switches that were made.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn switches(&self, head: &Head) -> io::Result<Vec<Switch>> {
        let size = size_of::<Switch>();
        let bytes = self.read(self.schedule_out, head.switch_count * size as u64)?;
        Ok(bytes.chunks_exact(size).map(decode_switch).collect())
    }

    /// The choices that [`wire::StrategyKind::Dfs`] made.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn choices(&self, head: &Head) -> io::Result<Vec<Choice>> {
        let size = size_of::<Choice>();
        let bytes = self.read(self.choices_out, head.choice_count * size as u64)?;
        Ok(bytes.chunks_exact(size).map(decode_choice).collect())
    }

    /// What each thread was doing when the run ended.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn threads(&self, head: &Head) -> io::Result<Vec<ThreadRecord>> {
        let size = size_of::<ThreadRecord>();
        let bytes = self.read(self.threads, u64::from(head.thread_count) * size as u64)?;
        Ok(bytes.chunks_exact(size).map(decode_thread).collect())
    }

    /// The ring of chunks, whose program is at the other end of the socket.
    ///
    /// # Errors
    /// If the system refuses another descriptor.
    pub fn ring(&self, socket: &UnixStream) -> io::Result<Ring> {
        let (file, socket) = (self.file.try_clone()?, socket.try_clone()?);
        Ok(Ring::new(file, self.ring, socket))
    }

    /// How many instrumented images the program has loaded.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn image_count(&self) -> io::Result<u32> {
        let mut count = [0; 4];
        let at = offset_of!(Control, image_count) as u64;
        self.file.read_exact_at(&mut count, at)?;
        Ok(u32::from_ne_bytes(count))
    }

    fn read(&self, region: Region, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len.min(region.len) as usize];
        self.file.read_exact_at(&mut bytes, region.offset)?;
        Ok(bytes)
    }
}

/// The memory file of a program that serves runs instead of making one.
///
/// # Errors
/// If the system refuses a memory file.
pub fn server_file() -> io::Result<File> {
    let mut head = vec![0; size_of::<Control>()];
    let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
    put(
        offset_of!(Control, magic),
        &wire::CONTROL_MAGIC.to_ne_bytes(),
    );
    put(
        offset_of!(Control, version),
        &wire::WIRE_VERSION.to_ne_bytes(),
    );
    put(
        offset_of!(Control, flags),
        &wire::flags::SERVE.to_ne_bytes(),
    );
    let file = File::from(rustix::fs::memfd_create(
        "raddle-control",
        MemfdFlags::CLOEXEC,
    )?);
    file.write_all_at(&head, 0)?;
    Ok(file)
}

/// Bytes of which fields are read at offsets known to lie inside.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.0[at..at + N]);
        array
    }

    fn u32(self, at: usize) -> u32 {
        u32::from_ne_bytes(self.array(at))
    }

    fn u64(self, at: usize) -> u64 {
        u64::from_ne_bytes(self.array(at))
    }
}

fn encode_switch(switch: &Switch) -> [u8; size_of::<Switch>()] {
    let mut bytes = [0; size_of::<Switch>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(Switch, tick), &switch.tick.to_ne_bytes());
    put(offset_of!(Switch, from), &switch.from.to_ne_bytes());
    put(offset_of!(Switch, to), &switch.to.to_ne_bytes());
    put(offset_of!(Switch, reason), &switch.reason.to_ne_bytes());
    put(offset_of!(Switch, site), &switch.site.to_ne_bytes());
    bytes
}

fn decode_switch(bytes: &[u8]) -> Switch {
    let bytes = Bytes(bytes);
    Switch {
        tick: bytes.u64(offset_of!(Switch, tick)),
        from: bytes.u32(offset_of!(Switch, from)),
        to: bytes.u32(offset_of!(Switch, to)),
        reason: bytes.u32(offset_of!(Switch, reason)),
        site: bytes.u32(offset_of!(Switch, site)),
    }
}

fn decode_choice(bytes: &[u8]) -> Choice {
    let bytes = Bytes(bytes);
    Choice {
        alternatives: bytes.u32(offset_of!(Choice, alternatives)),
        chosen: bytes.u32(offset_of!(Choice, chosen)),
        free: bytes.u32(offset_of!(Choice, free)),
        thread: bytes.u32(offset_of!(Choice, thread)),
    }
}

fn decode_thread(bytes: &[u8]) -> ThreadRecord {
    let bytes = Bytes(bytes);
    let mut stack = [0; wire::STACK_DEPTH];
    for (index, entry) in stack.iter_mut().enumerate() {
        *entry = bytes.u64(offset_of!(ThreadRecord, stack) + index * size_of::<u64>());
    }
    ThreadRecord {
        state: bytes.u32(offset_of!(ThreadRecord, state)),
        wait_kind: bytes.u32(offset_of!(ThreadRecord, wait_kind)),
        wait_object: bytes.u64(offset_of!(ThreadRecord, wait_object)),
        held_by: bytes.u32(offset_of!(ThreadRecord, held_by)),
        os_tid: bytes.u32(offset_of!(ThreadRecord, os_tid)),
        tick: bytes.u64(offset_of!(ThreadRecord, tick)),
        visible: bytes.u64(offset_of!(ThreadRecord, visible)),
        stack_len: bytes
            .u64(offset_of!(ThreadRecord, stack_len))
            .min(wire::STACK_DEPTH as u64),
        stack,
    }
}

/// The file of an image; empty if it is not known.
fn image_path(bytes: Bytes<'_>, index: usize) -> PathBuf {
    let at = offset_of!(Control, image_paths) + index * size_of::<ImagePath>();
    let len = bytes.u64(at + offset_of!(ImagePath, len)) as usize;
    let start = at + offset_of!(ImagePath, bytes);
    let text = bytes.0.get(start..start + len.min(wire::IMAGE_PATH_BYTES));
    PathBuf::from(OsStr::from_bytes(text.unwrap_or_default()))
}

/// The name of a call that was not recorded.
fn uncovered(bytes: Bytes<'_>) -> Option<String> {
    let name: [u8; wire::UNCOVERED_BYTES] = bytes.array(offset_of!(Control, uncovered));
    let len = name.iter().position(|it| *it == 0).unwrap_or(name.len());
    (len > 0).then(|| String::from_utf8_lossy(&name[..len]).into_owned())
}

fn decode_outcome(bytes: Bytes<'_>, at: usize) -> wire::Outcome {
    wire::Outcome {
        kind: bytes.u32(at + offset_of!(wire::Outcome, kind)),
        thread: bytes.u32(at + offset_of!(wire::Outcome, thread)),
        tick: bytes.u64(at + offset_of!(wire::Outcome, tick)),
        object: bytes.u64(at + offset_of!(wire::Outcome, object)),
        code: bytes.u64(at + offset_of!(wire::Outcome, code)),
        pc: bytes.u64(at + offset_of!(wire::Outcome, pc)),
        message_len: bytes.u64(at + offset_of!(wire::Outcome, message_len)),
        message: bytes.array(at + offset_of!(wire::Outcome, message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders<'a>(flags: u32, schedule: &'a [Switch]) -> Orders<'a> {
        Orders {
            flags,
            seed: 7,
            strategy: wire::StrategyKind::Replay,
            depth: 3,
            expected: 9,
            clock: Clock {
                start_ns: 1,
                ns_per_tick: 100,
            },
            preempted_ns: 0,
            most_ticks: 0,
            visible: &[0b101],
            schedule,
            choices: &[4, 5],
            weights: &[6],
            inputs_in: Vec::new(),
            inputs_out: b"/log\0".to_vec(),
            stop_signal: 15,
        }
    }

    fn field(control: &ControlFile, at: usize) -> u64 {
        let mut bytes = [0; 8];
        control.file.read_exact_at(&mut bytes, at as u64).unwrap();
        u64::from_ne_bytes(bytes)
    }

    #[test]
    fn what_is_ordered_stands_where_the_runtime_looks() {
        let switch = Switch {
            tick: 11,
            from: 1,
            to: 2,
            reason: 3,
            site: 4,
        };
        let control = ControlFile::create(&orders(wire::flags::RECORD, &[switch])).unwrap();
        assert_eq!(field(&control, 0), wire::CONTROL_MAGIC);
        assert_eq!(field(&control, offset_of!(Control, seed)), 7);
        let region = offset_of!(Control, schedule_in);
        assert_eq!(field(&control, region + 8), size_of::<Switch>() as u64);
        let at = field(&control, region);
        assert_eq!(at % PAGE, 0);
        let mut bytes = [0; size_of::<Switch>()];
        control.file.read_exact_at(&mut bytes, at).unwrap();
        assert_eq!(decode_switch(&bytes), switch);
    }

    #[test]
    fn counts_of_a_wild_program_are_clamped() {
        let control = ControlFile::create(&orders(0, &[])).unwrap();
        let wild = vec![0xff; size_of::<Control>() - offset_of!(Control, sites_len)];
        let at = offset_of!(Control, sites_len) as u64;
        control.file.write_all_at(&wild, at).unwrap();
        let head = control.head().unwrap();
        assert_eq!(head.sites_len, SITES_BYTES);
        assert_eq!(head.images.len(), wire::MAX_IMAGES);
        assert_eq!(head.thread_count as usize, wire::MAX_THREADS);
        assert_eq!(control.threads(&head).unwrap().len(), wire::MAX_THREADS);
    }
}

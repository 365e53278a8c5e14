//! The memory file shared with the launcher.

use core::ptr::{null_mut, slice_from_raw_parts_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

use raddle_trace::wire::{
    CONTROL_MAGIC, Control, ImagePath, MAX_IMAGES, MESSAGE_BYTES, Outcome, OutcomeKind,
    PANIC_JOINED, Region, WIRE_VERSION,
};

use crate::sys;

static CONTROL: AtomicPtr<Control> = AtomicPtr::new(null_mut());
static mut SOCKET: i32 = -1;

/// The head of the memory file, or null in a program that no launcher controls.
pub fn get() -> *mut Control {
    CONTROL.load(Ordering::Relaxed)
}

/// Forgets the launcher: in a child process.
pub fn detach() {
    CONTROL.store(null_mut(), Ordering::Relaxed);
}

/// The stream to the launcher.
pub fn socket() -> i32 {
    // SAFETY: written once, before any thread exists.
    unsafe { SOCKET }
}

/// Switches made so far: with a thread's tick they name a place even where it waits.
pub fn switches() -> u64 {
    // SAFETY: the head stays mapped.
    unsafe { (*get()).switch_count }
}

/// Maps the memory file if the environment names one. Returns whether there is a launcher.
pub fn attach(memory: i32, socket: i32) -> bool {
    let head = sys::map_shared(memory, 0, size_of::<Control>() as u64).cast::<Control>();
    if head.is_null() {
        return false;
    }
    // SAFETY: the launcher made the file at least as long as `Control`.
    let (magic, version) = unsafe { ((*head).magic, (*head).version) };
    if magic != CONTROL_MAGIC || version != WIRE_VERSION {
        sys::write(
            2,
            b"raddle: the launcher speaks another version than this runtime; rebuild the program\n",
        );
        sys::exit_process(1);
    }
    // SAFETY: no other thread exists yet.
    unsafe { SOCKET = socket };
    CONTROL.store(head, Ordering::Relaxed);
    true
}

/// Maps a region of the memory file as an array. Empty regions give an empty slice.
pub fn map_region<T>(memory: i32, region: Region) -> *mut [T] {
    let count = region.len as usize / size_of::<T>();
    if count == 0 {
        return slice_from_raw_parts_mut(core::ptr::NonNull::<T>::dangling().as_ptr(), 0);
    }
    map_part(memory, region, count)
}

/// The same of as much of a large region as a limit of the address space leaves room for: this share of it.
pub fn map_region_within<T>(memory: i32, region: Region, share: u64) -> *mut [T] {
    let len = sys::within_limit(region.len, share);
    map_part(memory, region, len as usize / size_of::<T>())
}

fn map_part<T>(memory: i32, region: Region, count: usize) -> *mut [T] {
    let bytes = (count * size_of::<T>()) as u64;
    // What follows must not lie elsewhere because of a limit.
    let start = sys::map_shared_within(memory, region.offset, bytes, region.len);
    if start.is_null() {
        no_room(bytes);
    }
    slice_from_raw_parts_mut(start.cast(), count)
}

/// Notes an image's site section. Its copy goes to `sites`.
pub fn add_image(sites: *mut [u64], start: *const u8, len: usize) {
    let control = get();
    if control.is_null() {
        return;
    }
    // SAFETY: the control head is mapped for the process's life; images load one at a time under
    // the loader's lock; `start..start+len` is the image's own section.
    unsafe {
        let index = (*control).image_count as usize;
        let offset = (*control).sites_len as usize;
        if index >= MAX_IMAGES || offset + len > sites.len() * 8 {
            fail_start("more instrumented images or sites than the runtime holds");
        }
        core::ptr::copy_nonoverlapping(start, sites.cast::<u8>().add(offset), len);
        let image = &mut (*control).images[index];
        image.start = start as u64;
        image.len = len as u64;
        image.offset = offset as u64;
        note_path(&mut (*control).image_paths[index], start);
        (*control).sites_len = (offset + len) as u64;
        (*control).image_count = index as u32 + 1;
    }
}

/// Notes the file of the image in which `address` lies.
fn note_path(path: &mut ImagePath, address: *const u8) {
    // SAFETY: the loader fills in the structure, and its strings live as long as the image.
    let name = unsafe {
        let mut found: libc::Dl_info = core::mem::zeroed();
        if libc::dladdr(address.cast(), &raw mut found) == 0 || found.dli_fname.is_null() {
            return;
        }
        core::ffi::CStr::from_ptr(found.dli_fname).to_bytes()
    };
    if let Some(place) = path.bytes.get_mut(..name.len()) {
        place.copy_from_slice(name);
        path.len = name.len() as u64;
    }
}

/// Ends the program because there is no address space for so many bytes.
pub fn no_room(bytes: u64) -> ! {
    const BEFORE: &[u8] = b"the runtime needs ";
    const AFTER: &[u8] = b" MiB of address space that it does not get. Raise the limit (`ulimit -v`, RLIMIT_AS), or remove it";
    const MOST_DIGITS: usize = 20;
    let mut digits = [0; MOST_DIGITS];
    let mut first = MOST_DIGITS;
    let mut rest = bytes.div_ceil(1 << 20);
    while first == MOST_DIGITS || rest > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let mut message = [0; BEFORE.len() + MOST_DIGITS + AFTER.len()];
    let mut len = 0;
    for part in [BEFORE, &digits[first..], AFTER] {
        message[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    }
    let message = &message[..len];
    set_outcome(OutcomeKind::Surroundings, 0, 0, 0, 0, 0, message);
    sys::write(2, b"raddle: ");
    sys::write(2, message);
    sys::write(2, b"\n");
    sys::exit_process(1);
}

/// Ends the program because the runtime cannot serve it.
pub fn fail_start(why: &str) -> ! {
    set_outcome(OutcomeKind::Internal, 0, 0, 0, 0, 0, why.as_bytes());
    sys::write(2, b"raddle: ");
    sys::write(2, why.as_bytes());
    sys::write(2, b"\n");
    sys::exit_process(1);
}

/// The program goes on after a panic of this thread: if that was how the run failed, it has not.
pub fn forget_panic(thread: u32) {
    if let Some(outcome) = panic_of(thread) {
        outcome.kind = OutcomeKind::None as u32;
    }
}

/// Somebody has joined a thread. If its panic is how the run failed, they know of it now.
pub fn note_join(thread: u32) {
    if let Some(outcome) = panic_of(thread) {
        outcome.code = PANIC_JOINED;
    }
}

fn panic_of(thread: u32) -> Option<&'static mut Outcome> {
    let control = get();
    if control.is_null() {
        return None;
    }
    // SAFETY: mapped for the process's life; one thread runs at a time.
    let outcome = unsafe { &mut (*control).outcome };
    let is_its = outcome.kind == OutcomeKind::Panic as u32 && outcome.thread == thread;
    is_its.then_some(outcome)
}

/// Writes how the run failed, unless that was written already. Returns whether it was written now.
pub fn set_outcome(
    kind: OutcomeKind,
    thread: u32,
    tick: u64,
    object: u64,
    code: u64,
    pc: u64,
    message: &[u8],
) -> bool {
    let control = get();
    if control.is_null() {
        return false;
    }
    // SAFETY: mapped for the process's life; one thread runs at a time.
    let outcome = unsafe { &mut (*control).outcome };
    if outcome.kind != OutcomeKind::None as u32 {
        return false;
    }
    outcome.thread = thread;
    outcome.tick = tick;
    outcome.object = object;
    outcome.code = code;
    outcome.pc = pc;
    let len = message.len().min(MESSAGE_BYTES);
    outcome.message[..len].copy_from_slice(&message[..len]);
    outcome.message_len = len as u64;
    outcome.kind = kind as u32;
    true
}

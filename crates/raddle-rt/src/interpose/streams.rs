//! libc's streams (`FILE`) over descriptors whose contents are the outside's.
//!
//! libc reads for its streams by itself, where nobody sees it. So a stream that takes something in from
//! outside is made with `fopencookie` here, over functions that call the interposed `read`, `write`,
//! `lseek` and `close`; it says the same descriptor to `fileno`. Streams of what was given to the run,
//! and those that only write, are libc's own.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;

use libc::{FILE, size_t, ssize_t};
use raddle_trace::wire::InputCall;

use super::descriptors::{Kind, kind, set_kind};
use super::files::open_file;
use super::outside::{Question, ask, ask_and_wait};
use super::proc_paths::KernelPath;
use crate::call::Call;
use crate::inputs::{self, Part};
use crate::lock::Lock;
use crate::real;
use crate::stack::caller;
use crate::sys;
use crate::tls;

#[repr(C)]
struct Functions {
    read: extern "C" fn(*mut c_void, *mut c_void, size_t) -> ssize_t,
    write: extern "C" fn(*mut c_void, *const c_void, size_t) -> ssize_t,
    seek: extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int,
    close: extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
    fn read(fd: c_int, buffer: *mut c_void, len: size_t) -> ssize_t;
    fn write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn close(fd: c_int) -> c_int;
}

/// Where glibc's `FILE` has its descriptor.
const DESCRIPTOR_AT: usize = 112;

extern "C" fn take(cookie: *mut c_void, buffer: *mut c_void, len: size_t) -> ssize_t {
    // SAFETY: as libc called; the cookie is the descriptor.
    unsafe { read(cookie as usize as c_int, buffer, len) }
}

extern "C" fn give(cookie: *mut c_void, buffer: *const c_void, len: size_t) -> ssize_t {
    // SAFETY: as libc called. An error is 0 to libc.
    unsafe { write(cookie as usize as c_int, buffer, len) }.max(0)
}

extern "C" fn seek(cookie: *mut c_void, offset: *mut i64, whence: c_int) -> c_int {
    // SAFETY: as libc called.
    unsafe {
        let result = lseek(cookie as usize as c_int, *offset, whence);
        if result < 0 {
            return -1;
        }
        *offset = result;
    }
    0
}

extern "C" fn shut(cookie: *mut c_void) -> c_int {
    // SAFETY: as libc called.
    unsafe { close(cookie as usize as c_int) }
}

/// A stream over a descriptor.
fn over(fd: c_int, mode: *const c_char) -> *mut FILE {
    let functions = Functions {
        read: take,
        write: give,
        seek,
        close: shut,
    };
    // SAFETY: the mode is the program's; the stream is libc's and has its descriptor there.
    unsafe {
        let stream = fopencookie(fd as usize as *mut c_void, mode, functions);
        if !stream.is_null() {
            let place = stream.cast::<u8>().add(DESCRIPTOR_AT).cast::<c_int>();
            place.write(fd);
        }
        stream
    }
}

/// The flags of `open` for a mode that only reads; none for another.
fn reads_only(mode: *const c_char) -> Option<c_int> {
    // SAFETY: the program passed a mode.
    let mode = unsafe { CStr::from_ptr(mode) }.to_bytes();
    let plain = mode.first() == Some(&b'r') && !mode.contains(&b'+') && !mode.contains(&b',');
    let close_on_exec = if mode.contains(&b'e') {
        libc::O_CLOEXEC
    } else {
        0
    };
    plain.then_some(libc::O_RDONLY | close_on_exec)
}

fn open_stream(pc: u64, path: *const c_char, mode: *const c_char) -> *mut FILE {
    let flags = reads_only(mode).filter(|_| !tls::me().is_null());
    let Some(flags) = flags else {
        return real::fopen(path, mode);
    };
    match open_file(pc, flags, |flags| {
        real::open(KernelPath::of(path).get(), flags, 0)
    }) {
        fd @ 0.. => over(fd, mode),
        _ => core::ptr::null_mut(),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    open_stream(caller(), path, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    open_stream(caller(), path, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    let own = match kind(fd) {
        Kind::Given => true,
        Kind::Absent => false,
        Kind::Shadow => reads_only(mode).is_none(),
    };
    if own || tls::me().is_null() {
        real::fdopen(fd, mode)
    } else {
        over(fd, mode)
    }
}

/// Gives a stream another file, which libc does on the spot, so that the stream stays libc's own. What a file
/// that is only read has in it goes to the log at once; in a replay the stream gets a copy of it.
fn reopen(pc: u64, path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE {
    if tls::me().is_null() || path.is_null() || reads_only(mode).is_none() {
        return real::freopen(path, mode, stream);
    }
    let again = inputs::answers();
    let mut len = 0u64;
    let len_at = &raw mut len;
    let question = Question::general(pc, InputCall::Open);
    let result = ask(
        question,
        || {
            if real::freopen(path, mode, stream).is_null() {
                return -1;
            }
            // SAFETY: a place of this frame; the stream is the program's.
            unsafe { *len_at = sys::len_of(libc::fileno(stream)) };
            0
        },
        |_| [Part::of(len_at)],
    );
    if result != 0 {
        if again {
            // SAFETY: the recorded run's stream was closed as well.
            within(pc, || unsafe {
                libc::fclose(stream);
            });
        }
        return core::ptr::null_mut();
    }
    copy_contents(pc, path, mode, stream, len);
    stream
}

/// Bytes that are looked for in a file that does not say how long it is.
const UNKNOWN_LEN: u64 = 1 << 16;

/// Records what the file of a stream has in it, or, in a replay, gives the stream a copy of that. What cannot be read
/// from the start, a terminal, say, is not recorded.
fn copy_contents(pc: u64, path: *const c_char, mode: *const c_char, stream: *mut FILE, len: u64) {
    let room = if len == 0 { UNKNOWN_LEN } else { len };
    let (protection, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    let memory = match real::mmap(null_mut(), room as size_t, protection, flags, -1, 0) {
        libc::MAP_FAILED => null_mut(),
        memory => memory,
    };
    // SAFETY: the stream is the program's.
    let fd = unsafe { libc::fileno(stream) };
    let again = inputs::answers();
    let read = || match memory.is_null() {
        true => -1,
        false => real::pread(fd, memory, room as size_t, 0) as i64,
    };
    let got = ask(Question::general(pc, InputCall::Map), read, |got| {
        [Part::new(memory, got.clamp(0, room as i64) as usize)]
    });
    if got < 0 || (len == 0 && got as u64 == room) {
        inputs::note_uncovered("freopen");
    }
    if again {
        within(pc, || match got {
            0.. if !memory.is_null() => {
                give_copy(stream, mode, memory, got.min(room as i64) as size_t)
            }
            _ => {
                real::freopen(path, mode, stream);
            }
        });
    }
    if !memory.is_null() {
        sys::unmap(memory as u64, room);
    }
}

/// Does in a replay what libc did within a recorded call: what it allocates there is no event.
fn within(pc: u64, act: impl FnOnce()) {
    if let Some(call) = Call::enter_hook(pc) {
        act();
        call.leave();
    }
}

/// Gives a stream a file in memory with these contents.
fn give_copy(stream: *mut FILE, mode: *const c_char, contents: *const c_void, len: size_t) {
    let file = real::memfd_create(c"raddle".as_ptr(), 0);
    let mut path = [0; 32];
    // SAFETY: the text fits; contents and stream are the caller's.
    unsafe {
        libc::snprintf(
            path.as_mut_ptr(),
            path.len(),
            c"/proc/self/fd/%d".as_ptr(),
            file,
        );
        real::pwrite(file, contents, len, 0);
        real::freopen(path.as_ptr(), mode, stream);
    }
    real::close(file);
}

macro_rules! reopens {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            path: *const c_char,
            mode: *const c_char,
            stream: *mut FILE,
        ) -> *mut FILE {
            reopen(caller(), path, mode, stream)
        }
    )*};
}

reopens!(freopen, freopen64);

// ---- helpers ----

/// Most helpers that are read from at the same time.
const MOST_HELPERS: usize = 64;

/// The stream that the program has, and libc's own, of each helper.
static HELPERS: Lock<[(usize, usize); MOST_HELPERS]> = Lock::new([(0, 0); MOST_HELPERS]);

/// A replay runs the helper too, because what it does besides may be part of the run; what comes through
/// the pipe is recorded.
#[unsafe(no_mangle)]
unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    let own = real::popen(command, mode);
    if own.is_null() || reads_only(mode).is_none() || tls::me().is_null() {
        return own;
    }
    // SAFETY: libc has just made the stream.
    let fd = unsafe { libc::fileno(own) };
    set_kind(fd, Kind::Shadow);
    let stream = over(fd, mode);
    let mut helpers = HELPERS.lock();
    match helpers.iter_mut().find(|it| it.0 == 0) {
        Some(place) if !stream.is_null() => {
            *place = (stream as usize, own as usize);
            stream
        }
        _ => own,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pclose(stream: *mut FILE) -> c_int {
    let mut own = stream;
    {
        let mut helpers = HELPERS.lock();
        if let Some(place) = helpers.iter_mut().find(|it| it.0 == stream as usize) {
            own = place.1 as *mut FILE;
            *place = (0, 0);
        }
    }
    if own != stream {
        // The descriptor is closed once, by the stream that libc made.
        // SAFETY: the stream is the program's, with a descriptor of its own from here on.
        unsafe {
            let fd = libc::fileno(own);
            let copy = real::dup(fd);
            libc::fclose(stream);
            real::dup2(copy, fd);
            real::close(copy);
        }
    }
    await_helper(caller(), || real::pclose(own))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn system(command: *const c_char) -> c_int {
    await_helper(caller(), || real::system(command))
}

/// Waits for a helper, which a replay has too; what came of it is recorded.
fn await_helper(pc: u64, act: impl Fn() -> c_int) -> c_int {
    let question = Question::general(pc, InputCall::Child).repeating();
    ask_and_wait(question, || None, || i64::from(act()), |_| []) as c_int
}

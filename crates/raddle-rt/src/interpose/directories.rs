//! Directories: their entries, in the order in which the file system gives them, are the outside's.
//!
//! libc reads directories by itself, so its functions are stood in for. An entry is handed out in a place
//! of the runtime's own, which is the same in a replay.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

use libc::{DIR, dirent64};
use raddle_trace::wire::InputCall;

use super::outside::{Question, ask};
use super::proc_paths::KernelPath;
use crate::call::Call;
use crate::inputs::{self, Part};
use crate::lock::Lock;
use crate::real;
use crate::stack::caller;
use crate::sys;

/// Most directories that are open at the same time and have places of their own.
const MOST: usize = 64;

/// A directory, and the entry that was read last.
struct Place {
    dir: *mut DIR,
    entry: dirent64,
}

/// The directories that are open.
struct Places(*mut Place);

static PLACES: Lock<Places> = Lock::new(Places(null_mut()));

impl Places {
    /// The place of a directory, or of none; null if there is no such place.
    fn find(&mut self, dir: *mut DIR) -> *mut Place {
        if self.0.is_null() {
            self.0 = sys::map_own((MOST * size_of::<Place>()) as u64).cast();
        }
        let all = (0..MOST).filter(|_| !self.0.is_null());
        // SAFETY: within the mapping; zeros are a place of no directory.
        let mut places = all.map(|at| unsafe { self.0.add(at) });
        // SAFETY: as above.
        places
            .find(|it| unsafe { (**it).dir } == dir)
            .unwrap_or(null_mut())
    }
}

/// Opens a directory with `act`. Something has to stand behind the handle in a replay: the same
/// directory, or another.
fn open_with(pc: u64, act: impl Fn() -> *mut DIR) -> *mut DIR {
    let question = Question::general(pc, InputCall::Directory);
    let opened = core::cell::Cell::new(null_mut::<DIR>());
    let mut fd: c_int = -1;
    let place = &raw mut fd;
    let record = || {
        let dir = act();
        opened.set(dir);
        if dir.is_null() {
            return -1;
        }
        // SAFETY: libc has just made the directory; the place is ours.
        unsafe { *place = libc::dirfd(dir) };
        0
    };
    let result = ask(question, record, |_| [Part::of(place)]);
    let mut dir = opened.get();
    if result == 0
        && dir.is_null()
        && let Some(call) = Call::enter_hook(pc)
    {
        dir = act();
        if dir.is_null() {
            dir = real::opendir(c"/".as_ptr());
        }
        call.leave();
    }
    if result != 0 || dir.is_null() {
        return null_mut();
    }
    // SAFETY: glibc's `DIR` begins with its descriptor.
    unsafe {
        let current = dir.cast::<c_int>();
        if *current != fd && fd >= 0 && !inputs::is_own(fd) {
            *current = sys::move_descriptor(*current, fd, libc::O_CLOEXEC);
        }
        if let Some(free) = PLACES.lock().find(null_mut()).as_mut() {
            free.dir = dir;
        }
    }
    dir
}

#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    open_with(caller(), || real::opendir(KernelPath::of(path).get()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdopendir(fd: c_int) -> *mut DIR {
    open_with(caller(), || real::fdopendir(fd))
}

fn read_with(pc: u64, dir: *mut DIR) -> *mut c_void {
    let place = PLACES.lock().find(dir);
    if place.is_null() || dir.is_null() {
        inputs::note_uncovered("readdir");
        return real::readdir64(dir).cast();
    }
    // SAFETY: the place stays mapped; a directory is read by one thread at a time.
    let entry = unsafe { &raw mut (*place).entry };
    let act = || {
        let found = real::readdir64(dir);
        if found.is_null() {
            return 0;
        }
        // SAFETY: libc gave an entry of that length, which is at most that of the structure.
        unsafe {
            let len = usize::from((*found).d_reclen).min(size_of::<dirent64>());
            core::ptr::copy_nonoverlapping(found.cast::<u8>(), entry.cast::<u8>(), len);
        }
        1
    };
    let question = Question::general(pc, InputCall::Directory);
    if ask(question, act, |_| [Part::of(entry)]) == 1 {
        entry.cast()
    } else {
        null_mut()
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readdir(dir: *mut DIR) -> *mut c_void {
    read_with(caller(), dir)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readdir64(dir: *mut DIR) -> *mut c_void {
    read_with(caller(), dir)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(dir: *mut DIR) -> c_int {
    // SAFETY: the place stays mapped.
    if let Some(place) = unsafe { PLACES.lock().find(dir).as_mut() } {
        place.dir = null_mut();
    }
    real::closedir(dir)
}

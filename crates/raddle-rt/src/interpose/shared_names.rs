//! Shared memory by a name that is made of the process's id, to be the process's own.
//!
//! OpenMP's library (libomp, libiomp5) registers itself under such a name, so that two copies of it in one process notice
//! each other. The id that the program is shown is that of other runs with the same seed, too, on this machine at
//! the same time or before, which may have been ended before they could unregister: the library would take their
//! registration for one of this process, and look whether what it says is true. So these objects are made in
//! memory that no other process knows. Other names stay as they are: helpers may be told them.

use core::ffi::{CStr, c_char, c_int};

use super::identity::own_pid;
use crate::call::set_errno;
use crate::lock::Lock;
use crate::real;
use crate::sys;

/// What the names begin with.
const PREFIX: &[u8] = b"/__KMP_REGISTERED_LIB_";
/// Bytes of the longest name.
const NAME_BYTES: usize = 64;
/// Most objects at a time.
const MOST: usize = 4;
/// Descriptors that keep objects alive have at least the first of these numbers that the process's limit allows, so that
/// the program's own are the ordinary ones.
const KEPT_FROM: [c_int; 3] = [512, 64, 0];

/// An object: its name and the descriptor that keeps it.
#[derive(Clone, Copy)]
struct Object {
    name: [u8; NAME_BYTES],
    kept: c_int,
}

static OBJECTS: Lock<[Option<Object>; MOST]> = Lock::new([None; MOST]);

/// A name that is treated here, filled up with NULs.
fn own_name(name: *const c_char) -> Option<[u8; NAME_BYTES]> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the program passed a NUL-terminated name.
    let given = unsafe { CStr::from_ptr(name) }.to_bytes();
    let mut bytes = [0; NAME_BYTES];
    let room = bytes.get_mut(..given.len())?;
    room.copy_from_slice(given);
    given.starts_with(PREFIX).then_some(bytes)
}

/// Opens an object; a negative number is an error.
fn open(name: [u8; NAME_BYTES], flags: c_int) -> c_int {
    let mut objects = OBJECTS.lock();
    let known = objects.iter().flatten().find(|it| it.name == name);
    if let Some(object) = known {
        let exclusive = libc::O_CREAT | libc::O_EXCL;
        return match flags & exclusive == exclusive {
            true => -libc::EEXIST,
            false => sys::dup_above(object.kept, 0),
        };
    }
    if flags & libc::O_CREAT == 0 {
        return -libc::ENOENT;
    }
    let Some(free) = objects.iter_mut().find(|it| it.is_none()) else {
        return -libc::EMFILE;
    };
    let fd = real::memfd_create(c"raddle-registration".as_ptr(), libc::MFD_CLOEXEC);
    let copy = |from: &c_int| Some(sys::dup_above(fd, *from)).filter(|it| *it >= 0);
    match KEPT_FROM.iter().find_map(copy) {
        Some(kept) => *free = Some(Object { name, kept }),
        None => {
            sys::close(fd);
            return -libc::EMFILE;
        }
    }
    fd
}

#[unsafe(no_mangle)]
unsafe extern "C" fn shm_open(name: *const c_char, flags: c_int, mode: u32) -> c_int {
    let Some(own) = own_name(name).filter(|_| own_pid().is_some()) else {
        return real::shm_open(name, flags, mode);
    };
    match open(own, flags) {
        fd @ 0.. => fd,
        error => {
            set_errno(-error);
            -1
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn shm_unlink(name: *const c_char) -> c_int {
    let Some(own) = own_name(name) else {
        return real::shm_unlink(name);
    };
    let mut objects = OBJECTS.lock();
    let known = |it: &&mut Option<Object>| it.is_some_and(|it| it.name == own);
    match objects.iter_mut().find(known).and_then(Option::take) {
        Some(object) => {
            sys::close(object.kept);
            0
        }
        None => {
            drop(objects);
            real::shm_unlink(name)
        }
    }
}

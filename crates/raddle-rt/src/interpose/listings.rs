//! Functions of libc's that go through directories by themselves, made of the recorded ones.
//!
//! `scandir` is written anew; `glob` lets itself be given the functions that it reads directories with.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

use libc::{DIR, dirent64};

use crate::call::{errno, set_errno};
use crate::real;
use crate::tls;

type Filter = extern "C" fn(*const dirent64) -> c_int;
type Order = unsafe extern "C" fn(*const c_void, *const c_void) -> c_int;

unsafe extern "C" {
    fn opendir(path: *const c_char) -> *mut DIR;
    fn readdir64(dir: *mut DIR) -> *mut c_void;
    fn closedir(dir: *mut DIR) -> c_int;
    fn lstat(path: *const c_char, place: *mut libc::stat) -> c_int;
    fn stat(path: *const c_char, place: *mut libc::stat) -> c_int;
}

/// Entries of a directory, as `scandir` hands them out: each, and the list of them, a block of the program's heap.
struct Listing {
    entries: *mut *mut dirent64,
    count: usize,
    room: usize,
}

impl Listing {
    /// Adds a copy of an entry. False if there is no memory.
    unsafe fn add(&mut self, entry: *const dirent64) -> bool {
        // SAFETY: the entry is as long as it says; blocks of the program's heap.
        unsafe {
            if self.count == self.room {
                let room = (2 * self.room).max(16);
                let bytes = room * size_of::<*mut dirent64>();
                let entries = libc::realloc(self.entries.cast(), bytes);
                if entries.is_null() {
                    return false;
                }
                (self.entries, self.room) = (entries.cast(), room);
            }
            let len = usize::from((*entry).d_reclen).min(size_of::<dirent64>());
            let copy = libc::malloc(len).cast::<u8>();
            if copy.is_null() {
                return false;
            }
            core::ptr::copy_nonoverlapping(entry.cast::<u8>(), copy, len);
            self.entries.add(self.count).write(copy.cast());
        }
        self.count += 1;
        true
    }

    unsafe fn free(self) {
        // SAFETY: the blocks that were made above.
        unsafe {
            for at in 0..self.count {
                libc::free((*self.entries.add(at)).cast());
            }
            libc::free(self.entries.cast());
        }
    }
}

unsafe fn list(
    directory: *const c_char,
    place: *mut *mut *mut dirent64,
    filter: Option<Filter>,
    order: Option<Order>,
) -> c_int {
    // SAFETY: as the program called; entries are used before the next one is read.
    unsafe {
        let dir = opendir(directory);
        if dir.is_null() {
            return -1;
        }
        let mut listing = Listing {
            entries: null_mut(),
            count: 0,
            room: 0,
        };
        let mut complete = true;
        while complete {
            let entry = readdir64(dir).cast::<dirent64>();
            if entry.is_null() {
                break;
            }
            if filter.is_none_or(|wants| wants(entry) != 0) {
                complete = listing.add(entry);
            }
        }
        closedir(dir);
        if !complete {
            listing.free();
            set_errno(libc::ENOMEM);
            return -1;
        }
        if let Some(order) = order.filter(|_| listing.count > 1) {
            let size = size_of::<*mut dirent64>();
            libc::qsort(listing.entries.cast(), listing.count, size, Some(order));
        }
        *place = listing.entries;
        listing.count as c_int
    }
}

macro_rules! scans {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            directory: *const c_char,
            place: *mut *mut *mut dirent64,
            filter: Option<Filter>,
            order: Option<Order>,
        ) -> c_int {
            let before = errno();
            // SAFETY: as the program called.
            let count = unsafe { list(directory, place, filter, order) };
            if count >= 0 {
                set_errno(before);
            }
            count
        }
    )*};
}

scans!(scandir, scandir64);

/// glibc's `glob_t`.
#[repr(C)]
struct Found {
    count: usize,
    paths: *mut *mut c_char,
    offset: usize,
    flags: c_int,
    functions: [*const c_void; 5],
}

/// The flag that says that `functions` are used.
const OWN_FUNCTIONS: c_int = 1 << 9;

unsafe fn find(pattern: u64, flags: c_int, error: u64, found: *mut Found) -> c_int {
    if tls::me().is_null() || flags & OWN_FUNCTIONS != 0 || found.is_null() {
        return real::glob(pattern, flags as u64, error, found as u64);
    }
    // SAFETY: the program passed its structure.
    unsafe {
        let before = (*found).functions;
        (*found).functions = [
            closedir as unsafe extern "C" fn(*mut DIR) -> c_int as *const c_void,
            readdir64 as unsafe extern "C" fn(*mut DIR) -> *mut c_void as *const c_void,
            opendir as unsafe extern "C" fn(*const c_char) -> *mut DIR as *const c_void,
            lstat as unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int as *const c_void,
            stat as unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int as *const c_void,
        ];
        let flags = (flags | OWN_FUNCTIONS) as u64;
        let result = real::glob(pattern, flags, error, found as u64);
        (*found).functions = before;
        (*found).flags &= !OWN_FUNCTIONS;
        result
    }
}

macro_rules! globs {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(pattern: u64, flags: c_int, error: u64, found: *mut Found) -> c_int {
            // SAFETY: as the program called.
            unsafe { find(pattern, flags, error, found) }
        }
    )*};
}

globs!(glob, glob64);

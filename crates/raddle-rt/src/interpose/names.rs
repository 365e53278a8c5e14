//! Names of hosts: what `getaddrinfo` finds is the outside's.
//!
//! libc asks files and servers by itself, and allocates on the way. A replay asks nobody, so that what libc
//! allocates for itself goes to the heap of threads that are not scheduled, and the program gets a list that
//! is made here, in the same way in a replay.

use core::ffi::{c_char, c_int};
use core::ptr::null_mut;

use libc::addrinfo;
use raddle_trace::wire::InputCall;

use super::outside::{Question, ask_and_wait};
use crate::inputs::{NOTHING, Part};
use crate::real;
use crate::stack::caller;
use crate::tls;

/// Most addresses of one host that are kept.
const MOST: usize = 32;

/// An address as the log keeps it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Found {
    flags: c_int,
    family: c_int,
    kind: c_int,
    protocol: c_int,
    len: u32,
    /// Whether there is a canonical name, which the first address has.
    named: u32,
    address: [u8; 128],
}

const NAME_BYTES: usize = 256;

#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    result: *mut *mut addrinfo,
) -> c_int {
    let pc = caller();
    if tls::me().is_null() {
        return real::getaddrinfo(node, service, hints, result);
    }
    // SAFETY: plain data, for which zero is a value.
    let mut found: [Found; MOST] = unsafe { core::mem::zeroed() };
    let mut name = [0u8; NAME_BYTES];
    let mut count = 0usize;
    let (list, name_at, count_at) = (found.as_mut_ptr(), name.as_mut_ptr(), &raw mut count);
    let act = || {
        let mut theirs = null_mut();
        set_foreign(true);
        let error = real::getaddrinfo(node, service, hints, &raw mut theirs);
        // SAFETY: libc's list; our arrays.
        unsafe {
            let mut at = theirs;
            while error == 0 && !at.is_null() && *count_at < MOST {
                keep(&*at, &mut *list.add(*count_at), name_at);
                *count_at += 1;
                at = (*at).ai_next;
            }
        }
        if error == 0 {
            real::freeaddrinfo(theirs);
        }
        set_foreign(false);
        i64::from(error)
    };
    let parts = |error| match error {
        0 => [
            Part::of(count_at),
            Part::new(list, size_of::<[Found; MOST]>()),
            Part::new(name_at, NAME_BYTES),
        ],
        _ => [NOTHING; 3],
    };
    let question = Question::general(pc, InputCall::Name);
    let error = ask_and_wait(question, || None, act, parts) as c_int;
    if error == 0 {
        name[NAME_BYTES - 1] = 0;
        // SAFETY: the program passed a place for the list.
        unsafe { *result = make(&found[..count.min(MOST)], &name) };
    }
    error
}

/// Whether what the calling thread allocates is libc's own business.
fn set_foreign(foreign: bool) {
    // SAFETY: the thread's own record.
    if let Some(me) = unsafe { tls::me().as_mut() } {
        me.foreign = foreign;
        me.depth = foreign.into();
    }
}

/// Copies one of libc's addresses.
unsafe fn keep(theirs: &addrinfo, ours: &mut Found, name: *mut u8) {
    *ours = Found {
        flags: theirs.ai_flags,
        family: theirs.ai_family,
        kind: theirs.ai_socktype,
        protocol: theirs.ai_protocol,
        len: theirs.ai_addrlen.min(128),
        named: u32::from(!theirs.ai_canonname.is_null()),
        address: [0; 128],
    };
    // SAFETY: libc's address has that many bytes, and its name ends with a NUL.
    unsafe {
        let len = ours.len as usize;
        core::ptr::copy_nonoverlapping(theirs.ai_addr.cast(), ours.address.as_mut_ptr(), len);
        if !theirs.ai_canonname.is_null() {
            let len = libc::strlen(theirs.ai_canonname).min(NAME_BYTES - 1);
            core::ptr::copy_nonoverlapping(theirs.ai_canonname.cast(), name, len);
        }
    }
}

/// A list that libc's `freeaddrinfo` can free: each address behind its entry in one block.
fn make(found: &[Found], name: &[u8; NAME_BYTES]) -> *mut addrinfo {
    let mut first = null_mut::<addrinfo>();
    for it in found.iter().rev() {
        // SAFETY: a block of the program's heap that is long enough, or null.
        unsafe {
            let entry = libc::calloc(1, size_of::<addrinfo>() + 128).cast::<addrinfo>();
            let Some(made) = entry.as_mut() else {
                return first;
            };
            let address = entry.add(1).cast::<u8>();
            let len = it.len.min(128) as usize;
            core::ptr::copy_nonoverlapping(it.address.as_ptr(), address, len);
            made.ai_flags = it.flags;
            made.ai_family = it.family;
            made.ai_socktype = it.kind;
            made.ai_protocol = it.protocol;
            made.ai_addrlen = it.len;
            made.ai_addr = address.cast();
            made.ai_next = first;
            if it.named != 0 {
                made.ai_canonname = libc::strdup(name.as_ptr().cast());
            }
            first = entry;
        }
    }
    first
}

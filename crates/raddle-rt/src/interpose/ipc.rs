//! System V's shared memory, semaphores and message queues.
//!
//! The kernel numbers them as they come, over all processes, so that the numbers differ from run to run. The program is
//! shown numbers that follow from the order in which it asked for them.

use core::ffi::{c_int, c_void};

use libc::{key_t, size_t, ssize_t, timespec};

use super::numbers::Numbers;
use crate::inputs;
use crate::real;
use crate::tls;

/// Each kind has numbers of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    Semaphores,
    Queue,
}

static OBJECTS: Numbers<(Kind, c_int)> = Numbers::from(2_000_000);

/// The number that the program is shown for one of the kernel's, or for an error.
fn shown(kind: Kind, number: c_int) -> c_int {
    if number < 0 || tls::me().is_null() {
        return number;
    }
    let object = (kind, number);
    let known = OBJECTS.shown(object).or_else(|| OBJECTS.add(object));
    known.unwrap_or(number)
}

/// The kernel's number for one that the program was shown.
fn actual(shown: c_int) -> c_int {
    OBJECTS.actual(shown).map_or(shown, |(_, number)| number)
}

macro_rules! finds {
    ($($kind:ident => fn $name:ident(key: key_t $(, $arg:ident: $type:ty)*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(key: key_t $(, $arg: $type)*) -> c_int {
            shown(Kind::$kind, real::$name(key $(, $arg)*))
        }
    )*};
}

finds! {
    Memory => fn shmget(key: key_t, len: size_t, flags: c_int);
    Semaphores => fn semget(key: key_t, count: c_int, flags: c_int);
    Queue => fn msgget(key: key_t, flags: c_int);
}

macro_rules! uses {
    ($(fn $name:ident(number: c_int $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(number: c_int $(, $arg: $type)*) -> $result {
            real::$name(actual(number) $(, $arg)*)
        }
    )*};
}

uses! {
    fn shmat(number: c_int, address: *const c_void, flags: c_int) -> *mut c_void;
    fn shmctl(number: c_int, what: c_int, place: *mut c_void) -> c_int;
    fn semop(number: c_int, operations: *mut c_void, count: size_t) -> c_int;
    fn semtimedop(number: c_int, operations: *mut c_void, count: size_t, limit: *const timespec) -> c_int;
    fn semctl(number: c_int, index: c_int, what: c_int, argument: u64) -> c_int;
    fn msgsnd(number: c_int, message: *const c_void, len: size_t, flags: c_int) -> c_int;
    fn msgctl(number: c_int, what: c_int, place: *mut c_void) -> c_int;
}

/// What another process sends is not recorded.
#[unsafe(no_mangle)]
unsafe extern "C" fn msgrcv(
    number: c_int,
    message: *mut c_void,
    len: size_t,
    kind: i64,
    flags: c_int,
) -> ssize_t {
    inputs::note_uncovered("msgrcv");
    real::msgrcv(actual(number), message, len, kind, flags)
}

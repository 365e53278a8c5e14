//! malloc and its family, and C++ `operator new` and `delete`.
//!
//! Allocation is not a scheduling point: libc allocates while it holds locks of its own, and a
//! thread that is stopped there would stop everyone who prints.

use core::ffi::{c_int, c_void};

use libc::{EINVAL, ENOMEM, size_t};
use raddle_trace::wire::{Mark, OutcomeKind, ThreadState};

use crate::call::{Call, set_errno};
use crate::control;
use crate::heap::{self, Freed};
use crate::hooks;
use crate::sched::SCHED;
use crate::stack::caller;
use crate::tls;

/// Whether the calling thread's allocations are in the schedule's order.
fn scheduled() -> bool {
    let me = tls::me();
    if me.is_null() {
        // Before the first thread is registered, or nobody schedules at all.
        // SAFETY: the head stays mapped once it is.
        return control::get().is_null() || unsafe { (*control::get()).started == 0 };
    }
    // SAFETY: the thread's own record.
    let me = unsafe { &*me };
    !me.adrift && !me.foreign && !matches!(me.state, ThreadState::Ended | ThreadState::Outside)
}

fn allocate(pc: u64, size: size_t, align: size_t, zero: bool) -> *mut c_void {
    let block = heap::allocate(size as u64, align as u64, zero, scheduled());
    if block.address.is_null() {
        set_errno(ENOMEM);
        return core::ptr::null_mut();
    }
    if let Some(mut call) = Call::enter(pc) {
        call.mark_with(Mark::Alloc, block.address as u64, size as u64, block.serial);
        call.leave();
    }
    block.address.cast()
}

fn release(pc: u64, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    let has_turn = scheduled() && !tls::me().is_null();
    let position = has_turn.then(|| SCHED.lock().recorder.position(tls::cur()));
    let early = scheduled().then_some(0);
    match heap::release(address as u64, position.or(early)) {
        Freed::Live(size, serial) => {
            if let Some(mut call) = Call::enter(pc) {
                call.mark_with(Mark::Free, address as u64, size, serial);
                call.leave();
            }
        }
        Freed::Twice => die(OutcomeKind::DoubleFree, address, pc, b"freed twice"),
        Freed::Wild => die(
            OutcomeKind::InvalidFree,
            address,
            pc,
            b"free of what is not the start of an allocation",
        ),
        Freed::Foreign => {}
    }
}

/// Ends the program as libc's own allocator does.
fn die(kind: OutcomeKind, address: *mut c_void, pc: u64, why: &[u8]) -> ! {
    hooks::fail(kind, address as u64, pc, why);
    // SAFETY: takes no arguments.
    unsafe { libc::abort() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    allocate(caller(), size, 16, false)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(address: *mut c_void) {
    release(caller(), address);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: size_t, size: size_t) -> *mut c_void {
    match count.checked_mul(size) {
        Some(bytes) => allocate(caller(), bytes, 16, true),
        None => {
            set_errno(ENOMEM);
            core::ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(address: *mut c_void, size: size_t) -> *mut c_void {
    // SAFETY: as the program called.
    unsafe { reallocate(caller(), address, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(
    address: *mut c_void,
    count: size_t,
    size: size_t,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as the program called.
        Some(bytes) => unsafe { reallocate(caller(), address, bytes) },
        None => {
            set_errno(ENOMEM);
            core::ptr::null_mut()
        }
    }
}

/// Always moves, so that a pointer kept to the old block is a stale one.
unsafe fn reallocate(pc: u64, address: *mut c_void, size: size_t) -> *mut c_void {
    if address.is_null() {
        return allocate(pc, size, 16, false);
    }
    if size == 0 {
        release(pc, address);
        return core::ptr::null_mut();
    }
    let Some(old) = heap::size_of_payload(address as u64) else {
        die(
            OutcomeKind::InvalidFree,
            address,
            pc,
            b"realloc of what is not a live allocation",
        )
    };
    let new = allocate(pc, size, 16, false);
    if !new.is_null() {
        let copied = size.min(old as usize);
        // SAFETY: both are live and at least so long.
        unsafe { core::ptr::copy_nonoverlapping(address.cast::<u8>(), new.cast(), copied) };
        if let Some(mut call) = Call::enter(pc) {
            call.mark(Mark::CopyFrom, address as u64, copied as u64);
            call.mark(Mark::CopyTo, new as u64, copied as u64);
            call.leave();
        }
        release(pc, address);
    }
    new
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let address = allocate(caller(), size, align, false);
    if address.is_null() {
        return ENOMEM;
    }
    // SAFETY: the program passed a place for the address.
    unsafe { *place = address };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(align: size_t, size: size_t) -> *mut c_void {
    aligned(caller(), align, size)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(align: size_t, size: size_t) -> *mut c_void {
    aligned(caller(), align, size)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn valloc(size: size_t) -> *mut c_void {
    aligned(caller(), 4096, size)
}

fn aligned(pc: u64, align: size_t, size: size_t) -> *mut c_void {
    if !align.is_power_of_two() {
        set_errno(EINVAL);
        return core::ptr::null_mut();
    }
    allocate(pc, size, align, false)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(address: *mut c_void) -> size_t {
    heap::size_of_payload(address as u64).unwrap_or(0) as size_t
}

/// `operator new`: there is no exception to throw from here, and a run without memory is over.
fn must_allocate(pc: u64, size: size_t, align: size_t) -> *mut c_void {
    let address = allocate(pc, size, align, false);
    if address.is_null() {
        crate::sys::write(2, b"raddle: operator new: out of memory\n");
        // SAFETY: takes no arguments.
        unsafe { libc::abort() }
    }
    address
}

macro_rules! operator_new {
    ($($name:ident($($align:ident)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(size: size_t $(, $align: size_t)?) -> *mut c_void {
            let align = 16 $(.max($align))?;
            must_allocate(caller(), size, align)
        }
    )*};
}

macro_rules! operator_delete {
    ($($name:ident($($more:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(address: *mut c_void $(, $more: size_t)*) {
            $(let _ = $more;)*
            release(caller(), address);
        }
    )*};
}

operator_new! {
    _Znwm();
    _Znam();
    _ZnwmSt11align_val_t(align);
    _ZnamSt11align_val_t(align);
}

operator_delete! {
    _ZdlPv();
    _ZdaPv();
    _ZdlPvm(size);
    _ZdaPvm(size);
    _ZdlPvSt11align_val_t(align);
    _ZdaPvSt11align_val_t(align);
    _ZdlPvmSt11align_val_t(size, align);
    _ZdaPvmSt11align_val_t(size, align);
}

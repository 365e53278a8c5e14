//! Many runs for one start: the program waits at its beginning and forks for each run.
//!
//! When the runtime starts, every library is loaded and relocated and none of the program's own code
//! has run, so a child forked here goes on exactly as a fresh process would. What it finds is the same
//! to the last byte: its descriptors get the numbers that a started program's have, it works in the
//! directory that the launcher gives, leads a process group of its own, and the waiting happened on a
//! stack that is not the program's.
//!
//! The server makes one run at a time. It is the run's parent, so it alone can end it without
//! mistaking it for another process, and it does when the launcher says so or is gone. Where something
//! would not survive a fork, it declines, and the launcher starts a process for each run.

mod calls;

use core::cell::UnsafeCell;
use core::mem::offset_of;

use raddle_trace::wire::{
    Control, SERVE_DESCRIPTORS, ServeOrder, ServeReport, ServeReportKind, flags,
};

use crate::{proc, sys, tls};

/// Bytes of the stack on which the server works.
const STACK_BYTES: usize = 1 << 16;
/// Descriptors below this are looked at for some that a fork would share between runs.
const MOST_DESCRIPTORS: i32 = 1024;

/// A stack that is part of the library's image, so that it needs no mapping which a run would not have.
#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; STACK_BYTES]>);

// SAFETY: used once, by the only thread there is when the runtime starts.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; STACK_BYTES]));

/// libc's fork without handlers: none is registered yet, and it changes least.
type Fork = extern "C" fn() -> i32;

/// Returns in a process that is to be one run: at once if that is this one, else in a child for each
/// run that is ordered.
pub fn serve(memory: i32, socket: i32) {
    let top = STACK.0.get() as u64 + STACK_BYTES as u64;
    // The stack is changed in either case, so that both leave the same below the program's frames.
    // SAFETY: aligned, and nothing else ever uses it.
    unsafe { tls::on_stack(top, || serve_here(memory, socket)) };
}

fn serve_here(memory: i32, socket: i32) {
    if !is_server(memory) {
        return;
    }
    let Some(fork) = find_fork().filter(|_| survives_fork(memory, socket)) else {
        sys::exit_process(0);
    };
    sys::close(memory);
    report(socket, ServeReportKind::Ready, 0);
    loop {
        match next_order(socket) {
            Some(Order::Run(descriptors)) => {
                let child = fork();
                if child == 0 {
                    return become_run(memory, socket, descriptors);
                }
                descriptors.into_iter().for_each(sys::close);
                if child < 0 {
                    sys::exit_process(1);
                }
                calls::lead_group(child);
                report(socket, ServeReportKind::Started, child);
                attend(socket, child);
            }
            Some(Order::Kill) => {}
            None => sys::exit_process(0),
        }
    }
}

fn is_server(memory: i32) -> bool {
    let mut bytes = [0; size_of::<u32>()];
    let got = calls::read_at(memory, &mut bytes, offset_of!(Control, flags) as u64);
    got == bytes.len() as i64 && u32::from_ne_bytes(bytes) & flags::SERVE != 0
}

/// None where libc is too old to have it.
fn find_fork() -> Option<Fork> {
    // SAFETY: a NUL-terminated name; the function has this signature.
    unsafe {
        let address = libc::dlsym(libc::RTLD_NEXT, c"_Fork".as_ptr());
        (!address.is_null()).then(|| core::mem::transmute::<*mut libc::c_void, Fork>(address))
    }
}

/// Whether nothing exists yet that a child would not have, or that children would share: constructors of
/// libraries that know nothing of the runtime have run before it.
fn survives_fork(memory: i32, socket: i32) -> bool {
    let ours = |fd: &i32| *fd == memory || *fd == socket;
    let is_open = |fd: i32| calls::is_open(fd);
    proc::thread_count() == Some(1)
        && !sys::has_children()
        && !(3..MOST_DESCRIPTORS).filter(|it| !ours(it)).any(is_open)
}

/// Gives a child what the launcher sent for it, in the places where a started program has it.
fn become_run(memory: i32, socket: i32, descriptors: [i32; SERVE_DESCRIPTORS]) {
    calls::lead_group(0);
    let [file, stream, stdin, stdout, stderr, directory] = descriptors;
    let entered = calls::change_directory(directory);
    sys::close(directory);
    let moves = [
        (stdin, 0),
        (stdout, 1),
        (stderr, 2),
        (file, memory),
        (stream, socket),
    ];
    let moved = moves
        .iter()
        .all(|&(from, to)| sys::move_descriptor(from, to, 0) == to);
    if !entered || !moved {
        sys::exit_process(1);
    }
}

/// Waits for the end of a run, or brings it about.
fn attend(socket: i32, child: i32) {
    let process = calls::open_process(child);
    if process < 0 {
        calls::kill_group(child);
        calls::wait_for(child);
        sys::exit_process(1);
    }
    let mut launcher_lives = true;
    while !calls::poll_either(process, if launcher_lives { socket } else { -1 }) {
        launcher_lives = matches!(next_order(socket), Some(Order::Kill));
        calls::kill_group(child);
    }
    // The leader is a zombie, so that the group's number cannot be somebody else's yet.
    calls::kill_group(child);
    let status = calls::wait_for(child);
    sys::close(process);
    if !launcher_lives {
        sys::exit_process(0);
    }
    report(socket, ServeReportKind::Ended, status);
}

enum Order {
    Run([i32; SERVE_DESCRIPTORS]),
    Kill,
}

/// The launcher's next order; None if it has gone or makes no sense.
fn next_order(socket: i32) -> Option<Order> {
    let mut descriptors = [-1; SERVE_DESCRIPTORS];
    let (byte, count) = calls::receive_descriptors(socket, &mut descriptors)?;
    if byte == ServeOrder::Run as u8 && count == SERVE_DESCRIPTORS {
        Some(Order::Run(descriptors))
    } else if byte == ServeOrder::Kill as u8 {
        Some(Order::Kill)
    } else {
        None
    }
}

fn report(socket: i32, kind: ServeReportKind, value: i32) {
    let report = ServeReport {
        kind: kind as u32,
        value,
    };
    let mut bytes = [0; size_of::<ServeReport>()];
    bytes[..4].copy_from_slice(&report.kind.to_ne_bytes());
    bytes[4..].copy_from_slice(&report.value.to_ne_bytes());
    // A launcher that has gone does not read it; the next order will tell.
    calls::send(socket, &bytes);
}

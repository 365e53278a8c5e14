//! What functions of lock libraries mean.
//!
//! Rust's locks are inlined to bare atomic operations before Raddle sees them; what remains of a
//! `lock()` is its name in the operation's debug scopes. A row names a function, the operations in
//! it that count, the weakest ordering they must have, and the role they play.
//!
//! The function compared is the innermost one outside `core`'s atomics, so an operation belongs to
//! the lock function that was written around it and not to one that merely calls it. The ordering
//! tells operations of one function apart: a lock word is taken with acquire and freed with
//! release, while waiting bits are set relaxed.

use raddle_model::Opcode;
use raddle_trace::wire::{Ordering, PanicStage, Role};

use super::debug::Names;

/// Operations that a row accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// Compare-exchange only.
    Cas,
    /// Read-modify-write only.
    Rmw,
    /// Store only.
    Store,
    /// Compare-exchange or read-modify-write.
    Update,
}

impl Op {
    fn accepts(self, opcode: Opcode) -> bool {
        match self {
            Op::Cas => opcode == Opcode::CmpXchg,
            Op::Rmw => opcode == Opcode::Rmw,
            Op::Store => opcode == Opcode::Store,
            Op::Update => matches!(opcode, Opcode::CmpXchg | Opcode::Rmw),
        }
    }
}

/// One function of one library.
struct Row {
    /// Path in debug information; `*` stands for one segment, such as `{impl#3}`.
    path: &'static str,
    op: Op,
    role: Role,
}

const fn row(path: &'static str, op: Op, role: Role) -> Row {
    Row { path, op, role }
}

/// Lock functions.
///
/// std's futex `Mutex`: one word, 0 free, 1 locked, 2 contended. `lock` and `try_lock` exchange
/// 0 for 1; `lock_contended` does so too and also swaps in 2, which locks if the old value was 0;
/// `unlock` swaps in 0. `ReentrantLock` is built on it, and needs no row.
///
/// std's futex `RwLock`: `state` counts readers, all ones being a writer; `writer_notify` is
/// touched only in `wake_writer`, which has no row. The contended paths set waiting bits with
/// relaxed exchanges, which the ordering rules out. `try_read` and `try_write` exchange inside
/// `fetch_update`, which is one of `core`'s atomics.
///
/// parking_lot: `RawMutex` exchanges a byte; the slow unlock stores with release from a callback.
/// A fair unlock hands the lock over without touching the byte, which no row can see.
/// `RawRwLock` sets the writer bit before the last readers have left, so its write side begins
/// early, and never late.
const LOCKS: &[Row] = &[
    row(
        "std::sys::sync::mutex::futex::Mutex::lock",
        Op::Cas,
        Role::Lock,
    ),
    row(
        "std::sys::sync::mutex::futex::Mutex::try_lock",
        Op::Cas,
        Role::Lock,
    ),
    row(
        "std::sys::sync::mutex::futex::Mutex::lock_contended",
        Op::Update,
        Role::Lock,
    ),
    row(
        "std::sys::sync::mutex::futex::Mutex::unlock",
        Op::Rmw,
        Role::Unlock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::read",
        Op::Cas,
        Role::ReadLock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::try_read",
        Op::Cas,
        Role::ReadLock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::read_contended",
        Op::Cas,
        Role::ReadLock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::read_unlock",
        Op::Rmw,
        Role::ReadUnlock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::write",
        Op::Cas,
        Role::WriteLock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::try_write",
        Op::Cas,
        Role::WriteLock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::write_contended",
        Op::Cas,
        Role::WriteLock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::write_unlock",
        Op::Rmw,
        Role::WriteUnlock,
    ),
    row(
        "std::sys::sync::rwlock::futex::RwLock::downgrade",
        Op::Rmw,
        Role::Downgrade,
    ),
    row("parking_lot::raw_mutex::*::lock", Op::Cas, Role::Lock),
    row("parking_lot::raw_mutex::*::try_lock", Op::Cas, Role::Lock),
    row("parking_lot::raw_mutex::*::lock_slow", Op::Cas, Role::Lock),
    row("parking_lot::raw_mutex::*::unlock", Op::Cas, Role::Unlock),
    row(
        "parking_lot::raw_mutex::*::unlock_slow",
        Op::Store,
        Role::Unlock,
    ),
    row(
        "parking_lot::raw_rwlock::*::lock_exclusive",
        Op::Cas,
        Role::WriteLock,
    ),
    row(
        "parking_lot::raw_rwlock::*::try_lock_exclusive",
        Op::Cas,
        Role::WriteLock,
    ),
    row(
        "parking_lot::raw_rwlock::*::lock_exclusive_slow",
        Op::Cas,
        Role::WriteLock,
    ),
    row(
        "parking_lot::raw_rwlock::*::unlock_exclusive",
        Op::Cas,
        Role::WriteUnlock,
    ),
    row(
        "parking_lot::raw_rwlock::*::unlock_exclusive_slow",
        Op::Store,
        Role::WriteUnlock,
    ),
    row(
        "parking_lot::raw_rwlock::*::try_lock_shared_fast",
        Op::Update,
        Role::ReadLock,
    ),
    row(
        "parking_lot::raw_rwlock::*::try_lock_shared_slow",
        Op::Update,
        Role::ReadLock,
    ),
    row(
        "parking_lot::raw_rwlock::*::lock_shared_slow",
        Op::Update,
        Role::ReadLock,
    ),
    row(
        "parking_lot::raw_rwlock::*::unlock_shared",
        Op::Rmw,
        Role::ReadUnlock,
    ),
    row(
        "parking_lot::raw_rwlock::*::downgrade",
        Op::Rmw,
        Role::Downgrade,
    ),
];

/// Functions of the standard library that the steps of a panic go through.
///
/// `panic!`, failed assertions, index and unwrap failures all start in the hook's caller; a payload
/// that is raised again goes through `rust_panic_without_hook` instead. Whoever catches one enters the
/// clean-up, and that is the library itself where a panic leaves the body of a thread.
const PANIC_STAGES: &[(&str, PanicStage)] = &[
    ("std::panicking::panic_with_hook", PanicStage::Start),
    ("std::panicking::rust_panic_with_hook", PanicStage::Start),
    ("std::panicking::catch_unwind::cleanup", PanicStage::Caught),
    ("std::panicking::try::cleanup", PanicStage::Caught),
    (
        "std::sys::backtrace::__rust_begin_short_backtrace",
        PanicStage::Body,
    ),
];

/// Crates and modules inside the standard library that symbolise backtraces. They share nothing
/// with the program, and printing one backtrace would be millions of events.
const BACKTRACE: &[&str] = &[
    "addr2line::",
    "adler2::",
    "gimli::",
    "miniz_oxide::",
    "object::",
    "rustc_demangle::",
    "std::backtrace_rs::",
];

/// Whether a function of the standard library only serves backtraces: it is written there, or an
/// instance for a type of theirs. An instance that merely lies in one of their archives serves the
/// whole program, and its readable name does not say where it lies.
pub(super) fn is_backtrace(readable: &str) -> bool {
    BACKTRACE.iter().any(|part| readable.contains(part))
}

/// The step of a panic that a function is, by its readable name.
pub(super) fn panic_stage(readable: &str) -> Option<PanicStage> {
    let instance = readable.split_once("::<").map_or(readable, |it| it.0);
    let row = PANIC_STAGES.iter().find(|(path, _)| *path == instance);
    row.map(|(_, stage)| *stage)
}

/// The role of an atomic operation with these debug scopes, innermost first.
pub(super) fn role(chain: &[Names], opcode: Opcode, order: Ordering) -> Role {
    let Some(function) = chain.iter().find(|names| !is_atomic_wrapper(&names.path)) else {
        return Role::None;
    };
    let path = plain(&function.path);
    let fits = |row: &&Row| {
        row.op.accepts(opcode) && strong_enough(row.role, order) && matches(row.path, &path)
    };
    LOCKS.iter().find(fits).map_or(Role::None, |row| row.role)
}

/// Functions that wrap one atomic instruction.
fn is_atomic_wrapper(path: &str) -> bool {
    path.starts_with("core::sync::atomic::") || path.starts_with("core::intrinsics::")
}

fn strong_enough(role: Role, order: Ordering) -> bool {
    match role {
        Role::None => false,
        Role::Lock | Role::ReadLock | Role::WriteLock => {
            matches!(
                order,
                Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst
            )
        }
        Role::Unlock | Role::ReadUnlock | Role::WriteUnlock | Role::Downgrade => {
            matches!(
                order,
                Ordering::Release | Ordering::AcqRel | Ordering::SeqCst
            )
        }
    }
}

/// A path without generic arguments and without the closures inside its function.
fn plain(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut depth = 0usize;
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    while let Some((outer, last)) = out.rsplit_once("::")
        && last.starts_with("{closure")
    {
        out.truncate(outer.len());
    }
    out
}

fn matches(pattern: &str, path: &str) -> bool {
    let mut pattern = pattern.split("::");
    let mut path = path.split("::");
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(left), Some(right)) if left == right => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role_of(paths: &[&str], opcode: Opcode, order: Ordering) -> Role {
        let names = |path: &&str| Names {
            readable: (*path).into(),
            path: (*path).into(),
        };
        let chain: Vec<Names> = paths.iter().map(names).collect();
        role(&chain, opcode, order)
    }

    #[test]
    fn instances_that_everybody_shares_are_no_backtraces() {
        let grow =
            "_RNvMs4_NtCsgEXDwNTfjIH_5alloc7raw_vecNtB5_11RawVecInner14grow_amortizedCs1WJ_5gimli";
        assert!(!is_backtrace(&crate::demangle::readable(grow)));
        assert!(is_backtrace("<gimli::read::abbrev::Abbreviations>::insert"));
        assert!(is_backtrace(
            "<alloc::vec::Vec<gimli::read::line::FileEntry>>::push"
        ));
    }

    #[test]
    fn inlined_lock_is_found_behind_the_atomics() {
        let chain = [
            "core::sync::atomic::atomic_compare_exchange<u32>",
            "core::sync::atomic::AtomicU32::compare_exchange",
            "std::sys::sync::mutex::futex::Mutex::lock",
            "std::sync::poison::mutex::Mutex<u64>::lock<u64>",
        ];
        assert_eq!(
            role_of(&chain, Opcode::CmpXchg, Ordering::Acquire),
            Role::Lock
        );
    }

    #[test]
    fn waiting_bits_and_notifications_are_no_locks() {
        let wait = ["std::sys::sync::rwlock::futex::RwLock::read_contended"];
        assert_eq!(
            role_of(&wait, Opcode::CmpXchg, Ordering::Relaxed),
            Role::None
        );
        let notify = [
            "core::sync::atomic::atomic_add<u32, u32>",
            "std::sys::sync::rwlock::futex::RwLock::wake_writer",
            "std::sys::sync::rwlock::futex::RwLock::write_unlock",
        ];
        assert_eq!(role_of(&notify, Opcode::Rmw, Ordering::Release), Role::None);
    }

    #[test]
    fn callbacks_belong_to_their_function() {
        let chain = ["parking_lot::raw_mutex::RawMutex::unlock_slow::{closure#0}"];
        assert_eq!(
            role_of(&chain, Opcode::Store, Ordering::Release),
            Role::Unlock
        );
        assert_eq!(
            role_of(&chain, Opcode::Store, Ordering::Relaxed),
            Role::None
        );
        let chain = ["parking_lot::raw_mutex::{impl#0}::lock"];
        assert_eq!(
            role_of(&chain, Opcode::CmpXchg, Ordering::Acquire),
            Role::Lock
        );
    }
}

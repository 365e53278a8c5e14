//! Which operation on a lock an access belongs to that was inlined from the standard library.
//!
//! To a user `lock()` takes a lock; that it begins by reading an atomic is the library's affair. A library function
//! is known by its module and its last name, however its generic arguments are written.

use raddle_report::Access;
use raddle_trace::position::SourcePosition;

/// A module of the standard library, what the names of its functions begin with, and what these do.
const CALLS: &[(&str, &[(&str, Access)])] = &[
    (
        "std::sys::sync::mutex",
        &[
            ("lock", Access::Request),
            ("try_lock", Access::Request),
            ("spin", Access::Request),
            ("unlock", Access::Release),
            ("wake", Access::Release),
        ],
    ),
    (
        "std::sys::sync::rwlock",
        &[
            ("read_unlock", Access::Release),
            ("write_unlock", Access::Release),
            ("wake_writer", Access::Release),
            ("read", Access::RequestShared),
            ("try_read", Access::RequestShared),
            ("write", Access::Request),
            ("try_write", Access::Request),
        ],
    ),
    (
        "std::sys::sync::condvar",
        &[("wait", Access::Wait), ("notify", Access::Notify)],
    ),
    (
        "std::sys::sync::thread_parking",
        &[("park", Access::Wait), ("unpark", Access::Notify)],
    ),
];

/// What the innermost of these calls into the standard library does, if it is one of a lock.
pub(crate) fn lock_call(calls: &[SourcePosition]) -> Option<Access> {
    calls.iter().find_map(|it| {
        let path: String = it
            .function
            .chars()
            .filter(|it| !"<>".contains(*it))
            .collect();
        let (_, functions) = CALLS.iter().find(|(module, _)| path.starts_with(module))?;
        let name = path.rsplit("::").next()?;
        let (_, access) = functions
            .iter()
            .find(|(start, _)| name.starts_with(start))?;
        Some(*access)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(functions: &[&str], expected: Option<Access>) {
        let at = |function: &&str| SourcePosition {
            function: (*function).to_owned(),
            ..SourcePosition::default()
        };
        let calls: Vec<SourcePosition> = functions.iter().map(at).collect();
        assert_eq!(lock_call(&calls), expected, "{functions:?}");
    }

    #[test]
    fn a_library_call_is_known_however_it_is_written() {
        let atomic = "core::sync::atomic::atomic_compare_exchange::<u32>";
        let lock = "std::sys::sync::mutex::futex::Mutex::lock_contended";
        check(&[atomic, lock], Some(Access::Request));
        check(
            &["<std::sys::sync::mutex::futex::Mutex>::unlock"],
            Some(Access::Release),
        );
        check(
            &["<std::sys::sync::rwlock::futex::RwLock>::read"],
            Some(Access::RequestShared),
        );
        check(
            &["<std::sys::sync::rwlock::futex::RwLock>::read_unlock"],
            Some(Access::Release),
        );
        check(
            &["std::sys::sync::condvar::futex::Condvar::notify_one"],
            Some(Access::Notify),
        );
        check(&[atomic, "my::Mutex::lock"], None);
        check(&[], None);
    }
}

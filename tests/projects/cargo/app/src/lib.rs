//! A library with a unit test that fails under some schedules, and one that does not.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Twice adds one, from two threads; `careful` says how.
pub fn count(careful: bool) -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.store(0, SeqCst);
    let add = move || match careful {
        true => drop(COUNT.fetch_add(1, SeqCst)),
        false => COUNT.store(COUNT.load(SeqCst) + 1, SeqCst),
    };
    std::thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    COUNT.load(SeqCst)
}

#[cfg(test)]
mod tests {
    #[test]
    fn careful() {
        assert_eq!(super::count(true), 2);
    }

    #[test]
    fn careless() {
        assert_eq!(super::count(false), 2);
    }

    #[test]
    #[ignore]
    fn ignored() {
        panic!("nobody asked for this one");
    }

    #[test]
    #[should_panic(expected = "meant")]
    fn panics() {
        panic!("meant to");
    }
}

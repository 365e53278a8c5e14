//! ```
//! assert_eq!(engine::total(), 0);
//! ```

extern "C" {
    fn engine_add();
    fn engine_total() -> i32;
}

/// Adds one, without any lock.
pub fn add() {
    unsafe { engine_add() }
}

/// What was added.
pub fn total() -> i32 {
    unsafe { engine_total() }
}

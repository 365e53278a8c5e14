//! A test that is a program.

fn main() {
    assert_eq!(app::count(true), 2);
}

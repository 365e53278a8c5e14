// The locale is found out by the first thread that needs it and is kept in a `OnceLock`.
// bug: a thread that finds the cell empty sets it, and takes for granted that no other thread has in the meantime
//@ expect: panic|atomicity-violation
//@ also: atomicity-violation
//@ consequence: panic
use std::sync::OnceLock;
use std::thread;

static LOCALE: OnceLock<String> = OnceLock::new();

fn locale() -> &'static str {
    if LOCALE.get().is_none() {
        LOCALE
            .set("de_CH".to_owned())
            .expect("the locale is not set");
    }
    LOCALE.get().unwrap()
}

fn main() {
    let threads = [
        thread::spawn(|| locale().len()),
        thread::spawn(|| locale().len()),
    ];
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 5);
    }
}

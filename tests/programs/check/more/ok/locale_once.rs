// The locale is found out by the first thread that needs it and is kept in a `OnceLock`.
//@ none
use std::sync::OnceLock;
use std::thread;

static LOCALE: OnceLock<String> = OnceLock::new();

fn locale() -> &'static str {
    LOCALE.get_or_init(|| "de_CH".to_owned())
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

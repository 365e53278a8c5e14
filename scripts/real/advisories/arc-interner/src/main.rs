//! Two threads intern the same words and drop them again; words that nobody holds are freed.

use internment::ArcIntern;
use std::thread;

fn main() {
    let threads: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                for word in ["hello", "world", "hello"] {
                    let interned = ArcIntern::<String>::from(word);
                    assert_eq!(*interned, word);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

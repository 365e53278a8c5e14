//! Two threads intern the same words and drop them again; words that nobody holds are freed. The main thread holds one
//! before they start, so that the table of words is there: `state` 0.4, which makes it, has data races of its own in
//! both versions.

use internment::ArcIntern;
use std::thread;

fn main() {
    let _root = ArcIntern::<String>::from("root");
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

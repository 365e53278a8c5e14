//! Two threads change a pair under a lock and one reads it.

use spin::RwLock;
use std::sync::Arc;
use std::thread;

fn main() {
    let pair = Arc::new(RwLock::new((0, 0)));
    let writers: Vec<_> = (0..2)
        .map(|_| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                for _ in 0..2 {
                    let mut pair = pair.write();
                    pair.0 += 1;
                    pair.1 += 1;
                }
            })
        })
        .collect();
    for _ in 0..2 {
        let pair = pair.read();
        assert_eq!(pair.0, pair.1);
    }
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(*pair.read(), (4, 4));
}

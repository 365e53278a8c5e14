//! A pool of two threads is told the same thing three times; each thread answers each time.

use rayon_core::ThreadPoolBuilder;

fn main() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for round in 0..3 {
        let answers = pool.broadcast(|context| round * 10 + context.index());
        assert_eq!(answers, [round * 10, round * 10 + 1]);
    }
}

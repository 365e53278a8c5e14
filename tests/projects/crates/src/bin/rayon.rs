//! Parallel iterators, joins, scopes and a panic that comes back, on a pool of three threads.

use rayon::prelude::*;

fn fibonacci(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    pool.install(|| {
        let sum: u64 = (0..200u64).into_par_iter().map(|n| n * n).sum();
        assert_eq!(sum, 199 * 200 * 399 / 6);
        assert_eq!(fibonacci(9), 34);
        let mut numbers: Vec<u32> = (0..300).map(|n| n * 7919 % 307).collect();
        numbers.par_sort_unstable();
        assert!(numbers.is_sorted());
        let mut parts = [0; 4];
        rayon::scope(|scope| {
            for (at, part) in parts.iter_mut().enumerate() {
                scope.spawn(move |_| *part = at * at);
            }
        });
        assert_eq!(parts, [0, 1, 4, 9]);
        let words = ["a", "b", "c", "d"]
            .par_iter()
            .map(|word| word.to_uppercase())
            .collect::<Vec<_>>();
        assert_eq!(words.concat(), "ABCD");
    });
    std::panic::set_hook(Box::new(|_| ()));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pool.install(|| rayon::join(|| assert!(pool.current_num_threads() == 0), || 1))
    }));
    assert!(caught.is_err());
}

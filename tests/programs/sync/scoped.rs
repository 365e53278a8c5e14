// exercises: thread::scope with borrowed data, nested scopes, implicit joins, is_finished, results through join
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

fn sum(values: &[u64]) -> u64 {
    if values.len() <= 4 {
        return values.iter().sum();
    }
    let (left, right) = values.split_at(values.len() / 2);
    thread::scope(|scope| {
        let left = scope.spawn(|| sum(left));
        let right = sum(right);
        left.join().unwrap() + right
    })
}

fn main() {
    let values: Vec<u64> = (1..=16).collect();
    assert_eq!(sum(&values), 136);

    let total = AtomicU64::new(0);
    let mut parts = vec![0_u64; 3];
    thread::scope(|scope| {
        for (index, part) in parts.iter_mut().enumerate() {
            let total = &total;
            scope.spawn(move || {
                *part = index as u64 + 1;
                total.fetch_add(*part, Ordering::Relaxed);
            });
        }
        let quick = scope.spawn(|| 5);
        while !quick.is_finished() {
            thread::yield_now();
        }
        assert_eq!(quick.join().unwrap(), 5);
    });
    assert_eq!(parts, [1, 2, 3]);
    assert_eq!(total.into_inner(), 6);
}

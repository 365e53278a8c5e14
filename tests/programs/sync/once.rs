// exercises: Once (call_once, is_completed, wait), OnceLock (get_or_init, set), LazyLock statics and locals, thread-raced
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

static ONCE: Once = Once::new();
static RUNS: AtomicU32 = AtomicU32::new(0);
static CELL: OnceLock<Vec<u32>> = OnceLock::new();
static LAZY: LazyLock<String> = LazyLock::new(|| {
    RUNS.fetch_add(100, Ordering::Relaxed);
    CELL.get_or_init(table)
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(",")
});
static WINNER: OnceLock<usize> = OnceLock::new();

fn table() -> Vec<u32> {
    RUNS.fetch_add(10, Ordering::Relaxed);
    (0..5)
        .map(|i| {
            thread::yield_now();
            i * i
        })
        .collect()
}

fn main() {
    let wins: Vec<bool> = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            ONCE.wait();
            assert!(ONCE.is_completed());
        });
        let threads: Vec<_> = (0..3)
            .map(|me| {
                scope.spawn(move || {
                    ONCE.call_once(|| {
                        RUNS.fetch_add(1, Ordering::Relaxed);
                    });
                    match me {
                        0 => assert_eq!(LAZY.as_str(), "0,1,4,9,16"),
                        1 => assert_eq!(CELL.get_or_init(table)[3], 9),
                        _ => assert!(CELL.get().is_none_or(|table| table.len() == 5)),
                    }
                    assert_eq!(LAZY.len(), 10);
                    WINNER.set(me).is_ok()
                })
            })
            .collect();
        waiting.join().unwrap();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(RUNS.load(Ordering::Relaxed), 111);
    assert_eq!(wins.iter().filter(|won| **won).count(), 1);
    assert!(wins[*WINNER.get().unwrap()]);
    ONCE.call_once_force(|_| unreachable!("already done"));
}

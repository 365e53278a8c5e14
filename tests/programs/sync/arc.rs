// exercises: Arc and Weak: clones dropped in several threads, the last one drops the value exactly once, upgrade, get_mut, try_unwrap
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

static DROPS: AtomicU32 = AtomicU32::new(0);

struct Payload(Vec<u32>);

impl Drop for Payload {
    fn drop(&mut self) {
        assert_eq!(self.0.iter().sum::<u32>(), 6);
        DROPS.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    for round in 1..=3 {
        let shared = Arc::new(Payload(vec![1, 2, 3]));
        let threads: Vec<_> = (0..3)
            .map(|me| {
                let (own, weak) = (Arc::clone(&shared), Arc::downgrade(&shared));
                thread::spawn(move || observe(me, own, weak))
            })
            .collect();
        drop(shared);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(DROPS.load(Ordering::Relaxed), round);
    }
    let mut alone = Arc::new(5);
    *Arc::get_mut(&mut alone).unwrap() += 1;
    assert_eq!(Arc::try_unwrap(alone), Ok(6));
}

fn observe(me: u32, own: Arc<Payload>, weak: Weak<Payload>) {
    assert_eq!(own.0[me as usize], me + 1);
    drop(own);
    if let Some(back) = weak.upgrade() {
        assert_eq!(back.0.len(), 3);
        assert!(Arc::strong_count(&back) >= 1);
    }
}

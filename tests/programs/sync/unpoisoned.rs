// exercises: the poison flags of Mutex and RwLock (is_poisoned, clear_poison, PoisonError::into_inner), which must stay unset while nobody panics
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread;

fn main() {
    let state = Arc::new((Mutex::new(0_u32), Condvar::new(), RwLock::new(vec![0_u32])));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                let (count, changed, list) = &*state;
                for _ in 0..4 {
                    let mut guard = count.lock().unwrap_or_else(PoisonError::into_inner);
                    *guard += 1;
                    let now = *guard;
                    changed.notify_all();
                    drop(guard);
                    list.write()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(now);
                    assert!(!count.is_poisoned() && !list.is_poisoned());
                }
            })
        })
        .collect();
    let (count, changed, list) = &*state;
    let guard = changed
        .wait_while(count.lock().unwrap(), |count| *count < 12)
        .unwrap();
    assert_eq!(*guard, 12);
    drop(guard);
    for thread in threads {
        thread.join().unwrap();
    }
    count.clear_poison();
    let mut seen = list.read().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, (0..=12).collect::<Vec<_>>());
}

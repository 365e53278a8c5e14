// exercises: std::sync::RwLock: readers together, writers alone, try_read, try_write, downgrade
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockWriteGuard};
use std::thread;

fn main() {
    let table = RwLock::new(BTreeMap::new());
    let computed = AtomicUsize::new(0);
    let get = |key: u32| -> u32 {
        if let Some(value) = table.read().unwrap().get(&key) {
            return *value;
        }
        let mut writing = table.write().unwrap();
        *writing.entry(key).or_insert_with(|| {
            computed.fetch_add(1, Ordering::Relaxed);
            key * key
        })
    };
    thread::scope(|scope| {
        for me in 0..3_u32 {
            let (get, table) = (&get, &table);
            scope.spawn(move || {
                for round in 0..6 {
                    let key = (me + round) % 4;
                    assert_eq!(get(key), key * key);
                    if let Ok(mut writing) = table.try_write() {
                        let before = writing.len();
                        writing.insert(100 + me, round);
                        let reading = RwLockWriteGuard::downgrade(writing);
                        assert!(reading.len() >= before && reading[&(100 + me)] == round);
                    }
                    if let Ok(reading) = table.try_read() {
                        assert!(reading.len() <= 7);
                    }
                }
            });
        }
    });
    assert_eq!(computed.load(Ordering::Relaxed), 4);
    let first = table.read().unwrap();
    let second = table.read().unwrap();
    assert_eq!(first.len(), second.len());
    assert!(table.try_write().is_err());
    drop((first, second));
    assert!(table.try_write().is_ok());
}

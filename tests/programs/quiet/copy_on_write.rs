// Settings as a shared snapshot: readers clone the Arc under a read lock and keep it as long as they like; writers copy
// what is still shared and change in place what is not.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

static COPIES: AtomicU32 = AtomicU32::new(0);

#[derive(Default)]
struct Settings {
    version: u32,
    values: BTreeMap<&'static str, u32>,
}

impl Clone for Settings {
    fn clone(&self) -> Self {
        COPIES.fetch_add(1, Ordering::Relaxed);
        Self { version: self.version, values: self.values.clone() }
    }
}

#[derive(Default)]
struct Store {
    current: RwLock<Arc<Settings>>,
    writers: Mutex<u32>,
}

impl Store {
    fn snapshot(&self) -> Arc<Settings> {
        self.current.read().unwrap().clone()
    }

    /// In place if no snapshot is out, else in a copy.
    fn set(&self, name: &'static str, value: u32) {
        let mut current = self.current.write().unwrap();
        let settings = Arc::make_mut(&mut current);
        settings.version += 1;
        settings.values.insert(name, value);
    }

    /// The copy is made and changed while readers go on; the writers' lock keeps other writers away.
    fn rebuild(&self, change: impl FnOnce(&mut Settings)) {
        let mut count = self.writers.lock().unwrap();
        let mut settings = Settings::clone(&self.snapshot());
        change(&mut settings);
        settings.version += 1;
        *self.current.write().unwrap() = Arc::new(settings);
        *count += 1;
    }
}

fn read(store: &Store) {
    let mut last = 0;
    for _ in 0..3 {
        let snapshot = store.snapshot();
        assert!(snapshot.version >= last);
        last = snapshot.version;
        let (width, height) = (snapshot.values.get("width"), snapshot.values.get("height"));
        assert_eq!(width.map(|it| it * 2), height.copied());
    }
}

fn main() {
    let store = Store::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| read(&store));
        }
        for start in [10, 20] {
            let store = &store;
            scope.spawn(move || {
                for value in start..start + 2 {
                    store.rebuild(|settings| {
                        settings.values.insert("width", value);
                        settings.values.insert("height", value * 2);
                    });
                }
            });
        }
    });
    assert_eq!(*store.writers.lock().unwrap(), 4);
    assert_eq!(store.snapshot().version, 4);
    let copies = COPIES.load(Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| (0..3).for_each(|value| store.set("depth", value)));
        scope.spawn(|| assert!(store.snapshot().version >= 4));
    });
    assert_eq!(store.snapshot().version, 7);
    println!("{} copies, then {}", copies, COPIES.load(Ordering::Relaxed) - copies);
}

// Many readers, few reloads: whoever finds the settings stale reloads them under the write lock.
// bug: nobody looks again under the write lock, so two that found them stale both reload
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: panic
use std::sync::{Arc, RwLock};
use std::thread;

struct Settings {
    wanted: u32,
    version: u32,
}

type Shared = Arc<RwLock<Settings>>;

fn is_stale(shared: &Shared) -> bool {
    let settings = shared.read().unwrap();
    settings.version < settings.wanted
}

fn version(shared: &Shared) -> u32 {
    if is_stale(shared) {
        let mut settings = shared.write().unwrap();
        assert!(settings.version < settings.wanted, "reloaded for nothing");
        settings.version = settings.wanted;
    }
    shared.read().unwrap().version
}

fn request(shared: &Shared) {
    shared.write().unwrap().wanted += 1;
    let seen = version(shared);
    assert!(seen >= 1);
}

fn main() {
    let shared = Arc::new(RwLock::new(Settings {
        wanted: 0,
        version: 0,
    }));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || request(&shared)
    });
    request(&shared);
    other.join().unwrap();
    assert_eq!(shared.read().unwrap().version, 2);
}

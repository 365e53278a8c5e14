// Many readers, few reloads: whoever finds the settings stale looks again under the write lock and reloads them.
//@ none
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
        if settings.version < settings.wanted {
            settings.version = settings.wanted;
        }
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

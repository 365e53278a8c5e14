// bug: the cache releases its read lock before it takes the write lock and does not look again, so a connection is opened twice
// expect: panic
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;

static OPENED: AtomicU32 = AtomicU32::new(0);

struct Connection {
    host: String,
}

fn open(host: &str) -> Arc<Connection> {
    OPENED.fetch_add(1, Ordering::Relaxed);
    Arc::new(Connection {
        host: host.to_string(),
    })
}

#[derive(Default)]
struct Pool(RwLock<HashMap<String, Arc<Connection>>>);

impl Pool {
    fn get(&self, host: &str) -> Arc<Connection> {
        let known = self.0.read().unwrap().get(host).cloned();
        known.unwrap_or_else(|| {
            let connection = open(host);
            self.0
                .write()
                .unwrap()
                .insert(host.to_string(), Arc::clone(&connection));
            connection
        })
    }
}

fn main() {
    let pool = Pool::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(pool.get("db").host, "db"));
        }
    });
    assert_eq!(
        OPENED.load(Ordering::Relaxed),
        1,
        "one host, one connection"
    );
}

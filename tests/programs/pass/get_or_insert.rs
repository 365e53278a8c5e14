// corrected: the cache looks again under the write lock
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
            let mut connections = self.0.write().unwrap();
            Arc::clone(
                connections
                    .entry(host.to_string())
                    .or_insert_with(|| open(host)),
            )
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

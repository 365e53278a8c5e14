// A pool of one connection: whoever finds none waits until one is given back, and looks again after waiting.
//@ none
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;

struct Connection {
    id: u32,
    queries: u32,
}

struct Pool {
    idle: Mutex<Option<Connection>>,
    given_back: Condvar,
}

impl Pool {
    fn acquire(&self) -> Connection {
        let mut idle = self.idle.lock().unwrap();
        while idle.is_none() {
            idle = self.given_back.wait(idle).unwrap();
        }
        idle.take().expect("a connection is idle")
    }

    fn give_back(&self, connection: Connection) {
        *self.idle.lock().unwrap() = Some(connection);
        self.given_back.notify_one();
    }
}

fn query(pool: &Pool) {
    let mut connection = pool.acquire();
    connection.queries += connection.id;
    pool.give_back(connection);
}

fn main() {
    let connection = Connection { id: 1, queries: 0 };
    let pool = Arc::new(Pool {
        idle: Mutex::new(Some(connection)),
        given_back: Condvar::new(),
    });
    let held = pool.acquire();
    let (asking, is_asking) = mpsc::channel();
    let first = thread::spawn({
        let pool = Arc::clone(&pool);
        move || {
            asking.send(()).unwrap();
            query(&pool);
        }
    });
    is_asking.recv().unwrap();
    pool.give_back(held);
    let second = thread::spawn({
        let pool = Arc::clone(&pool);
        move || query(&pool)
    });
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!(pool.acquire().queries, 2);
}

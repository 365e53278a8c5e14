// Counters are spread over two shards; a thread that finds its shard locked takes the next one instead.
//@ none
use std::sync::Mutex;
use std::thread;

static SHARDS: [Mutex<u32>; 2] = [Mutex::new(0), Mutex::new(0)];

fn count(shard: usize) {
    if let Ok(mut counter) = SHARDS[shard].try_lock() {
        *counter += 1;
        return;
    }
    *SHARDS[(shard + 1) % SHARDS.len()].lock().unwrap() += 1;
}

fn main() {
    let threads = [thread::spawn(|| count(1)), thread::spawn(|| count(1))];
    for thread in threads {
        thread.join().unwrap();
    }
    let total: u32 = SHARDS.iter().map(|it| *it.lock().unwrap()).sum();
    assert_eq!(total, 2);
}

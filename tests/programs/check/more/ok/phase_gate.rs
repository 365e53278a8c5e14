// A loader and a planner run in two phases: the planner that finds the loader's first phase over reads the map.
//@ none
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static PHASE: AtomicU32 = AtomicU32::new(0);
static MAP: Mutex<Option<Vec<u32>>> = Mutex::new(None);

fn plan() -> usize {
    if PHASE.load(Ordering::SeqCst) == 0 {
        return 0;
    }
    let map = MAP.lock().unwrap();
    map.as_ref().expect("the map is loaded").len()
}

fn load() {
    *MAP.lock().unwrap() = Some(vec![1, 2, 3]);
    PHASE.store(1, Ordering::SeqCst);
}

fn main() {
    let planner = thread::spawn(plan);
    let loader = thread::spawn(load);
    let planned = planner.join().unwrap();
    loader.join().unwrap();
    assert!(planned == 0 || planned == 3);
}

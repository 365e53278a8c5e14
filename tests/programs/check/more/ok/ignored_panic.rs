// An importer parses rows while a cleaner drops those that are too old; main waits for both, however they end.
//@ none
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static ROWS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static SUM: AtomicU32 = AtomicU32::new(0);

fn import() {
    let rows = ROWS.lock().unwrap();
    let count = rows.len();
    let sum = (0..count).map(|at| rows[at]).sum();
    SUM.store(sum, Ordering::SeqCst);
}

fn clean() {
    ROWS.lock().unwrap().truncate(2);
}

fn main() -> ExitCode {
    ROWS.lock().unwrap().extend([5, 6, 7]);
    let importer = thread::spawn(import);
    let cleaner = thread::spawn(clean);
    let _ = importer.join();
    let _ = cleaner.join();
    if SUM.load(Ordering::SeqCst) == 0 {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

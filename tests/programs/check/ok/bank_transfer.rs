// A bank moves money between two accounts of one ledger while an auditor adds them up under the same lock.
//@ none
use std::sync::Mutex;
use std::thread;

struct Ledger {
    current: i64,
    savings: i64,
}

static LEDGER: Mutex<Ledger> = Mutex::new(Ledger {
    current: 900,
    savings: 100,
});

fn transfer(amount: i64) {
    let mut ledger = LEDGER.lock().unwrap();
    ledger.current -= amount;
    ledger.savings += amount;
}

fn audit() -> i64 {
    let ledger = LEDGER.lock().unwrap();
    ledger.current + ledger.savings
}

fn main() {
    let clerk = thread::spawn(|| transfer(250));
    let auditor = thread::spawn(|| assert_eq!(audit(), 1000, "the books do not balance"));
    clerk.join().unwrap();
    auditor.join().unwrap();
    assert_eq!(audit(), 1000);
}

// corrected: the balance is behind a lock
// smallest: yes
use std::sync::Mutex;
use std::thread;

static BALANCE: Mutex<i64> = Mutex::new(100);

fn withdraw(amount: i64) {
    let mut balance = BALANCE.lock().unwrap();
    if *balance >= amount {
        *balance -= amount;
    }
}

fn main() {
    let other = thread::spawn(|| withdraw(30));
    withdraw(20);
    other.join().unwrap();
    let left = *BALANCE.lock().unwrap();
    assert_eq!(left, 50, "the account holds {left}");
}

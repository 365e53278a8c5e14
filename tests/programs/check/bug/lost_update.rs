// Two tellers pay into one account; the balance is read under the lock and written back under the lock.
// bug: the lock is given up between the two, so one of two deposits may be lost
//@ expect: atomicity-violation read write write
//@ consequence: panic
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    cents: Mutex<i64>,
}

impl Account {
    fn deposit(&self, amount: i64) {
        let before = *self.cents.lock().unwrap(); // @read
        let fee = if amount > 10_000 { amount / 100 } else { 0 };
        *self.cents.lock().unwrap() = before + amount - fee; // @write
    }

    fn balance(&self) -> i64 {
        *self.cents.lock().unwrap()
    }
}

fn main() {
    let account = Arc::new(Account {
        cents: Mutex::new(500),
    });
    let tellers: Vec<_> = [120, 80]
        .into_iter()
        .map(|amount| {
            let account = Arc::clone(&account);
            thread::spawn(move || account.deposit(amount))
        })
        .collect();
    for teller in tellers {
        teller.join().unwrap();
    }
    assert_eq!(account.balance(), 700, "money was lost");
}

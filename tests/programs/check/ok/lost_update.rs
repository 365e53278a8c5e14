// Two tellers pay into one account; reading and writing back are one critical section.
//@ none
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    cents: Mutex<i64>,
}

impl Account {
    fn deposit(&self, amount: i64) {
        let mut cents = self.cents.lock().unwrap();
        let before = *cents;
        let fee = if amount > 10_000 { amount / 100 } else { 0 };
        *cents = before + amount - fee;
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

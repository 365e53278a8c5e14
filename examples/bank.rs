//! A small bank in safe Rust. Every access to an account takes its lock, the compiler is content, and tests pass; yet
//! now and then the books don't balance. `raddle run examples/bank.rs` finds the schedule, `raddle replay` shows it again.

use std::sync::Mutex;
use std::thread;

struct Bank {
    accounts: Vec<Mutex<i64>>,
}

impl Bank {
    fn new(balances: &[i64]) -> Self {
        Self {
            accounts: balances
                .iter()
                .map(|&balance| Mutex::new(balance))
                .collect(),
        }
    }

    fn balance(&self, account: usize) -> i64 {
        *self.accounts[account].lock().unwrap()
    }

    fn deposit(&self, account: usize, amount: i64) {
        *self.accounts[account].lock().unwrap() += amount;
    }

    /// Moves money if the account covers it.
    fn transfer(&self, from: usize, to: usize, amount: i64) -> bool {
        let balance = self.balance(from);
        if balance < amount {
            return false;
        }
        *self.accounts[from].lock().unwrap() = balance - amount;
        self.deposit(to, amount);
        true
    }

    fn total(&self) -> i64 {
        (0..self.accounts.len())
            .map(|account| self.balance(account))
            .sum()
    }
}

fn main() {
    let bank = Bank::new(&[100, 100, 100]);
    thread::scope(|scope| {
        scope.spawn(|| bank.transfer(0, 1, 30));
        scope.spawn(|| bank.transfer(0, 2, 50));
        scope.spawn(|| bank.transfer(1, 0, 10));
    });
    let total = bank.total();
    println!("the bank holds {total}");
    assert_eq!(total, 300, "money was made or lost");
}

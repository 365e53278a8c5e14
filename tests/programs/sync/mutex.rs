// exercises: std::sync::Mutex: lock, try_lock, get_mut, into_inner, guards that live across calls, several locks in order
use std::sync::{Arc, Mutex, TryLockError};
use std::thread;

struct Account {
    balance: i64,
    history: Vec<i64>,
}

fn deposit(account: &Mutex<Account>, amount: i64) {
    let mut guard = account.lock().unwrap();
    guard.balance += amount;
    guard.history.push(amount);
}

fn transfer(accounts: &[Mutex<Account>], from: usize, to: usize, amount: i64) {
    let (low, high) = (from.min(to), from.max(to));
    let mut first = accounts[low].lock().unwrap();
    let mut second = accounts[high].lock().unwrap();
    let sign = if from == low { -1 } else { 1 };
    first.balance += sign * amount;
    second.balance -= sign * amount;
}

fn main() {
    let accounts: Arc<[Mutex<Account>]> = (0..3)
        .map(|_| {
            Mutex::new(Account {
                balance: 100,
                history: Vec::new(),
            })
        })
        .collect();
    let missed = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let accounts = Arc::clone(&accounts);
            let missed = Arc::clone(&missed);
            thread::spawn(move || {
                for round in 0..5 {
                    deposit(&accounts[me], 1);
                    transfer(&accounts, me, (me + 1 + round % 2) % 3, 10);
                    match accounts[0].try_lock() {
                        Ok(mut guard) => guard.balance += 1,
                        Err(TryLockError::WouldBlock) => *missed.lock().unwrap() += 1,
                        Err(TryLockError::Poisoned(_)) => unreachable!(),
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let total: i64 = accounts
        .iter()
        .map(|account| account.lock().unwrap().balance)
        .sum();
    assert_eq!(total, 300 + 15 + (15 - *missed.lock().unwrap()));
    let mut own = Mutex::new(5);
    *own.get_mut().unwrap() += 1;
    assert_eq!(own.into_inner().unwrap(), 6);
}

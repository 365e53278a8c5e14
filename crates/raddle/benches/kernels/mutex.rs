//! Many short critical sections: transfers between accounts, two locks each, in a fixed order.

use std::sync::Mutex;

const ACCOUNTS: usize = 64;
const TRANSFERS: usize = 120_000;

#[derive(Default)]
struct Account {
    balance: i64,
    version: u64,
}

fn main() {
    let accounts: Vec<Mutex<Account>> = (0..ACCOUNTS).map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for seed in [7_u32, 8] {
            let accounts = &accounts;
            scope.spawn(move || {
                let mut state = seed;
                for _ in 0..TRANSFERS {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let (from, to) = (state >> 8, state >> 16);
                    let (from, to) = (from as usize % ACCOUNTS, to as usize % ACCOUNTS);
                    if from == to {
                        continue;
                    }
                    let mut first = accounts[from.min(to)].lock().unwrap();
                    let mut second = accounts[from.max(to)].lock().unwrap();
                    let sign = if from < to { -1 } else { 1 };
                    let amount = sign * i64::from(state >> 28);
                    first.balance += amount;
                    first.version += 1;
                    second.balance -= amount;
                    second.version += 1;
                }
            });
        }
    });
    let balance = |account: &Mutex<Account>| account.lock().unwrap().balance;
    println!("{}", accounts.iter().map(balance).sum::<i64>());
}

// PECAN, figure 3: the candidate (v2, v8, v5) of an atomicity violation. Withdrawing is one atomic region, by its outer
// lock, but the balance's own lock is free for a moment between the region's two uses of the balance.
//@ expect: atomicity-violation v2 v8 v5
//@ also: atomicity-violation
//@ consequence: panic
use std::sync::Mutex;
use std::thread;

static WITHDRAWALS: Mutex<u32> = Mutex::new(0);
static BALANCE: Mutex<i32> = Mutex::new(10);

fn withdraw(amount: i32) {
    let mut withdrawals = WITHDRAWALS.lock().unwrap();
    let before = *BALANCE.lock().unwrap(); // @v2
    *withdrawals += 1; // @v4
    *BALANCE.lock().unwrap() = before - amount; // @v5
}

fn close_account() {
    *BALANCE.lock().unwrap() = -100; // @v8
}

fn main() {
    let customer = thread::spawn(|| withdraw(4));
    let bank = thread::spawn(close_account);
    customer.join().unwrap();
    bank.join().unwrap();
    assert!(*BALANCE.lock().unwrap() < 0);
    assert_eq!(*WITHDRAWALS.lock().unwrap(), 1);
}

// bug: two threads change a `static mut` without any lock
// expect: panic
// smallest: yes
use std::thread;

static mut BALANCE: i64 = 100;

fn withdraw(amount: i64) {
    unsafe {
        let balance = BALANCE;
        if balance >= amount {
            BALANCE = balance - amount;
        }
    }
}

fn main() {
    let other = thread::spawn(|| withdraw(30));
    withdraw(20);
    other.join().unwrap();
    let left = unsafe { BALANCE };
    assert_eq!(left, 50, "the account holds {left}");
}

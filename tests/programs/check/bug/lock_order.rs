// A shop keeps its stock, its orders and its journal under three locks; three clerks each need two of them.
// bug: stock before orders, orders before journal, journal before stock: a circle of three
//@ expect: deadlock
//@ consequence: deadlock
use std::sync::Mutex;
use std::thread;

static STOCK: Mutex<u32> = Mutex::new(10);
static ORDERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static JOURNAL: Mutex<u32> = Mutex::new(0);

fn sell(amount: u32) {
    let mut stock = STOCK.lock().unwrap();
    let mut orders = ORDERS.lock().unwrap();
    *stock -= amount;
    orders.push(amount);
}

fn note_orders() {
    let orders = ORDERS.lock().unwrap();
    let mut journal = JOURNAL.lock().unwrap();
    *journal += u32::try_from(orders.len()).unwrap();
}

fn take_stock() -> (u32, u32) {
    let journal = JOURNAL.lock().unwrap();
    let stock = STOCK.lock().unwrap();
    (*journal, *stock)
}

fn main() {
    let seller = thread::spawn(|| sell(3));
    let clerk = thread::spawn(note_orders);
    let (_, left) = take_stock();
    seller.join().unwrap();
    clerk.join().unwrap();
    assert!(left == 7 || left == 10);
}

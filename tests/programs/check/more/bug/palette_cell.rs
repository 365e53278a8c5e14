// Two layers share a palette in a `RefCell`, each borrowing it for a moment to add its color.
// bug: the palette is declared `Sync` although a `RefCell` is for one thread; borrows may meet
//@ expect: data-race|panic
//@ also: data-race
//@ also: atomicity-violation
//@ also: use-after-free|double-free
//@ consequence: panic|none|crash
use std::cell::RefCell;
use std::thread;

struct Palette(RefCell<Vec<u32>>);

// SAFETY: each layer borrows the palette for a moment only.
unsafe impl Sync for Palette {}

static PALETTE: Palette = Palette(RefCell::new(Vec::new()));

fn add(color: u32) {
    let mut colors = PALETTE.0.borrow_mut();
    if !colors.contains(&color) {
        colors.push(color);
    }
}

fn main() {
    let layers = [
        thread::spawn(|| add(0xff_0000)),
        thread::spawn(|| add(0x00_ff00)),
    ];
    for layer in layers {
        layer.join().unwrap();
    }
    assert_eq!(PALETTE.0.borrow().len(), 2);
}

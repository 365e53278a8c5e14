// Two layers share a palette in a `RefCell`, each borrowing it for a moment to add its color.
//@ none
use std::sync::Mutex;
use std::thread;

struct Palette(Mutex<Vec<u32>>);

static PALETTE: Palette = Palette(Mutex::new(Vec::new()));

fn add(color: u32) {
    let mut colors = PALETTE.0.lock().unwrap();
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
    assert_eq!(PALETTE.0.lock().unwrap().len(), 2);
}

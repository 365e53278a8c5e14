// A gauge shows a width and a height, each with a lock of its own; resizing and measuring each have an outer lock.
// bug: the two outer locks are different ones, so a measurement may see the new width with the old height
//@ expect: atomic-set-violation
//@ consequence: panic
use std::sync::Mutex;
use std::thread;

#[derive(Default)]
struct Gauge {
    resizing: Mutex<u32>,
    measuring: Mutex<u32>,
    width: Mutex<u32>,
    height: Mutex<u32>,
}

impl Gauge {
    fn resize(&self, width: u32, height: u32) {
        let mut resizes = self.resizing.lock().unwrap();
        *resizes += 1;
        *self.width.lock().unwrap() = width;
        *self.height.lock().unwrap() = height;
    }

    fn area(&self) -> u32 {
        let mut measurements = self.measuring.lock().unwrap();
        *measurements += 1;
        let width = *self.width.lock().unwrap();
        let height = *self.height.lock().unwrap();
        width * height
    }
}

fn main() {
    let gauge = Gauge::default();
    gauge.resize(6, 4);
    thread::scope(|scope| {
        scope.spawn(|| gauge.resize(8, 3));
        scope.spawn(|| assert_eq!(gauge.area(), 24, "the area never changes"));
    });
}

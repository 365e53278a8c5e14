// A gauge shows a width and a height, each with a lock of its own; resizing and measuring share one outer lock.
//@ none
use std::sync::Mutex;
use std::thread;

#[derive(Default)]
struct Gauge {
    changes: Mutex<u32>,
    width: Mutex<u32>,
    height: Mutex<u32>,
}

impl Gauge {
    fn resize(&self, width: u32, height: u32) {
        let mut changes = self.changes.lock().unwrap();
        *changes += 1;
        *self.width.lock().unwrap() = width;
        *self.height.lock().unwrap() = height;
    }

    fn area(&self) -> u32 {
        let changes = self.changes.lock().unwrap();
        assert!(*changes >= 1);
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

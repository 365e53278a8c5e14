// corrected: the check and the change share one lock region
use std::sync::{Arc, Mutex};
use std::thread;

struct Flight {
    free: Mutex<i32>,
    booked: Mutex<Vec<&'static str>>,
}

impl Flight {
    fn book(&self, passenger: &'static str) {
        let mut free = self.free.lock().unwrap();
        if *free > 0 {
            *free -= 1;
            self.booked.lock().unwrap().push(passenger);
        }
    }
}

fn main() {
    let flight = Arc::new(Flight {
        free: Mutex::new(1),
        booked: Mutex::new(Vec::new()),
    });
    let agents = ["Ada", "Grace"].map(|passenger| {
        let flight = Arc::clone(&flight);
        thread::spawn(move || flight.book(passenger))
    });
    for agent in agents {
        agent.join().unwrap();
    }
    let booked = flight.booked.lock().unwrap();
    assert_eq!(booked.len(), 1, "the last seat was sold to {booked:?}");
}

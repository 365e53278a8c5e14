// PECAN, figure 7: taking the next event asks the queue for its size, its first element and that element's removal in
// three calls that lock one by one. Handling an event may post another.
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: panic
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct EventQueue {
    events: Mutex<Vec<u32>>,
}

impl EventQueue {
    fn size(&self) -> usize {
        self.events.lock().unwrap().len()
    }

    fn element_at(&self, index: usize) -> u32 {
        self.events.lock().unwrap()[index]
    }

    fn remove_element_at(&self, index: usize) {
        self.events.lock().unwrap().remove(index);
    }

    fn add(&self, event: u32) {
        self.events.lock().unwrap().push(event);
    }

    fn next_event(&self) -> u32 {
        while self.size() == 0 {
            thread::yield_now();
        }
        let event = self.element_at(0);
        self.remove_element_at(0);
        event
    }
}

fn handle(queue: &EventQueue) -> u32 {
    let event = queue.next_event();
    if event == 1 {
        queue.add(2);
    }
    event
}

fn main() {
    let queue = Arc::new(EventQueue::default());
    queue.add(1);
    let handlers = [(); 2].map(|()| {
        let queue = Arc::clone(&queue);
        thread::spawn(move || handle(&queue))
    });
    let sum: u32 = handlers.into_iter().map(|it| it.join().unwrap()).sum();
    assert_eq!(sum, 3);
}

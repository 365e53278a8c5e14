// exercises: thread_local! with destructors that lock and send, const initialisers, Cell and RefCell, access from a destructor
use std::cell::{Cell, RefCell};
use std::sync::{mpsc, Mutex};
use std::thread;

static DROPPED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

struct Reporter {
    me: u32,
    sender: mpsc::Sender<u32>,
}

impl Drop for Reporter {
    fn drop(&mut self) {
        let count = COUNT.with(Cell::get);
        DROPPED.lock().unwrap().push(self.me);
        self.sender.send(self.me * 10 + count).unwrap();
    }
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    static REPORTER: RefCell<Option<Reporter>> = const { RefCell::new(None) };
    static WORDS: RefCell<Vec<String>> = RefCell::new(vec!["start".to_string()]);
}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (1..=3)
        .map(|me| {
            let sender = sender.clone();
            thread::spawn(move || {
                REPORTER.with_borrow_mut(|slot| *slot = Some(Reporter { me, sender }));
                for i in 0..me {
                    COUNT.set(COUNT.get() + 1);
                    WORDS.with_borrow_mut(|words| words.push(format!("{me}-{i}")));
                }
                assert_eq!(WORDS.with_borrow(Vec::len), 1 + me as usize);
            })
        })
        .collect();
    drop(sender);
    let mut reports: Vec<u32> = receiver.iter().collect();
    reports.sort_unstable();
    assert_eq!(reports, [12, 23, 34]);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let mut dropped = DROPPED.lock().unwrap().clone();
    dropped.sort_unstable();
    assert_eq!(dropped, [1, 2, 3]);
    assert_eq!(COUNT.get(), 1);
}

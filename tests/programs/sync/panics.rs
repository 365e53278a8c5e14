// exercises: panics that somebody deals with, where they happen or by joining, and that are no failures
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static CAUGHT: AtomicUsize = AtomicUsize::new(0);

fn take(list: &[usize], at: usize) -> usize {
    list[at]
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let workers: Vec<_> = (0..3)
        .map(|number| {
            thread::spawn(move || {
                let list = vec![number];
                let caught = panic::catch_unwind(AssertUnwindSafe(|| take(&list, 1)));
                CAUGHT.fetch_add(usize::from(caught.is_err()), Ordering::Relaxed);
                let nested = panic::catch_unwind(|| {
                    let inner = panic::catch_unwind(|| panic!("inner"));
                    CAUGHT.fetch_add(usize::from(inner.is_err()), Ordering::Relaxed);
                    panic!("outer")
                });
                CAUGHT.fetch_add(usize::from(nested.is_err()), Ordering::Relaxed);
                take(&list, number)
            })
        })
        .collect();
    let lost = workers.into_iter().map(|it| it.join()).filter(Result::is_err);
    println!("{} lost, {} caught", lost.count(), CAUGHT.load(Ordering::Relaxed));
}

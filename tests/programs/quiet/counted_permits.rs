// A semaphore of a mutex and a condition variable whose `notify_one` goes with each permit, also where a waiter gives
// up: a permit that such a waiter was woken for stays for the next one.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

struct Semaphore {
    permits: Mutex<usize>,
    freed: Condvar,
}

struct Permit<'a>(&'a Semaphore);

impl Semaphore {
    fn new(permits: usize) -> Self {
        Self { permits: Mutex::new(permits), freed: Condvar::new() }
    }

    fn acquire(&self) -> Permit<'_> {
        let permits = self.permits.lock().unwrap();
        let mut permits = self.freed.wait_while(permits, |it| *it == 0).unwrap();
        *permits -= 1;
        Permit(self)
    }

    fn acquire_within(&self, time: Duration) -> Option<Permit<'_>> {
        let permits = self.permits.lock().unwrap();
        let (mut permits, _) = self.freed.wait_timeout_while(permits, time, |it| *it == 0).unwrap();
        if *permits == 0 {
            return None;
        }
        *permits -= 1;
        Some(Permit(self))
    }

    fn try_acquire(&self) -> Option<Permit<'_>> {
        let mut permits = self.permits.try_lock().ok()?;
        *permits = permits.checked_sub(1)?;
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.permits.lock().unwrap() += 1;
        self.0.freed.notify_one();
    }
}

struct Room {
    semaphore: Semaphore,
    inside: AtomicU32,
    visits: AtomicU32,
}

impl Room {
    fn visit(&self, _permit: Permit<'_>) {
        let count = self.inside.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(count <= 2, "{count} visitors at a time");
        self.visits.fetch_add(1, Ordering::Relaxed);
        self.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

fn main() {
    let room = Room { semaphore: Semaphore::new(2), inside: AtomicU32::new(0), visits: AtomicU32::new(0) };
    let (gave_up, went_by) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..3).for_each(|_| room.visit(room.semaphore.acquire())));
        }
        scope.spawn(|| {
            for _ in 0..3 {
                match room.semaphore.acquire_within(Duration::from_millis(1)) {
                    Some(permit) => room.visit(permit),
                    None => _ = gave_up.fetch_add(1, Ordering::Relaxed),
                }
            }
        });
        scope.spawn(|| {
            for _ in 0..3 {
                match room.semaphore.try_acquire() {
                    Some(permit) => room.visit(permit),
                    None => _ = went_by.fetch_add(1, Ordering::Relaxed),
                }
            }
        });
    });
    let [visits, gave_up, went_by] = [room.visits, gave_up, went_by].map(AtomicU32::into_inner);
    assert_eq!(visits + gave_up + went_by, 12);
    assert_eq!(*room.semaphore.permits.lock().unwrap(), 2);
    println!("{visits} visits, {gave_up} gave up, {went_by} went by");
}

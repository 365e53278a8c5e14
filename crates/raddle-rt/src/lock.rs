//! A lock that never calls libc, for the runtime's own state.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::sys;
use crate::tls;

/// A value behind a futex lock. Holders must not call into the program.
pub struct Lock<T> {
    /// 0 free, 1 held, 2 held and somebody waits.
    word: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the lock hands out one reference at a time. `T` may hold raw pointers, which the
// runtime's own rules (see the crate's documentation) keep valid across threads.
unsafe impl<T> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Lock {
            word: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    pub fn lock(&self) -> Guard<'_, T> {
        if self
            .word
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            self.wait();
        }
        Guard { lock: self }
    }

    /// Sleeps until the lock is free. Whoever watches must not take the sleeper for one that is stuck in
    /// the program's own code, and take its turn away.
    #[cold]
    fn wait(&self) {
        // SAFETY: a thread's own record stays at its address; what is used here is atomic.
        let waits = unsafe { tls::me().as_ref() }.map(|me| &me.waits_for_runtime);
        let before = waits.map(|it| it.swap(true, Ordering::Relaxed));
        while self.word.swap(2, Ordering::Acquire) != 0 {
            sys::futex_wait(&self.word, 2, None);
        }
        if let (Some(waits), Some(before)) = (waits, before) {
            waits.store(before, Ordering::Relaxed);
        }
    }

    /// Makes the lock free whatever it was: only in a child process, which has one thread.
    pub fn reset(&self) {
        self.word.store(0, Ordering::Release);
    }
}

/// Access to the value until dropped.
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only access while it lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only access while it lives.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        if self.lock.word.swap(0, Ordering::Release) == 2 {
            sys::futex_wake(&self.lock.word);
        }
    }
}

//! Paths below `/proc` that name a process or a thread by its id.
//!
//! The program makes them of the ids that it was shown; the kernel gets its own. Calls that look at a path, open it or list it are
//! translated; calls that change files are not, because there is nothing to change there.

use core::ffi::{c_char, c_int, c_uint};

use libc::size_t;

use super::identity::own_pid;
use super::ids::kernel_id;

/// Bytes of the longest path that is translated.
const PATH_BYTES: usize = 128;

/// A path in which ids of processes and threads, below `/proc`, are the kernel's. Made where the call is, so that the stack
/// that it lies on is wiped after it.
pub(super) struct KernelPath {
    given: *const c_char,
    bytes: [u8; PATH_BYTES],
    len: usize,
}

impl KernelPath {
    /// Of a path that the program passed, or null.
    pub fn of(given: *const c_char) -> KernelPath {
        let mut path = KernelPath {
            given,
            bytes: [0; PATH_BYTES],
            len: 0,
        };
        if !given.is_null() && path.translate().is_none() {
            path.len = 0;
        }
        path
    }

    /// To pass to the kernel.
    pub fn get(&self) -> *const c_char {
        match self.len {
            0 => self.given,
            _ => self.bytes.as_ptr().cast(),
        }
    }

    /// None if the path is another one, or too long.
    fn translate(&mut self) -> Option<()> {
        own_pid()?;
        let rest = self.take(0, b"/proc/")?;
        let rest = self.take_id(rest)?;
        if let Some(task) = self.take(rest, b"/task/") {
            let rest = self.take_id(task)?;
            return self.take_all(rest);
        }
        self.take_all(rest)
    }

    fn byte(&self, at: usize) -> u8 {
        // SAFETY: the program passed a NUL-terminated text, and nobody asks past its end.
        unsafe { *self.given.cast::<u8>().add(at) }
    }

    fn put(&mut self, byte: u8) -> Option<()> {
        // The last byte stays NUL.
        *self.bytes[..PATH_BYTES - 1].get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    /// Takes over a part that has to be there, from `at` on; returns where the rest is.
    fn take(&mut self, at: usize, part: &[u8]) -> Option<usize> {
        let is_there = |(offset, byte): (usize, &u8)| self.byte(at + offset) == *byte;
        if !part.iter().enumerate().all(is_there) {
            return None;
        }
        part.iter().try_for_each(|byte| self.put(*byte))?;
        Some(at + part.len())
    }

    fn take_all(&mut self, mut at: usize) -> Option<()> {
        while self.byte(at) != 0 {
            self.put(self.byte(at))?;
            at += 1;
        }
        Some(())
    }

    /// Puts the kernel's id in the place of the program's; the process's own by its other name, which is the same in every run.
    fn take_id(&mut self, mut at: usize) -> Option<usize> {
        let mut shown: c_int = 0;
        let start = at;
        while self.byte(at).is_ascii_digit() {
            let digit = c_int::from(self.byte(at) - b'0');
            shown = shown.checked_mul(10)?.checked_add(digit)?;
            at += 1;
        }
        let is_first = self.len == b"/proc/".len();
        if at == start {
            return None;
        }
        if is_first && own_pid() == Some(shown) {
            b"self".iter().try_for_each(|byte| self.put(*byte))?;
            return Some(at);
        }
        let id = kernel_id(shown);
        let mut divisor = 1;
        while id / divisor >= 10 {
            divisor *= 10;
        }
        while divisor > 0 {
            self.put(b'0' + (id / divisor % 10) as u8)?;
            divisor /= 10;
        }
        Some(at)
    }
}

/// What an argument of the program's becomes for the kernel.
pub(super) trait ForKernel: Copy {
    /// Holds it during the call.
    type Held;
    /// See [`ForKernel`].
    fn held(self) -> Self::Held;
}

/// An argument that stays as it is.
pub(super) struct Same<T>(T);

impl<T: Copy> Same<T> {
    /// To pass to the kernel.
    pub fn get(&self) -> T {
        self.0
    }
}

impl ForKernel for *const c_char {
    type Held = KernelPath;
    fn held(self) -> KernelPath {
        KernelPath::of(self)
    }
}

macro_rules! stays {
    ($($type:ty),*) => {$(
        impl ForKernel for $type {
            type Held = Same<$type>;
            fn held(self) -> Same<$type> {
                Same(self)
            }
        }
    )*};
}

stays!(c_int, c_uint, size_t, *mut c_char);

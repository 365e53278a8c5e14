//! What the kernel tells about this process in `/proc/self`.

use core::ffi::{CStr, c_int};

use crate::sys;

/// Bytes of the longest path that is asked for.
const PATH_BYTES: usize = 48;
/// Bytes that are read of a file that lists things. What is longer counts as unknown.
const LIST_BYTES: usize = 4096;

/// Whether a thread of this process sleeps.
pub fn sleeps(os_tid: u32) -> bool {
    thread_state(os_tid) == Some(b'S')
}

/// Whether the kernel no longer runs a thread of this process. Only of the main thread anything is left when it is
/// gone, so that only then its file is read: entries of `/proc` that were looked at make the end of threads slow.
pub fn is_gone(os_tid: u32) -> bool {
    let is_main = i64::from(os_tid) == i64::from(sys::getpid());
    match is_main {
        true => matches!(thread_state(os_tid), None | Some(b'Z' | b'X')),
        false => !sys::has_thread(os_tid),
    }
}

/// The letter by which the kernel names a thread's state; none if there is no such thread.
fn thread_state(os_tid: u32) -> Option<u8> {
    let mut text = [0u8; 128];
    let path = Path::new(b"/proc/self/task/", os_tid, b"/stat");
    let text = read_file(path.get()?, &mut text)?;
    // The name in parentheses may contain anything; the state follows the last one.
    let name_end = text.iter().rposition(|&b| b == b')');
    name_end.and_then(|at| text.get(at + 2)).copied()
}

/// The number of threads that the kernel runs in this process.
pub fn thread_count() -> Option<usize> {
    let mut text = [0u8; LIST_BYTES];
    let text = read_file(c"/proc/self/status", &mut text)?;
    let mut counts = text
        .split(|&b| b == b'\n')
        .filter_map(|line| line.strip_prefix(b"Threads:\t"));
    number(counts.next()?)
}

/// Whether an epoll instance watches at least one descriptor, and only such as `is_wanted`. Says no where the kernel's
/// list of them is too long to tell.
pub fn epoll_watches_only(epoll: c_int, is_wanted: impl Fn(c_int) -> bool) -> bool {
    let Ok(epoll) = u32::try_from(epoll) else {
        return false;
    };
    let mut text = [0u8; LIST_BYTES];
    let path = Path::new(b"/proc/self/fdinfo/", epoll, b"");
    let Some(text) = path.get().and_then(|path| read_file(path, &mut text)) else {
        return false;
    };
    let mut watched = text
        .split(|&b| b == b'\n')
        .filter_map(|line| line.strip_prefix(b"tfd:"))
        .map(|line| number(line.trim_ascii_start()))
        .peekable();
    text.len() < LIST_BYTES
        && watched.peek().is_some()
        && watched.all(|fd| fd.is_some_and(&is_wanted))
}

/// The decimal number at the beginning of a text.
fn number<T: core::str::FromStr>(text: &[u8]) -> Option<T> {
    let digits = text.iter().take_while(|it| it.is_ascii_digit()).count();
    core::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// A path with a number in it.
struct Path {
    /// Ends with a NUL.
    bytes: [u8; PATH_BYTES],
}

impl Path {
    /// The three parts together are shorter than [`PATH_BYTES`].
    fn new(before: &[u8], number: u32, after: &[u8]) -> Self {
        let mut bytes = [0; PATH_BYTES];
        let mut len = 0;
        for part in [before, decimal(number, &mut [0; 10]), after] {
            bytes[len..len + part.len()].copy_from_slice(part);
            len += part.len();
        }
        Path { bytes }
    }

    fn get(&self) -> Option<&CStr> {
        CStr::from_bytes_until_nul(&self.bytes).ok()
    }
}

/// The beginning of a file; none if it cannot be opened. The kernel may hand out less than there is room for at a time.
fn read_file<'a>(path: &CStr, text: &'a mut [u8]) -> Option<&'a [u8]> {
    let fd = i32::try_from(sys::open_read(path))
        .ok()
        .filter(|&fd| fd >= 0)?;
    let mut len = 0;
    while let Ok(got @ 1..) = usize::try_from(sys::read(fd, &mut text[len..])) {
        len += got;
    }
    sys::close(fd);
    text.get(..len)
}

/// The decimal digits of `number`.
fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

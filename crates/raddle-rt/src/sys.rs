//! System calls made directly, not through libc.
//!
//! The runtime interposes libc's `syscall`, `mmap`-using allocator and blocking calls, and must not
//! touch `errno`; so it speaks to the kernel itself. Results are the kernel's: negative errno on failure.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A raw system call.
///
/// # Safety
/// As for the system call itself: pointers must be valid for what the kernel does with them.
#[inline(always)]
pub unsafe fn call(number: i64, a: [u64; 6]) -> i64 {
    let result: i64;
    // SAFETY: the `syscall` instruction clobbers rcx and r11 only; the caller vouches for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2],
            in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Waits until `word` is no longer `expected`, a wake comes, or `timeout_ns` have passed.
/// Returns false if the time ran out.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout_ns: Option<u64>) -> bool {
    let timeout = timeout_ns.map(|ns| [ns / 1_000_000_000, ns % 1_000_000_000]);
    let timeout = timeout.as_ref().map_or(0, |t| t.as_ptr() as u64);
    // SAFETY: `word` and `timeout` outlive the call.
    let result = unsafe {
        call(
            libc::SYS_futex,
            [
                word.as_ptr() as u64,
                (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as u64,
                u64::from(expected),
                timeout,
                0,
                0,
            ],
        )
    };
    result != -i64::from(libc::ETIMEDOUT)
}

/// Wakes one waiter of `word`.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: waking needs no memory beyond the word's address.
    unsafe {
        call(
            libc::SYS_futex,
            [
                word.as_ptr() as u64,
                (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as u64,
                1,
                0,
                0,
                0,
            ],
        );
    }
}

/// Where the runtime's own mappings go: far from where the kernel puts the program's, whose
/// addresses must not depend on what the runtime maps.
static NEXT_OWN: AtomicU64 = AtomicU64::new(0x3000_0000_0000);
/// The same for parts of the launcher's file. They differ between a recording and a replay, and the
/// program may find the runtime's addresses where it reads what it has not written.
static NEXT_SHARED: AtomicU64 = AtomicU64::new(0x3800_0000_0000);

/// Room for `bytes` behind what was mapped there before.
fn next_address(next: &AtomicU64, bytes: u64) -> u64 {
    next.fetch_add(bytes.next_multiple_of(1 << 21), Ordering::Relaxed)
}

/// Maps fresh zeroed memory for the runtime itself.
pub fn map_own(bytes: u64) -> *mut u8 {
    map_own_within(bytes, bytes)
}

/// The same of the first `bytes` of a place for `most`.
pub fn map_own_within(bytes: u64, most: u64) -> *mut u8 {
    let mapped = map_anonymous(next_address(&NEXT_OWN, most), bytes);
    if mapped.is_null() {
        crate::control::no_room(bytes);
    }
    mapped
}

/// `most` bytes, or fewer if the process's address space is limited: then one part in `share` of that limit, in whole
/// megabytes. It follows from the limit alone, so that runs under the same limit are the same.
pub fn within_limit(most: u64, share: u64) -> u64 {
    match address_space_limit() {
        None => most,
        Some(limit) => most.min((limit / share).next_multiple_of(1 << 20)),
    }
}

/// The limit of the process's address space, if there is one.
pub fn address_space_limit() -> Option<u64> {
    let mut limits = [u64::MAX; 2];
    // SAFETY: the kernel fills in both numbers.
    unsafe {
        call(
            libc::SYS_prlimit64,
            [
                0,
                u64::from(libc::RLIMIT_AS),
                0,
                (&raw mut limits) as u64,
                0,
                0,
            ],
        )
    };
    (limits[0] != libc::RLIM_INFINITY).then_some(limits[0])
}

/// Maps fresh zeroed memory at `address`. Null on failure.
pub fn map_anonymous(address: u64, bytes: u64) -> *mut u8 {
    map(
        address,
        bytes,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        -1,
        0,
    )
}

/// Maps a part of a file, shared, for the runtime itself. Null on failure.
pub fn map_shared(fd: i32, offset: u64, bytes: u64) -> *mut u8 {
    map_shared_within(fd, offset, bytes, bytes)
}

/// The same, in a place for `most` bytes.
pub fn map_shared_within(fd: i32, offset: u64, bytes: u64, most: u64) -> *mut u8 {
    let address = next_address(&NEXT_SHARED, most);
    map(address, bytes, libc::MAP_SHARED, fd, offset)
}

fn map(address: u64, bytes: u64, flags: i32, fd: i32, offset: u64) -> *mut u8 {
    let flags = flags | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping disturbs no existing one (not plain MAP_FIXED).
    let result = unsafe {
        call(
            libc::SYS_mmap,
            [
                address,
                bytes,
                (libc::PROT_READ | libc::PROT_WRITE) as u64,
                flags as u64,
                fd as u64,
                offset,
            ],
        )
    };
    if (-4095..0).contains(&result) {
        core::ptr::null_mut()
    } else {
        result as *mut u8
    }
}

/// Makes the page at `address` inaccessible.
pub fn protect_none(address: u64, bytes: u64) {
    // SAFETY: the caller's own mapping; later accesses fault, as wanted.
    unsafe {
        call(
            libc::SYS_mprotect,
            [address, bytes, libc::PROT_NONE as u64, 0, 0, 0],
        )
    };
}

/// Removes a mapping that nobody uses any more.
pub fn unmap(address: u64, bytes: u64) {
    // SAFETY: the caller owns the range and has no pointers into it.
    unsafe { call(libc::SYS_munmap, [address, bytes, 0, 0, 0, 0]) };
}

/// Gives the memory back; it reads as zero afterwards.
pub fn discard(address: u64, bytes: u64) {
    // SAFETY: the caller owns the range and no longer needs its contents.
    unsafe {
        call(
            libc::SYS_madvise,
            [address, bytes, libc::MADV_DONTNEED as u64, 0, 0, 0],
        )
    };
}

/// The kernel's id of this process.
pub fn getpid() -> i32 {
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// The kernel's id of this thread.
pub fn gettid() -> u32 {
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_gettid, [0; 6]) as u32 }
}

/// Whether this process has children, running or not yet waited for.
pub fn has_children() -> bool {
    const P_ALL: u64 = 0;
    let how = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as u64;
    // SAFETY: without a place for it, the kernel writes nothing, and the child stays to be waited for.
    unsafe { call(libc::SYS_waitid, [P_ALL, 0, 0, how, 0, 0]) == 0 }
}

/// Whether this process has a thread of this id. A main thread that has ended is there until the process ends.
pub fn has_thread(tid: u32) -> bool {
    // SAFETY: signal 0 is not sent; the kernel only looks for the thread.
    let answer = unsafe {
        let pid = getpid() as u64;
        call(libc::SYS_tgkill, [pid, u64::from(tid), 0, 0, 0, 0])
    };
    answer != -i64::from(libc::ESRCH)
}

/// Sends a signal to the calling thread; its handler has run when this returns.
pub fn signal_self(signal: u32) {
    // SAFETY: the handler is the program's and runs as if it had come from the kernel.
    unsafe {
        let pid = getpid() as u64;
        call(
            libc::SYS_tgkill,
            [pid, gettid().into(), signal.into(), 0, 0, 0],
        );
    }
}

/// Stops this process until a debugger lets it go on. Sent to the calling thread, so that it stops
/// here and not when the kernel gets to it.
pub fn stop_self() {
    signal_self(libc::SIGSTOP as u32);
}

/// Ends the process at once.
pub fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { call(libc::SYS_exit_group, [status as u64, 0, 0, 0, 0, 0]) };
    }
}

/// Writes `bytes` to a descriptor, as far as it goes.
pub fn write(fd: i32, bytes: &[u8]) -> i64 {
    // SAFETY: the slice is valid for reads.
    unsafe {
        call(
            libc::SYS_write,
            [
                fd as u64,
                bytes.as_ptr() as u64,
                bytes.len() as u64,
                0,
                0,
                0,
            ],
        )
    }
}

/// Reads into `bytes`.
pub fn read(fd: i32, bytes: &mut [u8]) -> i64 {
    // SAFETY: the slice is valid for writes.
    unsafe {
        call(
            libc::SYS_read,
            [
                fd as u64,
                bytes.as_mut_ptr() as u64,
                bytes.len() as u64,
                0,
                0,
                0,
            ],
        )
    }
}

/// Opens a NUL-terminated path for reading.
pub fn open_read(path: &core::ffi::CStr) -> i64 {
    let at = libc::AT_FDCWD as i64 as u64;
    let how = (libc::O_RDONLY | libc::O_CLOEXEC) as u64;
    // SAFETY: the path is NUL-terminated.
    unsafe { call(libc::SYS_openat, [at, path.as_ptr() as u64, how, 0, 0, 0]) }
}

/// Closes a descriptor.
pub fn close(fd: i32) {
    // SAFETY: the caller owns the descriptor.
    unsafe { call(libc::SYS_close, [fd as u64, 0, 0, 0, 0, 0]) };
}

/// Whether `poll` says that `events` are possible on `fd` right now (errors and hang-ups count).
pub fn poll_now(fd: i32, events: i16) -> bool {
    let mut entry = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: one valid pollfd.
    unsafe { call(libc::SYS_poll, [(&raw mut entry) as u64, 1, 0, 0, 0, 0]) != 0 }
}

/// Sleeps in real time.
pub fn sleep_real(ns: u64) {
    let time = [ns / 1_000_000_000, ns % 1_000_000_000];
    // SAFETY: a valid timespec.
    unsafe { call(libc::SYS_nanosleep, [time.as_ptr() as u64, 0, 0, 0, 0, 0]) };
}

/// Lets the kernel run somebody else.
pub fn yield_real() {
    // SAFETY: takes nothing.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

/// Reads a clock of the kernel, in nanoseconds.
pub fn clock_ns(clock: i32) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: a valid timespec.
    unsafe {
        call(
            libc::SYS_clock_gettime,
            [clock as u64, time.as_mut_ptr() as u64, 0, 0, 0, 0],
        )
    };
    time[0] * 1_000_000_000 + time[1]
}

/// Copies `len` bytes of this process at `address`, without a fault if they are not mapped.
pub fn peek(address: u64, len: usize) -> Option<u64> {
    let mut value = 0u64;
    let local = [(&raw mut value) as u64, len.min(8) as u64];
    let remote = [address, len.min(8) as u64];
    // SAFETY: the kernel checks the remote range; the local one is `value`.
    let copied = unsafe {
        let pid = getpid() as u64;
        call(
            libc::SYS_process_vm_readv,
            [pid, local.as_ptr() as u64, 1, remote.as_ptr() as u64, 1, 0],
        )
    };
    (copied == len.min(8) as i64).then_some(value)
}

/// Opens a file for appending as descriptor `number`; -1 if that fails.
pub fn open_append_as(path: &core::ffi::CStr, number: i32) -> i32 {
    let at = libc::AT_FDCWD as i64 as u64;
    let how = (libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC) as u64;
    // SAFETY: the path is NUL-terminated.
    let fd = unsafe { call(libc::SYS_openat, [at, path.as_ptr() as u64, how, 0, 0, 0]) };
    let Ok(fd @ 0..) = i32::try_from(fd) else {
        return -1;
    };
    move_descriptor(fd, number, libc::O_CLOEXEC)
}

/// Gives a descriptor the number `to`; -1 if that fails.
pub fn move_descriptor(fd: i32, to: i32, flags: i32) -> i32 {
    if fd == to {
        return fd;
    }
    // SAFETY: no memory involved; both numbers are the caller's to use.
    let moved = unsafe {
        call(
            libc::SYS_dup3,
            [fd as u64, to as u64, flags as u64, 0, 0, 0],
        )
    };
    close(fd);
    i32::try_from(moved).unwrap_or(-1).max(-1)
}

/// The length of an open file.
pub fn file_len(fd: i32) -> u64 {
    // SAFETY: no memory involved.
    let end = unsafe {
        call(
            libc::SYS_lseek,
            [fd as u64, 0, libc::SEEK_END as u64, 0, 0, 0],
        )
    };
    u64::try_from(end).unwrap_or(0)
}

/// Maps a whole file for reading. Null on failure.
pub fn map_readable(fd: i32, bytes: u64) -> *const u8 {
    let address = next_address(&NEXT_SHARED, bytes);
    let flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let how = [address, bytes, libc::PROT_READ as u64, flags as u64];
    // SAFETY: a new mapping disturbs no existing one (not plain MAP_FIXED).
    let result = unsafe {
        call(
            libc::SYS_mmap,
            [how[0], how[1], how[2], how[3], fd as u64, 0],
        )
    };
    if (-4095..0).contains(&result) {
        core::ptr::null()
    } else {
        result as *const u8
    }
}

/// Writes all the bytes that `vectors` (address and length) point to. False if that fails.
pub fn write_all_vectors(fd: i32, mut vectors: &mut [[u64; 2]]) -> bool {
    while let Some(first) = vectors.first_mut() {
        if first[1] == 0 {
            vectors = &mut vectors[1..];
            continue;
        }
        let (start, count) = (vectors.as_ptr() as u64, vectors.len() as u64);
        // SAFETY: the caller's vectors are readable.
        let mut done = match unsafe { call(libc::SYS_writev, [fd as u64, start, count, 0, 0, 0]) } {
            done if done > 0 => done as u64,
            error if error == -i64::from(libc::EINTR) => continue,
            _ => return false,
        };
        for vector in vectors.iter_mut() {
            let part = done.min(vector[1]);
            vector[0] += part;
            vector[1] -= part;
            done -= part;
        }
    }
    true
}

/// A copy of a descriptor with a number of at least `from`; negative on failure.
pub fn dup_above(fd: i32, from: i32) -> i32 {
    let how = libc::F_DUPFD_CLOEXEC as u64;
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_fcntl, [fd as u64, how, from as u64, 0, 0, 0]) as i32 }
}

/// Opens the file that swallows everything and has nothing to read; negative on failure.
pub fn open_null() -> i32 {
    let (at, path) = (libc::AT_FDCWD as i64 as u64, c"/dev/null".as_ptr() as u64);
    let how = (libc::O_RDWR | libc::O_CLOEXEC) as u64;
    // SAFETY: the path is NUL-terminated.
    unsafe { call(libc::SYS_openat, [at, path, how, 0, 0, 0]) as i32 }
}

/// As [`poll_now`], but waits for up to `patience_ms`.
pub fn poll_for(fd: i32, events: i16, patience_ms: i32) -> bool {
    let mut entry = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    let start = (&raw mut entry) as u64;
    // SAFETY: one valid pollfd.
    unsafe { call(libc::SYS_poll, [start, 1, patience_ms as u64, 0, 0, 0]) > 0 }
}

/// Sends a signal to the calling thread with what the kernel said of it once; its handler has run
/// when this returns.
pub fn queue_signal_self(signal: u32, info: &[u64; 16]) {
    let (pid, tid) = (getpid() as u64, u64::from(gettid()));
    let info = info.as_ptr() as u64;
    // SAFETY: a `siginfo_t` of 128 bytes; the handler runs as if it had come from the kernel.
    unsafe {
        let number = libc::SYS_rt_tgsigqueueinfo;
        call(number, [pid, tid, signal.into(), info, 0, 0]);
    }
}

/// The length of a file, whose position stays where it is.
pub fn len_of(fd: i32) -> u64 {
    // SAFETY: plain data, for which zero is a value; the kernel fills in one.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let place = (&raw mut stat) as u64;
        call(libc::SYS_fstat, [fd as u64, place, 0, 0, 0, 0]);
        u64::try_from(stat.st_size).unwrap_or(0)
    }
}

//! The functions behind the interposed ones, found with `dlsym(RTLD_NEXT)` on first use.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use libc::{
    pthread_attr_t, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_mutex_t,
    pthread_rwlock_t, sem_t, size_t, ssize_t, timespec,
};

/// libc's `pthread_once_t`.
pub type OnceControl = c_int;
/// A thread's start routine.
pub type Start = extern "C" fn(*mut c_void) -> *mut c_void;

fn find(name: &core::ffi::CStr) -> *mut c_void {
    // SAFETY: a NUL-terminated name; RTLD_NEXT looks behind this library.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if address.is_null() {
        crate::sys::write(2, b"raddle: libc has no function ");
        crate::sys::write(2, name.to_bytes());
        crate::sys::write(2, b"\n");
        crate::sys::exit_process(1);
    }
    address
}

macro_rules! real {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[doc = concat!("libc's `", stringify!($name), "`.")]
        pub fn $name($($arg: $type),*) $(-> $result)? {
            static FOUND: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
            let mut address = FOUND.load(Ordering::Relaxed);
            if address.is_null() {
                // SAFETY: the literal ends with its only NUL.
                address = find(unsafe {
                    core::ffi::CStr::from_bytes_with_nul_unchecked(
                        concat!(stringify!($name), "\0").as_bytes())
                });
                FOUND.store(address, Ordering::Relaxed);
            }
            // SAFETY: the signature is libc's; callers pass on what the program passed.
            unsafe {
                let function: extern "C" fn($($type),*) $(-> $result)? = core::mem::transmute(address);
                function($($arg),*)
            }
        }
    )*};
}

real! {
    fn pthread_create(thread: *mut u64, attr: *const pthread_attr_t, start: Start, arg: *mut c_void) -> c_int;
    fn pthread_join(thread: u64, result: *mut *mut c_void) -> c_int;
    fn pthread_tryjoin_np(thread: u64, result: *mut *mut c_void) -> c_int;
    fn pthread_timedjoin_np(thread: u64, result: *mut *mut c_void, time: *const timespec) -> c_int;
    fn pthread_detach(thread: u64) -> c_int;
    fn pthread_cancel(thread: u64) -> c_int;
    fn pthread_testcancel();
    fn pthread_getattr_np(thread: u64, attr: *mut pthread_attr_t) -> c_int;
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int;
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: c_int, time: *const timespec) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, time: *const timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, time: *const timespec) -> c_int;
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: c_int, time: *const timespec) -> c_int;
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: c_int, time: *const timespec) -> c_int;
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_spin_lock(lock: *mut c_int) -> c_int;
    fn pthread_spin_trylock(lock: *mut c_int) -> c_int;
    fn pthread_spin_unlock(lock: *mut c_int) -> c_int;
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int;
    fn pthread_cond_clockwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: c_int, time: *const timespec) -> c_int;
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_barrier_init(barrier: *mut pthread_barrier_t, attr: *const pthread_barrierattr_t, count: u32) -> c_int;
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_once(once: *mut OnceControl, init: extern "C" fn()) -> c_int;
    fn sem_wait(sem: *mut sem_t) -> c_int;
    fn sem_trywait(sem: *mut sem_t) -> c_int;
    fn sem_timedwait(sem: *mut sem_t, time: *const timespec) -> c_int;
    fn sem_clockwait(sem: *mut sem_t, clock: c_int, time: *const timespec) -> c_int;
    fn sem_post(sem: *mut sem_t) -> c_int;
    fn sem_destroy(sem: *mut sem_t) -> c_int;
    fn syscall(number: i64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64;
    fn sched_yield() -> c_int;
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn clock_nanosleep(clock: c_int, how: c_int, time: *const timespec, left: *mut timespec) -> c_int;
    fn sleep(seconds: u32) -> u32;
    fn usleep(microseconds: u32) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut timespec) -> c_int;
    fn gettimeofday(time: *mut libc::timeval, zone: *mut c_void) -> c_int;
    fn time(time: *mut i64) -> i64;
    fn timespec_get(time: *mut timespec, base: c_int) -> c_int;
    fn getrandom(buffer: *mut c_void, len: size_t, flags: u32) -> ssize_t;
    fn getentropy(buffer: *mut c_void, len: size_t) -> c_int;
    fn fork() -> c_int;
    fn getppid() -> c_int;
    fn posix_spawnp(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        argv: *const *mut c_char, environment: *const *mut c_char) -> c_int;
    fn posix_spawn(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        argv: *const *mut c_char, environment: *const *mut c_char) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn exit(status: c_int);
    fn quick_exit(status: c_int);
    fn __libc_start_main(main: *mut c_void, argc: c_int, argv: *mut *mut c_char, init: *mut c_void,
        fini: *mut c_void, rtld_fini: *mut c_void, stack_end: *mut c_void) -> c_int;
    fn __assert_fail(what: *const c_char, file: *const c_char, line: u32, function: *const c_char);
    fn read(fd: c_int, buffer: *mut c_void, len: size_t) -> ssize_t;
    fn write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t;
    fn recv(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int, from: *mut c_void, from_len: *mut u32) -> ssize_t;
    fn recvmsg(fd: c_int, message: *mut c_void, flags: c_int) -> ssize_t;
    fn send(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t;
    fn accept(fd: c_int, address: *mut c_void, len: *mut u32) -> c_int;
    fn accept4(fd: c_int, address: *mut c_void, len: *mut u32, flags: c_int) -> c_int;
    fn connect(fd: c_int, address: *const c_void, len: u32) -> c_int;
    fn poll(fds: *mut libc::pollfd, count: u64, timeout_ms: c_int) -> c_int;
    fn select(count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *mut libc::timeval) -> c_int;
    fn epoll_wait(fd: c_int, events: *mut c_void, most: c_int, timeout_ms: c_int) -> c_int;
    fn stat(path: *const c_char, place: *mut libc::stat) -> c_int;
    fn stat64(path: *const c_char, place: *mut libc::stat) -> c_int;
    fn lstat(path: *const c_char, place: *mut libc::stat) -> c_int;
    fn lstat64(path: *const c_char, place: *mut libc::stat) -> c_int;
    fn fstat(fd: c_int, place: *mut libc::stat) -> c_int;
    fn fstat64(fd: c_int, place: *mut libc::stat) -> c_int;
    fn fstatat(fd: c_int, path: *const c_char, place: *mut libc::stat, flags: c_int) -> c_int;
    fn fstatat64(fd: c_int, path: *const c_char, place: *mut libc::stat, flags: c_int) -> c_int;
    fn statx(fd: c_int, path: *const c_char, flags: c_int, mask: u32, place: *mut libc::statx) -> c_int;
    fn sigwait(set: *const c_void, signal: *mut c_int) -> c_int;
    fn pause() -> c_int;
    fn pthread_kill(thread: u64, signal: c_int) -> c_int;
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
}

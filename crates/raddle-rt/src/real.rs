//! The functions that the interposed ones stand in for, found with `dlsym(RTLD_NEXT)`.
//!
//! They are looked up as the runtime starts, before any code of the program runs: `dlsym` frees the text that is pending
//! for the program's next `dlerror`, and a replay may come to a function first at another place. Only what
//! constructors of libraries call before that, and what comes with a library that is loaded later, is looked up on first use.

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

/// On the runtime's own stack: a replay may come to a function first at another place.
fn find(name: &core::ffi::CStr) -> *mut c_void {
    crate::tls::on_own_stack(|| find_here(name))
}

fn look_up(name: &core::ffi::CStr) -> *mut c_void {
    // SAFETY: a NUL-terminated name; RTLD_NEXT looks in the libraries after this one.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

fn find_here(name: &core::ffi::CStr) -> *mut c_void {
    let address = look_up(name);
    if address.is_null() {
        crate::sys::write(2, b"raddle: libc has no function ");
        crate::sys::write(2, name.to_bytes());
        crate::sys::write(2, b"\n");
        crate::sys::exit_process(1);
    }
    address
}

/// A name with the NUL that ends it.
macro_rules! name_of {
    ($name:ident) => {
        // SAFETY: the literal ends with its only NUL.
        unsafe {
            core::ffi::CStr::from_bytes_with_nul_unchecked(
                concat!(stringify!($name), "\0").as_bytes(),
            )
        }
    };
}

macro_rules! real {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
    /// Where each function is; null until it was looked up.
    #[allow(non_upper_case_globals, reason = "libc's own names")]
    mod found {
        use super::{AtomicPtr, c_void};
        $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());)*
    }

    /// Looks all functions up. One that this libc does not have is missed when it is called.
    pub fn find_all() {
        $(found::$name.store(look_up(name_of!($name)), Ordering::Relaxed);)*
        // SAFETY: takes nothing. The text of a failure is not the program's to see.
        unsafe { libc::dlerror() };
    }

    $(
        #[doc = concat!("libc's `", stringify!($name), "`.")]
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "libc's own names and arguments")]
        pub fn $name($($arg: $type),*) $(-> $result)? {
            let mut address = found::$name.load(Ordering::Relaxed);
            if address.is_null() {
                address = find(name_of!($name));
                found::$name.store(address, Ordering::Relaxed);
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
    fn pthread_setcanceltype(new: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcancelstate(new: c_int, old: *mut c_int) -> c_int;
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
    fn _Fork() -> c_int;
    fn getppid() -> c_int;
    fn posix_spawnp(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        argv: *const *mut c_char, environment: *const *mut c_char) -> c_int;
    fn posix_spawn(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        argv: *const *mut c_char, environment: *const *mut c_char) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn __cxa_atexit(handler: *mut c_void, argument: *mut c_void, image: *mut c_void) -> c_int;
    fn __cxa_at_quick_exit(handler: extern "C" fn(), image: *mut c_void) -> c_int;
    fn on_exit(handler: *mut c_void, argument: *mut c_void) -> c_int;
    fn exit(status: c_int);
    fn abort();
    fn quick_exit(status: c_int);
    fn __libc_start_main(main: *mut c_void, argc: c_int, argv: *mut *mut c_char, init: *mut c_void,
        fini: *mut c_void, rtld_fini: *mut c_void, stack_end: *mut c_void) -> c_int;
    fn __assert_fail(what: *const c_char, file: *const c_char, line: u32, function: *const c_char);
    fn read(fd: c_int, buffer: *mut c_void, len: size_t) -> ssize_t;
    fn write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t;
    fn recv(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int, from: *mut c_void, from_len: *mut u32) -> ssize_t;
    fn recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> ssize_t;
    fn send(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t;
    fn accept(fd: c_int, address: *mut c_void, len: *mut u32) -> c_int;
    fn accept4(fd: c_int, address: *mut c_void, len: *mut u32, flags: c_int) -> c_int;
    fn connect(fd: c_int, address: *const c_void, len: u32) -> c_int;
    fn poll(fds: *mut libc::pollfd, count: u64, timeout_ms: c_int) -> c_int;
    fn select(count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *mut libc::timeval) -> c_int;
    fn epoll_wait(fd: c_int, events: *mut libc::epoll_event, most: c_int, timeout_ms: c_int) -> c_int;
    fn epoll_pwait(fd: c_int, events: *mut libc::epoll_event, most: c_int, timeout_ms: c_int, mask: *const libc::sigset_t) -> c_int;
    fn epoll_pwait2(fd: c_int, events: *mut libc::epoll_event, most: c_int, timeout: *const timespec, mask: *const libc::sigset_t) -> c_int;
    fn epoll_ctl(fd: c_int, what: c_int, other: c_int, event: *mut libc::epoll_event) -> c_int;
    fn epoll_create(size: c_int) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn ppoll(fds: *mut libc::pollfd, count: u64, timeout: *const timespec, mask: *const libc::sigset_t) -> c_int;
    fn pselect(count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *const timespec, mask: *const libc::sigset_t) -> c_int;
    fn pread(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64) -> ssize_t;
    fn pread64(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64) -> ssize_t;
    fn readv(fd: c_int, vectors: *const libc::iovec, count: c_int) -> ssize_t;
    fn preadv(fd: c_int, vectors: *const libc::iovec, count: c_int, offset: i64) -> ssize_t;
    fn preadv64(fd: c_int, vectors: *const libc::iovec, count: c_int, offset: i64) -> ssize_t;
    fn __read_chk(fd: c_int, buffer: *mut c_void, len: size_t, room: size_t) -> ssize_t;
    fn __pread_chk(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64, room: size_t) -> ssize_t;
    fn __pread64_chk(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64, room: size_t) -> ssize_t;
    fn __recv_chk(fd: c_int, buffer: *mut c_void, len: size_t, room: size_t, flags: c_int) -> ssize_t;
    fn __recvfrom_chk(fd: c_int, buffer: *mut c_void, len: size_t, room: size_t, flags: c_int, from: *mut c_void, from_len: *mut u32) -> ssize_t;
    fn pwrite(fd: c_int, buffer: *const c_void, len: size_t, offset: i64) -> ssize_t;
    fn pwrite64(fd: c_int, buffer: *const c_void, len: size_t, offset: i64) -> ssize_t;
    fn writev(fd: c_int, vectors: *const libc::iovec, count: c_int) -> ssize_t;
    fn pwritev(fd: c_int, vectors: *const libc::iovec, count: c_int, offset: i64) -> ssize_t;
    fn pwritev64(fd: c_int, vectors: *const libc::iovec, count: c_int, offset: i64) -> ssize_t;
    fn sendto(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int, to: *const c_void, to_len: u32) -> ssize_t;
    fn sendmsg(fd: c_int, message: *const c_void, flags: c_int) -> ssize_t;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int;
    fn bind(fd: c_int, address: *const c_void, len: u32) -> c_int;
    fn listen(fd: c_int, backlog: c_int) -> c_int;
    fn shutdown(fd: c_int, how: c_int) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: u32) -> c_int;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut u32) -> c_int;
    fn getsockname(fd: c_int, address: *mut c_void, len: *mut u32) -> c_int;
    fn getpeername(fd: c_int, address: *mut c_void, len: *mut u32) -> c_int;
    fn pipe(pair: *mut c_int) -> c_int;
    fn pipe2(pair: *mut c_int, flags: c_int) -> c_int;
    fn eventfd(value: u32, flags: c_int) -> c_int;
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int;
    fn inotify_init() -> c_int;
    fn inotify_init1(flags: c_int) -> c_int;
    fn signalfd(fd: c_int, set: *const c_void, flags: c_int) -> c_int;
    fn memfd_create(name: *const c_char, flags: u32) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn dup(fd: c_int) -> c_int;
    fn dup2(fd: c_int, to: c_int) -> c_int;
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, argument: u64) -> c_int;
    fn ioctl(fd: c_int, request: u64, argument: u64) -> c_int;
    fn sigsuspend(mask: *const libc::sigset_t) -> c_int;
    fn sigwaitinfo(set: *const libc::sigset_t, info: *mut libc::siginfo_t) -> c_int;
    fn sigtimedwait(set: *const libc::sigset_t, info: *mut libc::siginfo_t, timeout: *const timespec) -> c_int;
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
    fn longjmp(place: *mut c_void, value: c_int);
    fn siglongjmp(place: *mut c_void, value: c_int);
    fn sched_getcpu() -> c_int;
    fn getcpu(processor: *mut u32, node: *mut u32) -> c_int;
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn open(path: *const c_char, flags: c_int, mode: u32) -> c_int;
    fn open64(path: *const c_char, flags: c_int, mode: u32) -> c_int;
    fn openat(fd: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int;
    fn openat64(fd: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int;
    fn __open_2(path: *const c_char, flags: c_int) -> c_int;
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int;
    fn __openat_2(fd: c_int, path: *const c_char, flags: c_int) -> c_int;
    fn __openat64_2(fd: c_int, path: *const c_char, flags: c_int) -> c_int;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn lseek64(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn ftruncate(fd: c_int, len: i64) -> c_int;
    fn ftruncate64(fd: c_int, len: i64) -> c_int;
    fn fsync(fd: c_int) -> c_int;
    fn fdatasync(fd: c_int) -> c_int;
    fn flock(fd: c_int, how: c_int) -> c_int;
    fn isatty(fd: c_int) -> c_int;
    fn posix_fadvise(fd: c_int, offset: i64, len: i64, advice: c_int) -> c_int;
    fn posix_fadvise64(fd: c_int, offset: i64, len: i64, advice: c_int) -> c_int;
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    fn inotify_add_watch(fd: c_int, path: *const c_char, mask: u32) -> c_int;
    fn sendfile(to: c_int, from: c_int, offset: *mut i64, len: size_t) -> ssize_t;
    fn copy_file_range(from: c_int, from_offset: *mut i64, to: c_int, to_offset: *mut i64, len: size_t, flags: u32) -> ssize_t;
    fn unlink(path: *const c_char) -> c_int;
    fn unlinkat(fd: c_int, path: *const c_char, flags: c_int) -> c_int;
    fn remove(path: *const c_char) -> c_int;
    fn rename(from: *const c_char, to: *const c_char) -> c_int;
    fn renameat(from_fd: c_int, from: *const c_char, to_fd: c_int, to: *const c_char) -> c_int;
    fn mkdir(path: *const c_char, mode: u32) -> c_int;
    fn mkdirat(fd: c_int, path: *const c_char, mode: u32) -> c_int;
    fn rmdir(path: *const c_char) -> c_int;
    fn link(from: *const c_char, to: *const c_char) -> c_int;
    fn symlink(from: *const c_char, to: *const c_char) -> c_int;
    fn chmod(path: *const c_char, mode: u32) -> c_int;
    fn truncate(path: *const c_char, len: i64) -> c_int;
    fn truncate64(path: *const c_char, len: i64) -> c_int;
    fn chdir(path: *const c_char) -> c_int;
    fn access(path: *const c_char, mode: c_int) -> c_int;
    fn faccessat(fd: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    fn readlink(path: *const c_char, buffer: *mut c_char, len: size_t) -> ssize_t;
    fn readlinkat(fd: c_int, path: *const c_char, buffer: *mut c_char, len: size_t) -> ssize_t;
    fn __readlink_chk(path: *const c_char, buffer: *mut c_char, len: size_t, room: size_t) -> ssize_t;
    fn __readlinkat_chk(fd: c_int, path: *const c_char, buffer: *mut c_char, len: size_t, room: size_t) -> ssize_t;
    fn gethostname(name: *mut c_char, len: size_t) -> c_int;
    fn __gethostname_chk(name: *mut c_char, len: size_t, room: size_t) -> c_int;
    fn uname(place: *mut libc::utsname) -> c_int;
    fn sysinfo(place: *mut libc::sysinfo) -> c_int;
    fn getrusage(who: c_int, place: *mut libc::rusage) -> c_int;
    fn getrlimit(resource: c_int, place: *mut libc::rlimit) -> c_int;
    fn getrlimit64(resource: c_int, place: *mut libc::rlimit) -> c_int;
    fn sched_getaffinity(pid: c_int, len: size_t, set: *mut c_void) -> c_int;
    fn getloadavg(place: *mut f64, count: c_int) -> c_int;
    fn statvfs(path: *const c_char, place: *mut libc::statvfs) -> c_int;
    fn statvfs64(path: *const c_char, place: *mut libc::statvfs) -> c_int;
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE;
    fn fdopen(fd: c_int, mode: *const c_char) -> *mut libc::FILE;
    fn popen(command: *const c_char, mode: *const c_char) -> *mut libc::FILE;
    fn pclose(stream: *mut libc::FILE) -> c_int;
    fn system(command: *const c_char) -> c_int;
    fn opendir(path: *const c_char) -> *mut libc::DIR;
    fn fdopendir(fd: c_int) -> *mut libc::DIR;
    fn readdir64(dir: *mut libc::DIR) -> *mut libc::dirent64;
    fn closedir(dir: *mut libc::DIR) -> c_int;
    fn mmap(address: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn getaddrinfo(node: *const c_char, service: *const c_char, hints: *const libc::addrinfo, result: *mut *mut libc::addrinfo) -> c_int;
    fn freeaddrinfo(list: *mut libc::addrinfo);
    fn mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int;
    fn mkdtemp(template: *mut c_char) -> *mut c_char;
    fn glob(pattern: u64, flags: u64, error: u64, found: u64) -> c_int;
    fn sysconf(name: c_int) -> i64;
    fn get_nprocs() -> c_int;
    fn get_nprocs_conf() -> c_int;
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut libc::FILE) -> *mut libc::FILE;
    fn clock() -> i64;
    fn times(place: *mut libc::tms) -> i64;
    fn clock_getcpuclockid(pid: c_int, place: *mut libc::clockid_t) -> c_int;
    fn pthread_getcpuclockid(thread: u64, place: *mut libc::clockid_t) -> c_int;
    fn arc4random() -> u32;
    fn arc4random_buf(buffer: *mut c_void, len: size_t);
    fn arc4random_uniform(bound: u32) -> u32;
    fn waitid(kind: u32, id: u32, info: *mut libc::siginfo_t, options: c_int) -> c_int;
    fn mktemp(template: *mut c_char) -> *mut c_char;
    fn fstatvfs(fd: c_int, place: *mut libc::statvfs) -> c_int;
    fn fstatvfs64(fd: c_int, place: *mut libc::statvfs) -> c_int;
    fn statfs(path: *const c_char, place: *mut libc::statfs) -> c_int;
    fn statfs64(path: *const c_char, place: *mut libc::statfs) -> c_int;
    fn fstatfs(fd: c_int, place: *mut libc::statfs) -> c_int;
    fn fstatfs64(fd: c_int, place: *mut libc::statfs) -> c_int;
    fn alarm(seconds: u32) -> u32;
    fn setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int;
    fn timer_settime(timer: *mut c_void, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec) -> c_int;
    fn getitimer(which: c_int, place: *mut libc::itimerval) -> c_int;
    fn timer_gettime(timer: *mut c_void, place: *mut libc::itimerspec) -> c_int;
    fn timerfd_gettime(fd: c_int, place: *mut libc::itimerspec) -> c_int;
    fn preadv2(fd: c_int, vectors: *const libc::iovec, count: c_int, offset: i64, flags: c_int) -> ssize_t;
    fn preadv64v2(fd: c_int, vectors: *const libc::iovec, count: c_int, offset: i64, flags: c_int) -> ssize_t;
    fn nftw(directory: u64, visit: u64, most: u64, flags: u64) -> u64;
    fn nftw64(directory: u64, visit: u64, most: u64, flags: u64) -> u64;
    fn ftw(directory: u64, visit: u64, most: u64) -> u64;
    fn ftw64(directory: u64, visit: u64, most: u64) -> u64;
    fn fts_open(paths: u64, options: u64, compare: u64) -> u64;
    fn fts64_open(paths: u64, options: u64, compare: u64) -> u64;
    fn getdents64(fd: u64, buffer: u64, len: u64) -> u64;
    fn splice(from: u64, from_offset: u64, to: u64, to_offset: u64, len: u64, flags: u64) -> u64;
    fn tee(from: u64, to: u64, len: u64, flags: u64) -> u64;
    fn process_vm_readv(pid: c_int, local: *const libc::iovec, local_count: u64, remote: *const libc::iovec, remote_count: u64, flags: u64) -> ssize_t;
    fn process_vm_writev(pid: c_int, local: *const libc::iovec, local_count: u64, remote: *const libc::iovec, remote_count: u64, flags: u64) -> ssize_t;
    fn sched_setaffinity(pid: c_int, len: size_t, set: *const c_void) -> c_int;
    fn sched_getscheduler(pid: c_int) -> c_int;
    fn sched_setscheduler(pid: c_int, policy: c_int, place: *const libc::sched_param) -> c_int;
    fn sched_getparam(pid: c_int, place: *mut libc::sched_param) -> c_int;
    fn sched_setparam(pid: c_int, place: *const libc::sched_param) -> c_int;
    fn sched_rr_get_interval(pid: c_int, place: *mut timespec) -> c_int;
    fn prlimit(pid: c_int, what: u32, new: *const libc::rlimit, old: *mut libc::rlimit) -> c_int;
    fn prlimit64(pid: c_int, what: u32, new: *const libc::rlimit, old: *mut libc::rlimit) -> c_int;
    fn setpgid(pid: c_int, group: c_int) -> c_int;
    fn tcsetpgrp(fd: c_int, group: c_int) -> c_int;
    fn tcgetpgrp(fd: c_int) -> c_int;
    fn getpgrp() -> c_int;
    fn getpgid(pid: c_int) -> c_int;
    fn getsid(pid: c_int) -> c_int;
    fn setsid() -> c_int;
    fn getpriority(which: u32, of: u32) -> c_int;
    fn setpriority(which: u32, of: u32, priority: c_int) -> c_int;
    fn killpg(group: c_int, signal: c_int) -> c_int;
    fn sigqueue(pid: c_int, signal: c_int, value: u64) -> c_int;
    fn tgkill(pid: c_int, tid: c_int, signal: c_int) -> c_int;
    fn ptrace(request: u32, pid: c_int, address: u64, data: u64) -> i64;
    fn shm_open(name: *const c_char, flags: c_int, mode: u32) -> c_int;
    fn shm_unlink(name: *const c_char) -> c_int;
    fn pidfd_open(pid: c_int, flags: u32) -> c_int;
    fn mq_receive(queue: u64, buffer: u64, len: u64, priority: u64) -> u64;
    fn mq_timedreceive(queue: u64, buffer: u64, len: u64, priority: u64, until: u64) -> u64;
    fn shmget(key: libc::key_t, len: size_t, flags: c_int) -> c_int;
    fn shmat(number: c_int, address: *const c_void, flags: c_int) -> *mut c_void;
    fn shmctl(number: c_int, what: c_int, place: *mut c_void) -> c_int;
    fn semget(key: libc::key_t, count: c_int, flags: c_int) -> c_int;
    fn semop(number: c_int, operations: *mut c_void, count: size_t) -> c_int;
    fn semtimedop(number: c_int, operations: *mut c_void, count: size_t, limit: *const timespec) -> c_int;
    fn semctl(number: c_int, index: c_int, what: c_int, argument: u64) -> c_int;
    fn msgget(key: libc::key_t, flags: c_int) -> c_int;
    fn msgsnd(number: c_int, message: *const c_void, len: size_t, flags: c_int) -> c_int;
    fn msgrcv(number: c_int, message: *mut c_void, len: size_t, kind: i64, flags: c_int) -> ssize_t;
    fn msgctl(number: c_int, what: c_int, place: *mut c_void) -> c_int;
    fn aio_read(request: u64) -> u64;
    fn aio_read64(request: u64) -> u64;
    fn lio_listio(mode: u64, requests: u64, count: u64, event: u64) -> u64;
    fn lio_listio64(mode: u64, requests: u64, count: u64, event: u64) -> u64;
    fn gethostbyname(name: u64) -> u64;
    fn gethostbyname2(name: u64, family: u64) -> u64;
    fn gethostbyaddr(address: u64, len: u64, family: u64) -> u64;
    fn gethostbyname_r(name: u64, place: u64, buffer: u64, len: u64, result: u64, error: u64) -> u64;
    fn gethostbyname2_r(name: u64, family: u64, place: u64, buffer: u64, len: u64, result: u64, error: u64) -> u64;
    fn gethostbyaddr_r(address: u64, address_len: u64, family: u64, place: u64, buffer: u64, len: u64, result: u64, error: u64) -> u64;
    fn getnameinfo(address: u64, address_len: u64, host: u64, host_len: u64, service: u64, service_len: u64, flags: u64) -> u64;
    fn tmpnam(place: u64) -> u64;
    fn tmpnam_r(place: u64) -> u64;
    fn tempnam(directory: u64, prefix: u64) -> u64;
}

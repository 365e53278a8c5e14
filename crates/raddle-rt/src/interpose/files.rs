//! Files and what the kernel says of them.
//!
//! A file that is only read is absent in a replay: its contents are in the input log. One that is
//! opened to be written is opened and written again, so that whoever looks at it afterwards (the
//! oracle, a child) finds what the run left. What names a file by its path is done again where it
//! changes something, and answered from the log.
//!
//! What differs from run to run for no reason of the program's is not shown at all. The time of last
//! access shows the time of last change instead, as on a file system mounted with `noatime`: other
//! runs read the same files. Files of `/proc` are made when somebody looks: their inode numbers and
//! times are fixed.

use core::ffi::{c_char, c_int, c_uint, c_void};

use libc::{size_t, ssize_t};
use raddle_trace::wire::InputCall;

use super::descriptors::{Kind, kind, new_descriptor};
use super::outside::{Question, ask};
use super::proc_paths::ForKernel;
use crate::inputs::{self, Part};
use crate::real;
use crate::stack::caller;

/// Inode number and time that files of `/proc` show.
const PROC_INODE: u64 = 1;
const PROC_SECONDS: i64 = 1_577_836_800;

/// Whether a device is of the kind that `/proc` is on, and the file says nothing of its length.
fn looks_like_proc(major: u32, size: i64, blocks: i64) -> bool {
    major == 0 && size == 0 && blocks == 0
}

fn settle_stat(stat: &mut libc::stat) {
    if looks_like_proc(libc::major(stat.st_dev), stat.st_size, stat.st_blocks) {
        stat.st_ino = PROC_INODE;
        (stat.st_mtime, stat.st_mtime_nsec) = (PROC_SECONDS, 0);
        (stat.st_ctime, stat.st_ctime_nsec) = (PROC_SECONDS, 0);
    }
    (stat.st_atime, stat.st_atime_nsec) = (stat.st_mtime, stat.st_mtime_nsec);
}

fn settle_statx(stat: &mut libc::statx) {
    let (size, blocks) = (stat.stx_size as i64, stat.stx_blocks as i64);
    if looks_like_proc(stat.stx_dev_major, size, blocks) {
        stat.stx_ino = PROC_INODE;
        stat.stx_mnt_id = 0;
        for time in [
            &mut stat.stx_mtime,
            &mut stat.stx_ctime,
            &mut stat.stx_btime,
        ] {
            (time.tv_sec, time.tv_nsec) = (PROC_SECONDS, 0);
        }
    }
    stat.stx_atime = stat.stx_mtime;
}

/// Asks about a file, and settles the answer.
fn ask_stat<T>(
    pc: u64,
    fd: c_int,
    place: *mut T,
    settle: fn(&mut T),
    act: impl Fn() -> c_int,
) -> c_int {
    let act = || {
        let result = act();
        // Before the runtime has started, and in a child, the kernel's word counts.
        if result == 0 && !crate::tls::me().is_null() {
            // SAFETY: the kernel has just filled in the program's structure.
            unsafe { place.as_mut() }.map(settle);
        }
        i64::from(result)
    };
    // What stands behind a descriptor that was given (a memory file of the launcher's) has no name that
    // would be the same in a replay, so it is asked about like a path.
    let question = match kind(fd) {
        Kind::Given => Question::general(pc, InputCall::Stat),
        _ => Question::on(pc, InputCall::Stat, fd),
    };
    ask(question, act, |_| [Part::of(place)]) as c_int
}

/// The same for `statx` through libc's `syscall`.
pub(super) fn ask_statx(pc: u64, fd: c_int, place: *mut libc::statx, act: impl Fn() -> i64) -> i64 {
    ask_stat(pc, fd, place, settle_statx, || act() as c_int).into()
}

macro_rules! stat_family {
    ($(fn $name:ident($($arg:ident: $type:ty),*; $stat:ty $(; $last:ident: $last_type:ty)?) on $fd:expr, by $settle:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type,)* place: *mut $stat $(, $last: $last_type)?) -> c_int {
            ask_stat(caller(), $fd, place, $settle, || {
                real::$name($($arg.held().get(),)* place $(, $last)?)
            })
        }
    )*};
}

stat_family! {
    fn stat(path: *const c_char; libc::stat) on -1, by settle_stat;
    fn stat64(path: *const c_char; libc::stat) on -1, by settle_stat;
    fn lstat(path: *const c_char; libc::stat) on -1, by settle_stat;
    fn lstat64(path: *const c_char; libc::stat) on -1, by settle_stat;
    fn fstat(fd: c_int; libc::stat) on fd, by settle_stat;
    fn fstat64(fd: c_int; libc::stat) on fd, by settle_stat;
    fn fstatat(fd: c_int, path: *const c_char; libc::stat; flags: c_int) on fd, by settle_stat;
    fn fstatat64(fd: c_int, path: *const c_char; libc::stat; flags: c_int) on fd, by settle_stat;
    fn statx(fd: c_int, path: *const c_char, flags: c_int, mask: c_uint; libc::statx) on fd, by settle_statx;
}

// ---- opening ----

/// How a replay opens a file: one that is only read not at all, another as it is there now.
fn opened(flags: c_int) -> Kind {
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
    if writes { Kind::Shadow } else { Kind::Absent }
}

/// Opens a file; `act` does with the flags that it gets.
pub(super) fn open_file(pc: u64, flags: c_int, act: impl Fn(c_int) -> c_int) -> c_int {
    let question = Question::general(pc, InputCall::Open);
    new_descriptor(question, opened(flags), flags, || {
        // What the recorded run made may be there still.
        let again = inputs::answers();
        let flags = if again { flags & !libc::O_EXCL } else { flags };
        i64::from(act(flags))
    }) as c_int
}

macro_rules! opens {
    ($(fn $name:ident($($arg:ident: $type:ty),*; flags $(, $mode:ident)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type,)* flags: c_int $(, $mode: u32)?) -> c_int {
            open_file(caller(), flags, |flags| {
                real::$name($($arg.held().get(),)* flags $(, $mode)?)
            })
        }
    )*};
}

opens! {
    fn open(path: *const c_char; flags, mode);
    fn open64(path: *const c_char; flags, mode);
    fn openat(fd: c_int, path: *const c_char; flags, mode);
    fn openat64(fd: c_int, path: *const c_char; flags, mode);
    fn __open_2(path: *const c_char; flags);
    fn __open64_2(path: *const c_char; flags);
    fn __openat_2(fd: c_int, path: *const c_char; flags);
    fn __openat64_2(fd: c_int, path: *const c_char; flags);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn creat(path: *const c_char, mode: u32) -> c_int {
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    open_file(caller(), flags, |flags| real::open(path, flags, mode))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn creat64(path: *const c_char, mode: u32) -> c_int {
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    open_file(caller(), flags, |flags| real::open(path, flags, mode))
}

/// Makes a file, or a directory, with a name that nobody else has: the name is the outside's.
fn make_unique(pc: u64, template: *mut c_char, what: InputCall, act: impl Fn() -> i64) -> i64 {
    // SAFETY: the program passed a name that ends with a NUL.
    let len = unsafe { libc::strlen(template) };
    let question = Question::general(pc, what);
    ask(question, act, |_| [Part::new(template, len)])
}

fn make_file(pc: u64, template: *mut c_char, suffix: c_int, flags: c_int) -> c_int {
    let made = core::cell::Cell::new(-1);
    make_unique(pc, template, InputCall::Path, || {
        made.set(real::mkostemps(template, suffix, flags));
        i64::from(made.get().min(0))
    });
    let fresh = made.take();
    let flags = flags | libc::O_RDWR | libc::O_CREAT;
    open_file(pc, flags, |flags| match fresh {
        -1 => real::open(template, flags, 0o600),
        fd => fd,
    })
}

macro_rules! unique_files {
    ($(fn $name:ident($template:ident $(, $arg:ident)*) with ($suffix:expr, $flags:expr);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($template: *mut c_char $(, $arg: c_int)*) -> c_int {
            make_file(caller(), $template, $suffix, $flags)
        }
    )*};
}

unique_files! {
    fn mkstemp(template) with (0, 0);
    fn mkstemp64(template) with (0, 0);
    fn mkostemp(template, flags) with (0, flags);
    fn mkostemp64(template, flags) with (0, flags);
    fn mkstemps(template, suffix) with (suffix, 0);
    fn mkstemps64(template, suffix) with (suffix, 0);
    fn mkostemps(template, suffix, flags) with (suffix, flags);
    fn mkostemps64(template, suffix, flags) with (suffix, flags);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mktemp(template: *mut c_char) -> *mut c_char {
    make_unique(caller(), template, InputCall::Path, || {
        real::mktemp(template);
        0
    });
    template
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdtemp(template: *mut c_char) -> *mut c_char {
    let act = || i64::from(real::mkdtemp(template).is_null());
    let failed = make_unique(caller(), template, InputCall::Path, act) != 0;
    if failed {
        return core::ptr::null_mut();
    }
    if inputs::answers() && !crate::tls::me().is_null() {
        real::mkdir(template, 0o700);
    }
    template
}

// ---- positions and contents ----

macro_rules! on_files {
    ($($what:ident => fn $name:ident($fd:ident: c_int $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int $(, $arg: $type)*) -> $result {
            let question = Question::on(caller(), InputCall::$what, $fd);
            ask(question, || real::$name($fd $(, $arg)*) as i64, |_| []) as $result
        }
    )*};
}

on_files! {
    Seek => fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    Seek => fn lseek64(fd: c_int, offset: i64, whence: c_int) -> i64;
    Control => fn ftruncate(fd: c_int, len: i64) -> c_int;
    Control => fn ftruncate64(fd: c_int, len: i64) -> c_int;
    Control => fn fsync(fd: c_int) -> c_int;
    Control => fn fdatasync(fd: c_int) -> c_int;
    Control => fn flock(fd: c_int, how: c_int) -> c_int;
    Control => fn isatty(fd: c_int) -> c_int;
    Control => fn posix_fadvise(fd: c_int, offset: i64, len: i64, advice: c_int) -> c_int;
    Control => fn posix_fadvise64(fd: c_int, offset: i64, len: i64, advice: c_int) -> c_int;
    Control => fn timerfd_settime(fd: c_int, flags: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    Control => fn inotify_add_watch(fd: c_int, path: *const c_char, mask: u32) -> c_int;
}

/// A copy from one descriptor to another within the kernel.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile(to: c_int, from: c_int, offset: *mut i64, len: size_t) -> ssize_t {
    let question = Question::on(caller(), InputCall::Write, to);
    let act = || real::sendfile(to, from, offset, len) as i64;
    ask(question, act, |_| [Part::of(offset)]) as ssize_t
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile64(to: c_int, from: c_int, offset: *mut i64, len: size_t) -> ssize_t {
    let question = Question::on(caller(), InputCall::Write, to);
    let act = || real::sendfile(to, from, offset, len) as i64;
    ask(question, act, |_| [Part::of(offset)]) as ssize_t
}

/// Rust's `copy` prefers this call and falls back to reading and writing, which are recorded.
#[unsafe(no_mangle)]
unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    len: size_t,
    flags: c_uint,
) -> ssize_t {
    if crate::tls::me().is_null() {
        return real::copy_file_range(from, from_offset, to, to_offset, len, flags);
    }
    crate::call::set_errno(libc::ENOSYS);
    -1
}

// ---- paths ----

/// A call with a path that changes something: done again in a replay, whatever comes of it.
fn ask_and_repeat(pc: u64, act: impl Fn() -> c_int) -> c_int {
    let question = Question::general(pc, InputCall::Path).repeating();
    ask(question, || i64::from(act()), |_| []) as c_int
}

macro_rules! changes {
    ($(fn $name:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            ask_and_repeat(caller(), || real::$name($($arg),*))
        }
    )*};
}

changes! {
    fn unlink(path: *const c_char);
    fn unlinkat(fd: c_int, path: *const c_char, flags: c_int);
    fn remove(path: *const c_char);
    fn rename(from: *const c_char, to: *const c_char);
    fn renameat(from_fd: c_int, from: *const c_char, to_fd: c_int, to: *const c_char);
    fn mkdir(path: *const c_char, mode: u32);
    fn mkdirat(fd: c_int, path: *const c_char, mode: u32);
    fn rmdir(path: *const c_char);
    fn link(from: *const c_char, to: *const c_char);
    fn symlink(from: *const c_char, to: *const c_char);
    fn chmod(path: *const c_char, mode: u32);
    fn truncate(path: *const c_char, len: i64);
    fn truncate64(path: *const c_char, len: i64);
    fn chdir(path: *const c_char);
}

macro_rules! lookups {
    ($($parts:expr => fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            let question = Question::general(caller(), InputCall::Path);
            let parts = $parts;
            ask(question, || real::$name($($arg.held().get()),*) as i64, parts) as $result
        }
    )*};
}

/// As many bytes as a call says it has filled in.
fn filled<T>(buffer: *mut T, room: size_t) -> impl Fn(i64) -> [Part; 1] {
    move |len| {
        [Part::new(
            buffer,
            usize::try_from(len).unwrap_or(0).min(room),
        )]
    }
}

lookups! {
    |_| [] => fn access(path: *const c_char, mode: c_int) -> c_int;
    |_| [] => fn faccessat(fd: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    filled(buffer, len) => fn readlink(path: *const c_char, buffer: *mut c_char, len: size_t) -> ssize_t;
    filled(buffer, len) => fn readlinkat(fd: c_int, path: *const c_char, buffer: *mut c_char, len: size_t) -> ssize_t;
    filled(buffer, len) => fn __readlink_chk(path: *const c_char, buffer: *mut c_char, len: size_t, room: size_t) -> ssize_t;
    filled(buffer, len) => fn __readlinkat_chk(fd: c_int, path: *const c_char, buffer: *mut c_char, len: size_t, room: size_t) -> ssize_t;
}

// ---- facts of the system ----

macro_rules! facts {
    ($($parts:expr => fn $name:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            let question = Question::general(caller(), InputCall::System);
            let parts = $parts;
            ask(question, || i64::from(real::$name($($arg),*)), |_| parts) as c_int
        }
    )*};
}

facts! {
    [Part::new(name, len)] => fn gethostname(name: *mut c_char, len: size_t);
    [Part::new(name, len)] => fn __gethostname_chk(name: *mut c_char, len: size_t, room: size_t);
    [Part::of(place)] => fn uname(place: *mut libc::utsname);
    [Part::of(place)] => fn sysinfo(place: *mut libc::sysinfo);
    [Part::of(place)] => fn getrusage(who: c_int, place: *mut libc::rusage);
    [Part::of(place)] => fn getrlimit(resource: c_int, place: *mut libc::rlimit);
    [Part::of(place)] => fn getrlimit64(resource: c_int, place: *mut libc::rlimit);
    [Part::new(place, count.max(0) as usize * 8)] => fn getloadavg(place: *mut f64, count: c_int);
    [Part::of(place)] => fn statvfs(path: *const c_char, place: *mut libc::statvfs);
    [Part::of(place)] => fn statvfs64(path: *const c_char, place: *mut libc::statvfs);
    [Part::of(place)] => fn fstatvfs(fd: c_int, place: *mut libc::statvfs);
    [Part::of(place)] => fn fstatvfs64(fd: c_int, place: *mut libc::statvfs);
    [Part::of(place)] => fn statfs(path: *const c_char, place: *mut libc::statfs);
    [Part::of(place)] => fn statfs64(path: *const c_char, place: *mut libc::statfs);
    [Part::of(place)] => fn fstatfs(fd: c_int, place: *mut libc::statfs);
    [Part::of(place)] => fn fstatfs64(fd: c_int, place: *mut libc::statfs);
    [Part::of(place)] => fn getitimer(which: c_int, place: *mut libc::itimerval);
    [Part::of(place)] => fn timer_gettime(timer: *mut c_void, place: *mut libc::itimerspec);
    [Part::of(place)] => fn timerfd_gettime(fd: c_int, place: *mut libc::itimerspec);
}

// ---- timers ----

/// Timers are set in replays, too. What was left of them until then is told as in the recorded run.
#[unsafe(no_mangle)]
unsafe extern "C" fn alarm(seconds: u32) -> u32 {
    let question = Question::general(caller(), InputCall::System).repeating();
    ask(question, || i64::from(real::alarm(seconds)), |_| []) as u32
}

macro_rules! timers {
    ($(fn $name:ident($($arg:ident: $type:ty),*; $old:ident: $place:ty);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type,)* $old: $place) -> c_int {
            let question = Question::general(caller(), InputCall::System).repeating();
            let set = || i64::from(real::$name($($arg,)* $old));
            ask(question, set, |_| [Part::of($old)]) as c_int
        }
    )*};
}

timers! {
    fn setitimer(which: c_int, new: *const libc::itimerval; old: *mut libc::itimerval);
    fn timer_settime(timer: *mut c_void, flags: c_int, new: *const libc::itimerspec; old: *mut libc::itimerspec);
}

//! What the kernel says of files, without what differs from run to run for no reason of the program's.
//!
//! The time of last access shows the time of last change instead, as on a file system mounted with
//! `noatime`: a replay reads the same files again. Files of `/proc` are made when somebody looks: their
//! inode numbers and times are fixed.

use core::ffi::{c_char, c_int, c_uint};

use crate::call::Call;
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

/// Settles what a successful call of a scheduled thread has filled in.
unsafe fn settled<T>(pc: u64, result: c_int, place: *mut T, settle: fn(&mut T)) -> c_int {
    if result == 0
        && let Some(call) = Call::enter(pc)
    {
        // SAFETY: the kernel has just filled in the program's structure.
        unsafe { place.as_mut() }.map(settle);
        call.leave();
    }
    result
}

/// The same for `statx` through libc's `syscall`.
pub(super) unsafe fn settle_statx_at(pc: u64, result: i64, place: *mut libc::statx) -> i64 {
    // SAFETY: as the program called.
    i64::from(unsafe { settled(pc, result as c_int, place, settle_statx) })
}

macro_rules! stat_family {
    ($(fn $name:ident($($arg:ident: $type:ty),*; $stat:ty $(; $last:ident: $last_type:ty)?) by $settle:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type,)* place: *mut $stat $(, $last: $last_type)?) -> c_int {
            let result = real::$name($($arg,)* place $(, $last)?);
            // SAFETY: as the program called.
            unsafe { settled(caller(), result, place, $settle) }
        }
    )*};
}

stat_family! {
    fn stat(path: *const c_char; libc::stat) by settle_stat;
    fn stat64(path: *const c_char; libc::stat) by settle_stat;
    fn lstat(path: *const c_char; libc::stat) by settle_stat;
    fn lstat64(path: *const c_char; libc::stat) by settle_stat;
    fn fstat(fd: c_int; libc::stat) by settle_stat;
    fn fstat64(fd: c_int; libc::stat) by settle_stat;
    fn fstatat(fd: c_int, path: *const c_char; libc::stat; flags: c_int) by settle_stat;
    fn fstatat64(fd: c_int, path: *const c_char; libc::stat; flags: c_int) by settle_stat;
    fn statx(fd: c_int, path: *const c_char, flags: c_int, mask: c_uint; libc::statx) by settle_statx;
}

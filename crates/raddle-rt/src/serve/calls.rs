//! The system calls that only the server of runs makes.

use core::mem::size_of;

use crate::sys::call;

/// Reads from a file at an offset.
pub fn read_at(fd: i32, bytes: &mut [u8], offset: u64) -> i64 {
    let (start, len) = (bytes.as_mut_ptr() as u64, bytes.len() as u64);
    // SAFETY: the slice is valid for writes.
    unsafe { call(libc::SYS_pread64, [fd as u64, start, len, offset, 0, 0]) }
}

/// Whether a descriptor is open.
pub fn is_open(fd: i32) -> bool {
    let how = libc::F_GETFD as u64;
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_fcntl, [fd as u64, how, 0, 0, 0, 0]) >= 0 }
}

/// Makes a directory the current one. False if that fails.
pub fn change_directory(fd: i32) -> bool {
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_fchdir, [fd as u64, 0, 0, 0, 0, 0]) == 0 }
}

/// Puts a process, or with 0 this one, into a group of its own. The child and its parent both do, so that
/// neither has to wait for the other.
pub fn lead_group(process: i32) {
    let process = process as u64;
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_setpgid, [process, process, 0, 0, 0, 0]) };
}

/// Kills every process of a group whose leader was not yet waited for.
pub fn kill_group(leader: i32) {
    let group = -i64::from(leader) as u64;
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_kill, [group, libc::SIGKILL as u64, 0, 0, 0, 0]) };
}

/// Waits for a child; returns its status.
pub fn wait_for(child: i32) -> i32 {
    let mut status = 0;
    let place = (&raw mut status) as u64;
    loop {
        // SAFETY: the kernel writes one `int`.
        let result = unsafe { call(libc::SYS_wait4, [child as u64, place, 0, 0, 0, 0]) };
        if result != -i64::from(libc::EINTR) {
            return status;
        }
    }
}

/// A descriptor that becomes readable when the process has ended; negative on failure.
pub fn open_process(process: i32) -> i32 {
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_pidfd_open, [process as u64, 0, 0, 0, 0, 0]) as i32 }
}

/// Waits until one of two descriptors can be read (a negative one never can); returns whether the first can.
pub fn poll_either(first: i32, second: i32) -> bool {
    let entry = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries = [entry(first), entry(second)];
    let forever = -1i64 as u64;
    loop {
        let start = entries.as_mut_ptr() as u64;
        // SAFETY: two valid entries.
        let ready = unsafe { call(libc::SYS_poll, [start, 2, forever, 0, 0, 0]) };
        if ready > 0 {
            return entries[0].revents != 0;
        }
    }
}

/// Writes to a socket; a peer that has gone is no reason for a signal.
pub fn send(socket: i32, bytes: &[u8]) {
    let (start, len) = (bytes.as_ptr() as u64, bytes.len() as u64);
    let how = libc::MSG_NOSIGNAL as u64;
    // SAFETY: the slice is valid for reads.
    unsafe { call(libc::SYS_sendto, [socket as u64, start, len, how, 0, 0]) };
}

/// Room for the control message that brings `N` descriptors.
#[repr(C, align(8))]
struct Rights<const N: usize> {
    head: libc::cmsghdr,
    descriptors: [i32; N],
}

/// Receives a byte and the descriptors that come with it; returns the byte and how many came. None if nothing
/// will ever come.
pub fn receive_descriptors<const N: usize>(
    socket: i32,
    descriptors: &mut [i32; N],
) -> Option<(u8, usize)> {
    let mut byte = 0u8;
    let mut part = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // SAFETY: plain data, for which zero is a value.
    let (mut rights, mut message) = unsafe {
        (
            core::mem::zeroed::<Rights<N>>(),
            core::mem::zeroed::<libc::msghdr>(),
        )
    };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut rights).cast();
    message.msg_controllen = size_of::<Rights<N>>();
    let got = loop {
        let place = (&raw mut message) as u64;
        // SAFETY: the message points to a byte and to room for the descriptors, all alive here.
        let got = unsafe { call(libc::SYS_recvmsg, [socket as u64, place, 0, 0, 0, 0]) };
        if got != -i64::from(libc::EINTR) {
            break got;
        }
    };
    if got != 1 {
        return None;
    }
    let is_rights =
        rights.head.cmsg_level == libc::SOL_SOCKET && rights.head.cmsg_type == libc::SCM_RIGHTS;
    let bytes = rights
        .head
        .cmsg_len
        .saturating_sub(size_of::<libc::cmsghdr>());
    let count = if is_rights {
        (bytes / size_of::<i32>()).min(N)
    } else {
        0
    };
    descriptors[..count].copy_from_slice(&rights.descriptors[..count]);
    Some((byte, count))
}

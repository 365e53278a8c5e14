//! Calls that ask the outside, or let libc ask it out of sight, and that are not recorded. A run that makes one says so,
//! because its replay may differ.

use crate::inputs;
use crate::real;

macro_rules! uncovered {
    ($(fn $name:ident($($arg:ident),*);)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "libc's own")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: u64),*) -> u64 {
            inputs::note_uncovered(stringify!($name));
            real::$name($($arg),*)
        }
    )*};
}

uncovered! {
    fn nftw(directory, visit, most, flags);
    fn nftw64(directory, visit, most, flags);
    fn ftw(directory, visit, most);
    fn ftw64(directory, visit, most);
    fn fts_open(paths, options, compare);
    fn fts64_open(paths, options, compare);
    fn getdents64(fd, buffer, len);
    fn splice(from, from_offset, to, to_offset, len, flags);
    fn tee(from, to, len, flags);
    fn mq_receive(queue, buffer, len, priority);
    fn mq_timedreceive(queue, buffer, len, priority, until);
    fn aio_read(request);
    fn aio_read64(request);
    fn lio_listio(mode, requests, count, event);
    fn lio_listio64(mode, requests, count, event);
    fn gethostbyname(name);
    fn gethostbyname2(name, family);
    fn gethostbyaddr(address, len, family);
    fn gethostbyname_r(name, place, buffer, len, result, error);
    fn gethostbyname2_r(name, family, place, buffer, len, result, error);
    fn gethostbyaddr_r(address, address_len, family, place, buffer, len, result, error);
    fn getnameinfo(address, address_len, host, host_len, service, service_len, flags);
    fn tmpnam(place);
    fn tmpnam_r(place);
    fn tempnam(directory, prefix);
}

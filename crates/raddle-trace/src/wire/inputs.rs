//! The input log.

/// `"RDINPUT1"`, the first eight bytes of an input log.
pub const INPUT_MAGIC: u64 = u64::from_le_bytes(*b"RDINPUT1");

/// The head of an input log. [`InputEntry`]s follow, each with its data behind it.
///
/// An input log says what the outside told a program: a record of each call whose outcome does not follow
/// from the program, with its result, its `errno` and the bytes that it filled in, in the order in which
/// the threads had the turn. A replay answers each thread's calls from that thread's entries.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputHead {
    /// [`INPUT_MAGIC`].
    pub magic: u64,
    /// 1 if the program ended by itself or by the launcher's signal, and was not cut off.
    pub complete: u32,
    /// The signal by which the launcher ended the run, or 0.
    pub stop_signal: u32,
    /// The client's exit status; -1 if there was no client.
    pub client: i32,
    /// Always 0.
    pub reserved: u32,
}

/// One call's outcome.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputEntry {
    /// Bytes of data behind the entry: of each part its length (`u32`), then the part.
    pub len: u32,
    /// The thread that called.
    pub thread: u32,
    /// Its tick at the call.
    pub tick: u64,
    /// An [`InputCall`].
    pub call: u16,
    /// `errno` after the call: some that succeed leave one, and `isatty` answers by it. Of a signal: 1 if it
    /// ended a wait.
    pub errno: u16,
    /// Always 0.
    pub reserved: u32,
    /// The descriptor concerned, or `u64::MAX`.
    pub object: u64,
    /// What the call returned.
    pub result: i64,
}

macro_rules! input_calls {
    ($($variant:ident = $number:literal $name:literal,)*) => {
        /// A call whose outcome is the outside's. Stored in [`InputEntry::call`].
        #[repr(u16)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum InputCall {
            $(#[doc = concat!("`", $name, "`.")] $variant = $number,)*
        }

        impl InputCall {
            /// What the call is called.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(InputCall::$variant => $name,)* }
            }

            /// The call with this number.
            #[must_use]
            pub fn from_number(number: u64) -> Option<InputCall> {
                match number { $($number => Some(InputCall::$variant),)* _ => None }
            }
        }
    };
}

input_calls! {
    Signal = 1 "a signal",
    Read = 2 "read",
    Write = 3 "write",
    Open = 4 "open",
    Descriptor = 5 "a new descriptor",
    Socket = 6 "a socket's setting",
    Accept = 7 "accept",
    Connect = 8 "connect",
    Poll = 9 "poll",
    Epoll = 10 "epoll",
    Control = 11 "fcntl or ioctl",
    Seek = 12 "lseek",
    Stat = 13 "stat",
    Path = 14 "a call with a path",
    Directory = 15 "readdir",
    Map = 16 "mmap",
    SignalWait = 17 "sigwait",
    Child = 18 "a child process",
    Name = 19 "getaddrinfo",
    System = 20 "a fact of the system",
}

//! What the launcher changes about its own process before it starts others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use nix::sys::personality::{self, Persona};
use rustix::process::{Resource, Rlimit};

static PREPARED: OnceLock<Host> = OnceLock::new();

thread_local! {
    /// Whether programs that this thread starts are loaded at fixed addresses.
    static ADDRESSES_FIXED: bool = fix_addresses();
}

/// The first descriptor behind the three standard ones.
const FIRST_OWN_FD: i32 = 3;

/// Exit status of a command that was ended by the first signal, as shells count.
const SIGNALLED: i32 = 128;

struct Host {
    interrupted: Arc<AtomicBool>,
}

/// Fixes the address layout of every program started from here on, keeps our descriptors from
/// them, turns core dumps off, and catches Ctrl-C so that no program outlives its launcher.
pub fn prepare() {
    PREPARED.get_or_init(|| {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Without the handlers Ctrl-C still ends the launcher, only less tidily. A second one always
            // ends it at once.
            let status = SIGNALLED + signal;
            let already = Arc::clone(&interrupted);
            let _ = signal_hook::flag::register_conditional_shutdown(signal, status, already);
            let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        }
        let maximum = rustix::process::getrlimit(Resource::Core).maximum;
        let none = Rlimit {
            current: Some(0),
            maximum,
        };
        // A core dump costs time and disk, nothing else, so it may stay where this is refused.
        let _ = rustix::process::setrlimit(Resource::Core, none);
        // The kernel places mappings below the room it leaves for the stack.
        let stack = Rlimit {
            current: Some(8 << 20),
            maximum: rustix::process::getrlimit(Resource::Stack).maximum,
        };
        let _ = rustix::process::setrlimit(Resource::Stack, stack);
        // Descriptors inherited from whoever started us would shift the numbers of the program's own.
        close_fds::set_fds_cloexec_threadsafe(FIRST_OWN_FD, &[]);
        Host { interrupted }
    });
    // Processes get this from the thread that starts them, and each thread has its own.
    ADDRESSES_FIXED.with(|_| {});
}

fn fix_addresses() -> bool {
    let fixed = personality::get()
        .and_then(|persona| personality::set(persona | Persona::ADDR_NO_RANDOMIZE));
    fixed.is_ok()
}

/// Whether programs are loaded at the same addresses every time. Some containers forbid it.
pub fn addresses_fixed() -> bool {
    prepare();
    ADDRESSES_FIXED.with(|it| *it)
}

/// Whether the user asked us to stop.
pub fn interrupted() -> bool {
    let flag = PREPARED.get().map(|host| &host.interrupted);
    flag.is_some_and(|it| it.load(Ordering::Relaxed))
}

/// Forgets that the user asked us to stop: for what has to be done before we do.
pub fn forget_interrupt() {
    if let Some(host) = PREPARED.get() {
        host.interrupted.store(false, Ordering::Relaxed);
    }
}

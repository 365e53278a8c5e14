//! What the launcher changes about its own process before it starts others.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use nix::sys::personality::{self, Persona};
use rustix::process::{Pid, Resource, Rlimit, Signal};

static PREPARED: OnceLock<()> = OnceLock::new();
static SIGNALS: OnceLock<Signals> = OnceLock::new();

thread_local! {
    /// Whether programs that this thread starts are loaded at fixed addresses.
    static ADDRESSES_FIXED: bool = fix_addresses();
}

/// The first descriptor behind the three standard ones.
const FIRST_OWN_FD: i32 = 3;

/// Exit status of a command that was ended by the first signal, as shells count.
const SIGNALLED: i32 = 128;

/// What signals have told us.
struct Signals {
    /// The user wants us to stop, and we have not begun to.
    interrupted: Arc<AtomicBool>,
    /// The user wanted us to stop at any time.
    ever: Arc<AtomicBool>,
}

/// Catches Ctrl-C, which otherwise ends the process. A second one always does.
pub fn catch_interrupts() {
    SIGNALS.get_or_init(|| {
        let interrupted = Arc::new(AtomicBool::new(false));
        let ever = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Without the handlers Ctrl-C still ends the launcher, only less tidily.
            let status = SIGNALLED + signal;
            let already = Arc::clone(&ever);
            let _ = signal_hook::flag::register_conditional_shutdown(signal, status, already);
            let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
            let _ = signal_hook::flag::register(signal, Arc::clone(&ever));
        }
        Signals { interrupted, ever }
    });
}

/// Fixes the address layout of every program started from here on, keeps our descriptors from
/// them, turns core dumps off, and catches Ctrl-C so that no program outlives its launcher.
pub fn prepare() {
    catch_interrupts();
    fix_surroundings();
}

/// As [`prepare`], for a debugger: Ctrl-C is for it alone.
pub fn prepare_for_debugger() {
    let unread = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, unread);
    fix_surroundings();
}

fn fix_surroundings() {
    PREPARED.get_or_init(|| {
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
    is_set(|it| &it.interrupted)
}

/// Whether the user asked us to stop, also if [`forget_interrupt`] was called since.
pub fn was_interrupted() -> bool {
    is_set(|it| &it.ever)
}

fn is_set(flag: impl Fn(&Signals) -> &AtomicBool) -> bool {
    let signals = SIGNALS.get();
    signals.is_some_and(|it| flag(it).load(Ordering::Relaxed))
}

/// Forgets that the user asked us to stop: for what has to be done before we do.
pub fn forget_interrupt() {
    if let Some(signals) = SIGNALS.get() {
        signals.interrupted.store(false, Ordering::Relaxed);
    }
}

/// Kills every process that this one has started, directly or not: compilers, programs, commands around runs.
pub fn kill_descendants() {
    let parents = parents();
    let mut found = vec![rustix::process::getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = parents.iter().filter(|(_, it)| **it == parent);
        found.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    for pid in found.into_iter().skip(1).filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// The parent of each process.
fn parents() -> BTreeMap<i32, i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let parent = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name, in parentheses, may have spaces and parentheses itself; state and parent follow.
        let (_, rest) = stat.rsplit_once(')')?;
        Some((pid, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    entries.filter_map(parent).collect()
}

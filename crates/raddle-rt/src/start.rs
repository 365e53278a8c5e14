//! Start-up: takes the program under control before its first constructor runs.

use core::ffi::{c_char, c_void};

use raddle_trace::wire::{CONTROL_ENV, Control, Mark, StrategyKind, WIRE_VERSION, flags};

use crate::control;
use crate::interpose::process;
use crate::replay::{Replay, Ticks};
use crate::rng::Rng;
use crate::sched::{self, SCHED};
use crate::strategy::{Chosen, Dfs, Pct, Pos, Random, RoundRobin, Surw};
use crate::threads;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = process::come_to_end;

extern "C" fn start() {
    let Some((memory, socket)) = descriptors() else {
        return;
    };
    crate::real::find_all();
    crate::interpose::signal::forget_ignored();
    crate::canary::make_constant();
    crate::serve::serve(memory, socket);
    if !control::attach(memory, socket) {
        return;
    }
    // Helpers that the program executes are not under control.
    // SAFETY: runs before the program's own code, in the only thread.
    unsafe {
        libc::unsetenv(c"RADDLE_CONTROL".as_ptr());
        libc::unsetenv(c"LD_PRELOAD".as_ptr());
        libc::unsetenv(c"LD_BIND_NOW".as_ptr());
    }
    let main = {
        let mut s = SCHED.lock();
        s.start(memory);
        s.add_thread(crate::thread::NOBODY)
    };
    crate::sys::close(memory);
    let Some(main) = main else {
        control::fail_start("no memory for the table of threads")
    };
    // SAFETY: the record was just made and stays at its address.
    let main = unsafe { &mut *main };
    main.depth = 1;
    sched::begin_main(main);
    threads::note_main(main);
    // SAFETY: the handler only touches the runtime's own state.
    unsafe {
        libc::pthread_atfork(
            None,
            None,
            Some(crate::interpose::identity::forget_scheduler),
        );
    }
    process::watch_quick_exit();
    sched::mark(main, Mark::Begin, u64::MAX, main.stack.0, 0, main.stack.1);
    main.depth = 0;
    // SAFETY: the head stays mapped.
    unsafe {
        crate::interpose::signal::start(main, (*control::get()).stop_signal);
        (*control::get()).pid = crate::sys::getpid() as u32;
        (*control::get()).started = 1;
    }
    crate::stack::clear_below();
}

/// The descriptors named in the environment: `RADDLE_CONTROL=<memory>,<socket>`.
fn descriptors() -> Option<(i32, i32)> {
    // SAFETY: the environment is a null-terminated list of NUL-terminated strings.
    let mut entry = unsafe { environ };
    loop {
        // SAFETY: as above; the loop ends at the null entry.
        let text = unsafe {
            if entry.is_null() || (*entry).is_null() {
                return None;
            }
            core::ffi::CStr::from_ptr(*entry).to_bytes()
        };
        let value = text
            .strip_prefix(CONTROL_ENV.as_bytes())
            .and_then(|t| t.strip_prefix(b"="));
        if let Some(value) = value {
            let comma = value.iter().position(|&b| b == b',')?;
            return Some((number(&value[..comma])?, number(&value[comma + 1..])?));
        }
        // SAFETY: the entry was not the last.
        entry = unsafe { entry.add(1) };
    }
}

fn number(digits: &[u8]) -> Option<i32> {
    let step = |n: i32, &b: &u8| Some(n.checked_mul(10)? + i32::from(b.wrapping_sub(b'0')));
    let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if all_digits {
        digits.iter().try_fold(0, step)
    } else {
        None
    }
}

/// The strategy that the launcher asks for.
pub fn strategy(memory: i32, control: &Control, rng: &mut Rng) -> Chosen {
    let is = |kind: StrategyKind| control.strategy == kind as u32;
    let steps = control.flags & flags::STEP != 0;
    if is(StrategyKind::Random) {
        Chosen::Random(Random::new(control.expected, steps))
    } else if is(StrategyKind::Pct) {
        Chosen::Pct(Pct::new(control.depth, control.expected, rng))
    } else if is(StrategyKind::Pos) {
        Chosen::Pos(Pos)
    } else if is(StrategyKind::Surw) {
        Chosen::Surw(Surw::new(
            control::map_region(memory, control.weights),
            control.expected,
            steps,
        ))
    } else if is(StrategyKind::Dfs) {
        let given = control::map_region(memory, control.choices_in);
        Chosen::Dfs(Dfs::new(
            given,
            control::map_region(memory, control.choices_out),
        ))
    } else {
        Chosen::RoundRobin(RoundRobin)
    }
}

/// The schedule to follow, if the launcher gives one.
pub fn replay(memory: i32, control: &Control) -> Option<Replay> {
    let is = |kind: StrategyKind| control.strategy == kind as u32;
    let ticks = if is(StrategyKind::Replay) {
        Ticks::Slots
    } else if is(StrategyKind::Guide) {
        Ticks::Steady
    } else {
        return None;
    };
    let switches = control::map_region(memory, control.schedule_in);
    Some(Replay::new(switches, ticks))
}

/// An image announces its sites.
///
/// # Safety
/// `start..stop` is the image's `raddle_sites` section.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __raddle_image(start: *const c_void, stop: *const c_void, version: u32) {
    if version != WIRE_VERSION {
        control::fail_start(
            "the program was instrumented by another version of Raddle; rebuild it",
        );
    }
    if control::get().is_null() {
        return;
    }
    let sites = SCHED.lock().sites();
    control::add_image(sites, start.cast(), stop as usize - start as usize);
}

// logs: every region of two Rust mutexes, whose lock and unlock are inlined, and the accesses of the data in them
//
// The log of a mutex lies behind it, so its order is the order of the regions. Printed are
//   object NAME ADDRESS SIZE
//   ordered LOCK THREAD OP NAME VALUE
// The log goes to the file named by the first argument, or to standard output.
use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::mem::size_of_val;
use std::sync::Mutex;
use std::thread;

const ROUNDS: u32 = 4;

struct Guarded {
    value: u32,
    log: Vec<(u32, &'static str, &'static str, u32)>,
}

static LEFT: Mutex<Guarded> = Mutex::new(Guarded {
    value: 0,
    log: Vec::new(),
});
static RIGHT: Mutex<Guarded> = Mutex::new(Guarded {
    value: 0,
    log: Vec::new(),
});

#[inline(never)]
fn read_plain(variable: &u32) -> u32 {
    *variable
}

#[inline(never)]
fn write_plain(variable: &mut u32, value: u32) {
    *variable = value;
}

fn update(lock: &Mutex<Guarded>, names: [&'static str; 2], thread: u32, fresh: u32) {
    let mut guard = lock.lock().unwrap();
    guard.log.push((thread, "acquire", names[0], 0));
    let seen = read_plain(&guard.value);
    guard.log.push((thread, "read", names[1], seen));
    guard.log.push((thread, "write", names[1], fresh));
    write_plain(&mut guard.value, fresh);
    guard.log.push((thread, "release", names[0], 0));
}

fn print(out: &mut dyn Write, name: &str, lock: &Mutex<Guarded>) -> io::Result<()> {
    let (address, size) = (std::ptr::from_ref(lock) as usize, size_of_val(lock));
    let guard = lock.lock().unwrap();
    let value = &raw const guard.value as usize;
    writeln!(out, "object {name} {address:#x} {size}")?;
    writeln!(out, "object {name}.value {value:#x} 4")?;
    for (thread, op, object, value) in &guard.log {
        writeln!(out, "ordered {name} {thread} {op} {object} {value}")?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    LEFT.lock().unwrap().log.reserve(200);
    RIGHT.lock().unwrap().log.reserve(200);
    thread::scope(|scope| {
        for me in 1..=3 {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    update(&LEFT, ["LEFT", "LEFT.value"], me, 1000 * me + round);
                    update(
                        &RIGHT,
                        ["RIGHT", "RIGHT.value"],
                        me,
                        1000 * me + 500 + round,
                    );
                }
            });
        }
    });
    let mut out: Box<dyn Write> = match env::args_os().nth(1) {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stdout()),
    };
    print(&mut out, "LEFT", &LEFT)?;
    print(&mut out, "RIGHT", &RIGHT)
}

// logs: where the words of a Vec lie that one thread fills and another looks at, without any lock
//
// Filling writes length, pointer and capacity, and growing does so in code that the standard library may share between
// crates; looking reads all three. Printed are
//   object NAME ADDRESS SIZE
// The log goes to the file named by the first argument, or to standard output.
use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::ptr::addr_of_mut;
use std::thread;

const PUSHES: u64 = 9;

static mut FILLED: Vec<u64> = Vec::new();

fn filled() -> &'static mut Vec<u64> {
    unsafe { &mut *addr_of_mut!(FILLED) }
}

fn fill() {
    for value in 0..PUSHES {
        filled().push(value);
    }
}

fn look() -> usize {
    let vector = filled();
    vector.len() + vector.capacity() + vector.as_ptr() as usize
}

fn main() -> io::Result<()> {
    let filler = thread::spawn(fill);
    let looker = thread::spawn(look);
    filler.join().unwrap();
    assert_ne!(looker.join().unwrap(), 0);
    assert!(filled().iter().copied().eq(0..PUSHES));
    let mut out: Box<dyn Write> = match env::args().nth(1) {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stdout()),
    };
    writeln!(out, "object filled {:#x} 24", addr_of_mut!(FILLED) as usize)
}

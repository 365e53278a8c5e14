//! Reads files, a directory and facts of the system through the standard library in two threads, and fails.

use std::io::Read;
use std::path::PathBuf;
use std::{env, fs, thread};

fn main() -> std::io::Result<()> {
    let dir = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".into()));
    let listed = dir.clone();
    let lister = thread::spawn(move || {
        for entry in fs::read_dir(listed).unwrap() {
            let entry = entry.unwrap();
            println!("entry {}", entry.file_name().display());
        }
    });
    print!("{}", fs::read_to_string(dir.join("one"))?);
    let mut text = Vec::new();
    fs::File::open(dir.join("two"))?.read_to_end(&mut text)?;
    let modified = fs::metadata(dir.join("two"))?.modified()?;
    println!("{} bytes, changed at {modified:?}", text.len());
    println!("{} processors", thread::available_parallelism()?);
    fs::copy(dir.join("one"), dir.join("three"))?;
    fs::remove_file(dir.join("three"))?;
    let status = fs::read_to_string("/proc/self/status")?;
    println!("{}", status.lines().find(|it| it.starts_with("VmHWM")).unwrap_or("?"));
    lister.join().unwrap();
    std::process::exit(7)
}

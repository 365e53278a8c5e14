//! A server of the standard library: a thread for each connection, a channel to the main thread. The signal has its
//! default action.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

fn serve(stream: TcpStream, total: Arc<Mutex<usize>>, done: Sender<usize>) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut bytes = 0;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        bytes += line.len();
        *total.lock().unwrap() += line.len();
        writeln!(writer, "{line}")?;
    }
    let _ = done.send(bytes);
    Ok(())
}

fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(7704);
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let (done, results) = channel();
    let total = Arc::new(Mutex::new(0));
    let sum = Arc::clone(&total);
    thread::spawn(move || {
        for bytes in results {
            println!("a client sent {bytes} bytes of {}", sum.lock().unwrap());
        }
    });
    for stream in listener.incoming() {
        let (stream, total, done) = (stream?, Arc::clone(&total), done.clone());
        thread::spawn(move || serve(stream, total, done));
    }
    Ok(())
}

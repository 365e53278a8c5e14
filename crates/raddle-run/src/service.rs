//! Commands around the runs of a server: one before, a client meanwhile, one afterwards.
//!
//! The client starts when the program is ready for it, and when it has ended the program is sent a signal to
//! end too. A client that fails makes the run a failing one. A replay needs none of the three: what the
//! client sent is in the run's input log, and so is the client's verdict.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use raddle_trace::run::Cwd;
use raddle_trace::wire::Control;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::error::Error;
use crate::inputs::Attended;

/// How long each command may take if nobody says otherwise.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(10);
/// How often the launcher looks whether a command has ended or the program is ready.
const LOOK_AROUND: Duration = Duration::from_millis(2);
/// State of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// Commands around each run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Runs before the program starts.
    pub setup: Option<String>,
    /// Runs while the program does; when it has ended, the program has to.
    pub client: Option<String>,
    /// Runs when the program has ended.
    pub teardown: Option<String>,
    /// When the client starts.
    pub ready: Ready,
    /// The signal by which the program is told to end; SIGTERM if none is given.
    pub signal: Option<i32>,
    /// How long each of the commands may take.
    pub limit: Option<Duration>,
}

/// When a client can start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// When the program listens and waits.
    #[default]
    Waits,
    /// When somebody listens on this TCP port.
    Tcp(u16),
    /// When there is this file.
    File(PathBuf),
    /// When the program has printed this.
    Text(String),
}

impl Ready {
    /// Reads `tcp:PORT`, `file:PATH` or a text that the program prints.
    ///
    /// # Errors
    /// If a port is no port.
    pub fn parse(text: &str) -> Result<Ready, String> {
        if let Some(port) = text.strip_prefix("tcp:") {
            let port = port.parse();
            return port
                .map(Ready::Tcp)
                .map_err(|_| format!("`{text}` names no port, such as tcp:8080"));
        }
        Ok(match text.strip_prefix("file:") {
            Some(path) => Ready::File(path.into()),
            None => Ready::Text(text.to_owned()),
        })
    }
}

impl Service {
    /// The signal by which the program is told to end, if it is told at all.
    pub(crate) fn stop_signal(&self) -> Option<i32> {
        let signal = self.signal.unwrap_or(Signal::TERM.as_raw());
        self.client.is_some().then_some(signal)
    }

    /// Runs the command that comes before a run.
    pub(crate) fn set_up(&self, cwd: &Cwd) -> Result<(), Error> {
        self.finish_command("setup", self.setup.as_deref(), cwd)
    }

    /// Runs the command that comes after a run.
    pub(crate) fn tear_down(&self, cwd: &Cwd) -> Result<(), Error> {
        self.finish_command("teardown", self.teardown.as_deref(), cwd)
    }

    fn finish_command(
        &self,
        what: &'static str,
        command: Option<&str>,
        cwd: &Cwd,
    ) -> Result<(), Error> {
        let Some(command) = command else {
            return Ok(());
        };
        let failed = |why: String| Error::Service {
            what,
            command: command.to_owned(),
            why,
        };
        let mut child = shell(command, cwd)
            .spawn()
            .map_err(|it| failed(it.to_string()))?;
        match await_end(&mut child, Instant::now() + self.limit()) {
            Some(0) => Ok(()),
            Some(code) => Err(failed(format!("it ended with status {code}"))),
            None => Err(failed(format!(
                "it took longer than {} s",
                self.limit().as_secs_f64()
            ))),
        }
    }

    fn limit(&self) -> Duration {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }
}

/// The client of a run, and who starts and ends it.
pub(crate) struct Attendant {
    thread: JoinHandle<Attended>,
    over: Arc<AtomicBool>,
}

/// What an attendant sees of a run.
pub(crate) struct View {
    /// The run's memory file.
    pub control: File,
    /// What the program prints.
    pub outputs: Vec<File>,
    /// Where it runs.
    pub cwd: Cwd,
}

impl Attendant {
    /// Attends a run that was just started; none if there is no client.
    pub fn start(service: &Service, view: View) -> Result<Option<Attendant>, Error> {
        let Some((client, signal)) = service.client.clone().zip(service.stop_signal()) else {
            return Ok(None);
        };
        let (service, over) = (service.clone(), Arc::new(AtomicBool::new(false)));
        let is_over = Arc::clone(&over);
        let attend = move || attend(&service, &client, signal, &view, &is_over);
        let thread = std::thread::Builder::new()
            .name("raddle-client".to_owned())
            .spawn(attend)
            .map_err(Error::system("start a thread"))?;
        Ok(Some(Attendant { thread, over }))
    }

    /// The run is over: says how it was attended.
    pub fn finish(self) -> Attended {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn attend(
    service: &Service,
    client: &str,
    signal: i32,
    view: &View,
    over: &AtomicBool,
) -> Attended {
    let is_over = || over.load(Ordering::Relaxed);
    let mut attended = Attended::default();
    let deadline = Instant::now() + service.limit();
    while !view.is_ready(&service.ready) && Instant::now() < deadline {
        if is_over() {
            return attended;
        }
        std::thread::sleep(LOOK_AROUND);
    }
    let program = view.process();
    let Ok(mut child) = shell(client, &view.cwd).spawn() else {
        attended.client = Some(NO_SHELL);
        return attended;
    };
    let deadline = Instant::now() + service.limit();
    attended.client = Some(await_end(&mut child, deadline).unwrap_or(TOOK_TOO_LONG));
    if let Some(program) = program.filter(|_| !is_over()) {
        let sent = Signal::from_named_raw(signal)
            .is_some_and(|it| rustix::process::pidfd_send_signal(program, it).is_ok());
        attended.stopped = sent.then_some(signal);
    }
    attended
}

/// Verdicts on clients that have no exit status.
const TOOK_TOO_LONG: i32 = -1;
const NO_SHELL: i32 = 127;

impl View {
    fn is_ready(&self, ready: &Ready) -> bool {
        match ready {
            Ready::Waits => self.word(std::mem::offset_of!(Control, serves)) == 1,
            Ready::Tcp(port) => listens(*port),
            Ready::File(path) => match &self.cwd {
                Cwd::Path(cwd) => cwd.join(path).exists(),
                Cwd::Inherit => path.exists(),
            },
            Ready::Text(text) => self.outputs.iter().any(|it| has_text(it, text)),
        }
    }

    /// The program's process.
    fn process(&self) -> Option<rustix::fd::OwnedFd> {
        let pid = self.word(std::mem::offset_of!(Control, pid));
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
    }

    fn word(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        let read = self.control.read_exact_at(&mut bytes, at as u64);
        read.map_or(0, |()| u32::from_ne_bytes(bytes))
    }
}

fn has_text(output: &File, text: &str) -> bool {
    let len = output.metadata().map_or(0, |it| it.len()) as usize;
    let mut bytes = vec![0; len];
    let read = output.read_exact_at(&mut bytes, 0).is_ok();
    let mut windows = bytes.windows(text.len().max(1));
    read && (text.is_empty() || windows.any(|it| it == text.as_bytes()))
}

/// Whether somebody listens on a port, without asking him.
fn listens(port: u16) -> bool {
    let port = format!("{port:04X}");
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|table| {
        let table = fs::read_to_string(table).unwrap_or_default();
        table.lines().any(|line| {
            let mut words = line.split_whitespace().skip(1);
            let local = words.next().and_then(|it| it.rsplit(':').next());
            local == Some(port.as_str()) && words.nth(1) == Some(LISTENING)
        })
    })
}

fn shell(command: &str, cwd: &Cwd) -> Command {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0);
    if let Cwd::Path(cwd) = cwd {
        shell.current_dir(cwd);
    }
    shell
}

/// Waits for a command's end and gives its status; kills it and all it has started, and gives `None`, if that
/// takes too long.
fn await_end(child: &mut Child, deadline: Instant) -> Option<i32> {
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().unwrap_or(TOOK_TOO_LONG)),
            Ok(None) => std::thread::sleep(LOOK_AROUND),
            Err(_) => break,
        }
    }
    // Not yet waited for, so that the number is still its own.
    let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_is_a_port_a_file_or_a_text() {
        assert_eq!(Ready::parse("tcp:80"), Ok(Ready::Tcp(80)));
        assert_eq!(Ready::parse("file:/a"), Ok(Ready::File("/a".into())));
        assert_eq!(Ready::parse("up"), Ok(Ready::Text("up".into())));
        assert!(Ready::parse("tcp:http").is_err());
    }

    #[test]
    fn a_port_is_seen_without_connecting() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listens(port));
        drop(listener);
        assert!(!listens(port));
    }

    #[test]
    fn commands_are_bounded() {
        let service = Service {
            setup: Some("sleep 60 & sleep 60".to_owned()),
            teardown: Some("exit 3".to_owned()),
            limit: Some(Duration::from_millis(50)),
            ..Service::default()
        };
        let slow = service.set_up(&Cwd::Inherit).unwrap_err().to_string();
        assert!(slow.contains("longer than 0.05 s"), "{slow}");
        let bad = service.tear_down(&Cwd::Inherit).unwrap_err().to_string();
        assert!(bad.contains("status 3"), "{bad}");
    }
}

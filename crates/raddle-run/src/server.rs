//! Programs that are started once and make many runs.
//!
//! A server is the program itself, stopped by the runtime before any of its own code has run; it forks
//! for each run that it is ordered to make (`raddle-rt`'s `serve`, and `raddle_trace::wire` for what is
//! said). A run made this way is the same to the last byte as one in a process of its own. Where it
//! might not be, there is no server: if libraries have made threads, opened files or used the standard
//! streams before the runtime got hold of the program.
//!
//! The first run of a program is always started afresh. A server pays from the second one on, and what
//! can be wrong with a program is told best by its own start.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek};
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use raddle_trace::run::Cwd;
use raddle_trace::wire::{SERVE_DESCRIPTORS, ServeOrder, ServeReport, ServeReportKind};
use rustix::fs::{Mode, OFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::control;
use crate::error::Error;
use crate::launch::{capture, command, share, standard_input};
use crate::program::Program;

/// How long a server may take to get ready, and to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often an ending server is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// What a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// A run has begun, in this process.
    Started(i32),
    /// The run is over; its status as `waitpid` tells it.
    Ended(i32),
}

/// Everything of a program that its start fixes.
#[derive(Clone, PartialEq, Eq)]
struct Start {
    binary: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    runtime: PathBuf,
}

impl Start {
    fn of(program: &Program) -> Start {
        Start {
            binary: program.binary.clone(),
            args: program.args.clone(),
            env: program.env.clone(),
            runtime: program.runtime.clone(),
        }
    }

    fn is_of(&self, program: &Program) -> bool {
        self.binary == program.binary
            && self.args == program.args
            && self.env == program.env
            && self.runtime == program.runtime
    }
}

/// A program that waits for orders.
pub(crate) struct Server {
    child: Child,
    socket: UnixStream,
    start: Start,
}

impl Server {
    /// Starts one; `None` if the program cannot serve.
    fn start(program: &Program) -> Result<Option<Server>, Error> {
        let memory = control::server_file().map_err(Error::system("make a memory file"))?;
        let (socket, theirs) = UnixStream::pair().map_err(Error::system("make a socket"))?;
        let (stdout, stderr) = (capture()?, capture()?);
        let mut stdin = standard_input(&program.stdin)?;
        let mut command = command(program, [&stdin, &stdout, &stderr])?;
        share(&mut command, &memory, theirs.into())?;
        // Whatever is wrong, a start for the run itself will tell.
        let Ok(child) = command.spawn() else {
            return Ok(None);
        };
        drop(command);
        let mut server = Server {
            child,
            socket,
            start: Start::of(program),
        };
        let is_ready = server.is_ready();
        let untouched = |file: &File| file.metadata().is_ok_and(|it| it.len() == 0);
        let unread = stdin.stream_position().is_ok_and(|it| it == 0);
        let fit = is_ready && unread && untouched(&stdout) && untouched(&stderr);
        Ok(fit.then_some(server))
    }

    fn is_ready(&mut self) -> bool {
        let limited = self.socket.set_read_timeout(Some(PATIENCE));
        let ready = limited.is_ok() && self.read().is_ok_and(|it| it.kind == READY);
        self.socket.set_read_timeout(None).is_ok() && ready
    }

    /// Orders a run with these descriptors: memory file, socket, standard streams, directory.
    pub fn order_run(&self, descriptors: [BorrowedFd<'_>; SERVE_DESCRIPTORS]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SERVE_DESCRIPTORS))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(&descriptors));
        self.order(ServeOrder::Run, &mut rights)
    }

    /// Orders the end of the run under way.
    pub fn order_kill(&self) -> io::Result<()> {
        self.order(ServeOrder::Kill, &mut SendAncillaryBuffer::default())
    }

    fn order(
        &self,
        order: ServeOrder,
        rights: &mut SendAncillaryBuffer<'_, '_, '_>,
    ) -> io::Result<()> {
        let byte = [order as u8];
        let sent = rustix::net::sendmsg(
            &self.socket,
            &[IoSlice::new(&byte)],
            rights,
            SendFlags::NOSIGNAL,
        );
        sent.map(|_| ()).map_err(io::Error::from)
    }

    /// Waits for what the server says next.
    pub fn report(&mut self) -> io::Result<Report> {
        let report = self.read()?;
        match report.kind {
            STARTED => Ok(Report::Started(report.value)),
            ENDED => Ok(Report::Ended(report.value)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn read(&mut self) -> io::Result<ServeReport> {
        let mut bytes = [0; size_of::<ServeReport>()];
        self.socket.read_exact(&mut bytes)?;
        let word = |at: usize| [0, 1, 2, 3].map(|byte| bytes[at + byte]);
        Ok(ServeReport {
            kind: u32::from_ne_bytes(word(offset_of!(ServeReport, kind))),
            value: i32::from_ne_bytes(word(offset_of!(ServeReport, value))),
        })
    }
}

const READY: u32 = ServeReportKind::Ready as u32;
const STARTED: u32 = ServeReportKind::Started as u32;
const ENDED: u32 = ServeReportKind::Ended as u32;

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Server {
    /// A server whose launcher has gone ends the run that it is making, and itself.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let start = Instant::now();
        while let Ok(None) = self.child.try_wait() {
            if start.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The directory in which a run works, opened anew because somebody may have replaced it.
pub(crate) fn directory(cwd: &Cwd) -> io::Result<File> {
    let path = match cwd {
        Cwd::Inherit => ".".as_ref(),
        Cwd::Path(path) => path.as_path(),
    };
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, how, Mode::empty())?))
}

/// The servers of a program that have nothing to do, and whether there may be any.
#[derive(Default)]
pub(crate) struct Servers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether the program has been run.
    known: bool,
    /// Whether it cannot serve.
    unfit: bool,
    idle: Vec<Server>,
}

impl Servers {
    /// A server for the next run, or `None` if that has to be started afresh.
    pub fn take(&self, program: &Program) -> Result<Option<Server>, Error> {
        {
            let mut state = self.lock();
            let known = std::mem::replace(&mut state.known, true);
            if !known || state.unfit || !program.forks {
                return Ok(None);
            }
            while let Some(server) = state.idle.pop() {
                if server.start.is_of(program) {
                    return Ok(Some(server));
                }
            }
        }
        let server = Server::start(program)?;
        if server.is_none() {
            self.give_up();
        }
        Ok(server)
    }

    /// Takes back a server whose run has ended.
    pub fn give_back(&self, server: Server) {
        self.lock().idle.push(server);
    }

    /// Starts afresh from now on.
    pub fn give_up(&self) {
        let idle = {
            let mut state = self.lock();
            state.unfit = true;
            std::mem::take(&mut state.idle)
        };
        drop(idle);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

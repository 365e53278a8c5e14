//! A run while it goes on: full chunks are taken until the program ends or has to be ended, then what is
//! left is collected.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::size_of;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use raddle_trace::ids::ThreadId;
use raddle_trace::outcome::ThreadInfo;
use raddle_trace::run::Cwd;
use raddle_trace::schedule::Switch;
use raddle_trace::wire::{self, Message};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::control::ControlFile;
use crate::error::Error;
use crate::footprint::{self, Peak};
use crate::host;
use crate::inputs::Attended;
use crate::launch::{Cut, MAX_OUTPUT_BYTES, RunResult, copy};
use crate::process::Process;
use crate::record::{Drained, Recorder};
use crate::server::Server;
use crate::service::View;

/// How often the launcher looks at the time, the output and the user.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// How long before a program's time is over it is looked at whether it sleeps.
const LAST_LOOKS: Duration = Duration::from_secs(1);

/// What a program does right before its time is over.
#[derive(Default)]
struct Rest {
    /// How often it was looked at.
    looks: u32,
    /// How often it was asleep then. Threads that wait for the turn look around now and then, so this need not be always.
    asleep: u32,
    /// The slots that it had written at the first look.
    ticks: Option<u64>,
}

impl Rest {
    fn add(&mut self, is_asleep: bool, ticks: u64) {
        self.looks += 1;
        self.asleep += u32::from(is_asleep);
        self.ticks.get_or_insert(ticks);
    }

    /// Whether the program, which has now written so many slots, does nothing but wait.
    fn is_sleep(&self, ticks: u64) -> bool {
        self.asleep > self.looks / 2 && self.ticks == Some(ticks)
    }
}

/// When a program that runs is ended. Without any nothing but itself ends it, not even Ctrl-C.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits<'a> {
    /// After so long, which tells something of the program.
    pub timeout: Option<Duration>,
    /// At this moment, which tells nothing.
    pub until: Option<Instant>,
    /// As soon as this is set, or the user interrupts it.
    pub cancelled: Option<&'a AtomicBool>,
}

/// A program that runs, with the launcher's ends of everything it shares with it.
pub(crate) struct Session {
    pub process: Process,
    pub control: ControlFile,
    pub socket: UnixStream,
    pub recorder: Option<Recorder>,
    pub outputs: Vec<File>,
    /// What a run takes that is recorded.
    pub peak: Peak,
}

impl Session {
    /// What whoever attends the run may see of it.
    pub fn view(&self, cwd: &Cwd) -> Result<View, Error> {
        Ok(View {
            control: copy(self.control.file())?,
            outputs: self.outputs.iter().map(copy).collect::<Result<_, _>>()?,
            cwd: cwd.clone(),
        })
    }

    /// Serves the program until it ends or is ended, and buries it.
    pub fn watch(&mut self, limits: Limits<'_>) -> Result<(ExitStatus, Option<Cut>), Error> {
        let served = self.serve(limits);
        let status = self.process.end()?;
        Ok((status, served?))
    }

    fn serve(&mut self, limits: Limits<'_>) -> Result<Option<Cut>, Error> {
        let Limits {
            timeout,
            until,
            cancelled,
        } = limits;
        let start = Instant::now();
        let mut connected = true;
        let mut rest = Rest::default();
        let patience = match self.recorder {
            Some(_) => footprint::LOOK,
            None => LOOK_AROUND,
        };
        loop {
            let left = match timeout.map(|it| it.checked_sub(start.elapsed())) {
                Some(None) if rest.is_sleep(self.ticks()?) => return Ok(timeout.map(Cut::Asleep)),
                Some(None) => return Ok(timeout.map(Cut::Timeout)),
                Some(Some(left)) => left.min(patience),
                None => patience,
            };
            let left = match until.map(|it| it.checked_duration_since(Instant::now())) {
                Some(None) => return Err(Error::OutOfTime),
                Some(Some(until)) => left.min(until),
                None => left,
            };
            let watched = self.socket.as_fd();
            let mut polled = [
                PollFd::new(&self.process, PollFlags::IN),
                PollFd::from_borrowed_fd(watched, PollFlags::IN),
            ];
            let polled = &mut polled[..if connected { 2 } else { 1 }];
            let wait = Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match rustix::event::poll(polled, Some(&wait)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::system("watch the program")(error)),
            }
            // A program that waits for the launcher to take a chunk is none that waits.
            let is_still = polled.iter().all(|it| it.revents().is_empty());
            let stirs = !polled[0].revents().is_empty();
            if polled.get(1).is_some_and(|it| !it.revents().is_empty()) {
                connected = self.receive()?;
            }
            if self.recorder.is_some()
                && let Some(id) = self.process.id()
            {
                self.peak.look(id);
            }
            if stirs && self.process.look() {
                return Ok(None);
            }
            if timeout.is_some_and(|it| start.elapsed() + LAST_LOOKS > it) {
                rest.add(is_still && self.process.is_asleep(), self.ticks()?);
            }
            if cancelled.is_some_and(|it| host::interrupted() || it.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            if self.too_much_output() {
                return Ok(Some(Cut::Output));
            }
        }
    }

    /// Slots that the program has written, as far as it has told.
    fn ticks(&self) -> Result<u64, Error> {
        let head = self.control.head();
        let head = head.map_err(Error::system("read the program's memory file"))?;
        Ok(head.ticks)
    }

    /// Takes one announced chunk. Returns `false` when no more can come.
    fn receive(&mut self) -> Result<bool, Error> {
        let mut bytes = [0; size_of::<Message>()];
        if self.socket.read_exact(&mut bytes).is_err() {
            return Ok(false);
        }
        let full = Message::from_bytes(bytes);
        match &mut self.recorder {
            Some(recorder) => recorder.record(full, &self.control)?,
            // A program that was just killed does not read the answer.
            None => drop(self.socket.write_all(&bytes)),
        }
        Ok(true)
    }

    fn too_much_output(&self) -> bool {
        let len = |file: &File| file.metadata().map_or(0, |it| it.len());
        self.outputs.iter().map(len).sum::<u64>() > MAX_OUTPUT_BYTES
    }

    /// Reads everything that a dead program left.
    pub fn collect(mut self, status: ExitStatus, cut: Option<Cut>) -> Result<Collected, Error> {
        let unblocked = self.socket.set_nonblocking(true);
        unblocked.map_err(Error::system("empty the socket"))?;
        while self.receive()? {}
        let read = Error::system("read the program's memory file");
        let head = self.control.head().map_err(read)?;
        let gather = || -> io::Result<_> {
            let switches = self.control.switches(&head)?;
            let choices = self.control.choices(&head)?;
            Ok((switches, choices, self.control.threads(&head)?))
        };
        let gathered = gather();
        let (switches, choices, threads) =
            gathered.map_err(Error::system("read the program's memory file"))?;
        let drain = |it: Recorder| it.drain(&self.control, head.current_chunk);
        let drained = self.recorder.take().map(drain).transpose()?;
        let result = RunResult {
            switches: switches
                .into_iter()
                .map(known_switch)
                .collect::<Result<_, _>>()?,
            threads: known_threads(&threads)?,
            head,
            status,
            cut,
            choices,
            stdout: Vec::new(),
            stderr: Vec::new(),
            duration: Duration::ZERO,
            memory: self.peak.bytes(),
            failure: None,
            borne: None,
            events: None,
            executed: None,
            inputs: None,
            attended: Attended::default(),
        };
        Ok(Collected {
            result,
            drained,
            server: self.process.into_server(),
        })
    }
}

/// What a dead program left.
pub(crate) struct Collected {
    pub result: RunResult,
    pub drained: Option<Drained>,
    /// The server that made the run, if one did and is still there.
    pub server: Option<Result<Server, ()>>,
}

fn known_switch(raw: wire::Switch) -> Result<Switch, Error> {
    Switch::try_from(raw).map_err(Error::runtime)
}

fn known_threads(records: &[wire::ThreadRecord]) -> Result<Vec<ThreadInfo>, Error> {
    let numbered = (0..).map(ThreadId).zip(records);
    numbered
        .map(|(thread, raw)| ThreadInfo::from_wire(thread, raw).map_err(Error::runtime))
        .collect()
}

//! One run of a program under the runtime.
//!
//! The launcher makes the memory file and the socket, starts the program with both in a process
//! group of its own, serves full chunks until it ends or has to be ended, and collects what is
//! left: the last chunk, the switches, the threads' states. Nothing survives a run: the group is
//! killed while its leader is still a zombie, so that its number cannot belong to somebody else.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use raddle_trace::ids::ThreadId;
use raddle_trace::outcome::{Ending, Outcome, ThreadInfo};
use raddle_trace::run::{Clock, Cwd, Stdin, Strategy, TimeMode};
use raddle_trace::schedule::Switch;
use raddle_trace::wire::{self, Choice, Message, StrategyKind};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::control::{ControlFile, Head, Orders};
use crate::environment::{self, MEMORY_FD, SOCKET_FD};
use crate::error::Error;
use crate::host;
use crate::outcome::{self, Failure};
use crate::program::Program;
use crate::record::{Drained, End, Recorder};

/// Most output that is kept of one run; a program that writes more is taken for hanging.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;
/// How often the launcher looks at the time, the output and the user.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// What differs from run to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of every choice, and of the program's random numbers.
    pub seed: u64,
    /// How threads are chosen.
    pub strategy: StrategyKind,
    /// PCT's depth.
    pub depth: u32,
    /// Scheduling points of a profiling run, 0 if unknown.
    pub expected: u64,
    /// A scheduling point at every visible event, instead of event budgets.
    pub step: bool,
    /// One bit a site number; empty: all sites are visible.
    pub visible: Arc<[u8]>,
    /// Visible events of each thread in a profiling run.
    pub weights: Arc<[u64]>,
    /// Switches to follow.
    pub schedule: Arc<[wire::Switch]>,
    /// Choices to follow.
    pub choices: Vec<u32>,
    /// The virtual clock.
    pub clock: Clock,
    /// Most slots that a recorded run may write before it is taken for hanging.
    pub most_ticks: Option<u64>,
    /// Where to record the run.
    pub record: Option<Record>,
    /// How the strategy is called in the run's trace.
    pub label: Strategy,
}

/// A trace to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its file.
    pub path: PathBuf,
    /// How much of it is needed.
    pub detail: Detail,
}

/// How much of a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The events and the switches: enough to compare and to count.
    Events,
    /// Source positions too: enough for people.
    Positions,
}

impl Plan {
    /// A plan that knows nothing of the program yet.
    pub fn new(strategy: StrategyKind, seed: u64) -> Plan {
        Plan {
            seed,
            strategy,
            depth: 0,
            expected: 0,
            step: false,
            visible: Arc::default(),
            weights: Arc::default(),
            schedule: Arc::default(),
            choices: Vec::new(),
            clock: DEFAULT_CLOCK,
            most_ticks: None,
            record: None,
            label: Strategy::default(),
        }
    }

    pub(crate) fn orders(&self, time: TimeMode, stop_at_failure: bool) -> Orders<'_> {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        Orders {
            flags: flag(self.record.is_some(), wire::flags::RECORD)
                | flag(time == TimeMode::Real, wire::flags::REAL_TIME)
                | flag(self.step, wire::flags::STEP)
                | flag(stop_at_failure, wire::flags::STOP_AT_FAILURE),
            seed: self.seed,
            strategy: self.strategy,
            depth: self.depth,
            expected: self.expected,
            clock: self.clock,
            visible: &self.visible,
            schedule: &self.schedule,
            choices: &self.choices,
            weights: &self.weights,
        }
    }
}

/// The clock of runs that don't ask for another: it starts with the year 2020, an event takes
/// 100 ns.
pub const DEFAULT_CLOCK: Clock = Clock {
    start_ns: 1_577_836_800_000_000_000,
    ns_per_tick: 100,
};

/// Why the launcher ended a run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It took longer than it may.
    Timeout(Duration),
    /// It wrote more than is kept.
    Output,
    /// It did more than it may.
    Ticks(u64),
}

/// What came of a run.
#[derive(Debug)]
pub struct RunResult {
    /// What the runtime left in the memory file.
    pub head: Head,
    /// How the process ended.
    pub status: ExitStatus,
    /// Whether the launcher ended it.
    pub cut: Option<Cut>,
    /// Switches made, in order.
    pub switches: Vec<Switch>,
    /// Choices made by [`StrategyKind::Dfs`].
    pub choices: Vec<Choice>,
    /// What each thread was doing at the end.
    pub threads: Vec<ThreadInfo>,
    /// What the program wrote.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
    /// Wall-clock time.
    pub duration: Duration,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// Events recorded, if it was recorded.
    pub events: Option<u64>,
}

/// Runs a program once.
///
/// # Errors
/// If the program cannot be started or watched, or nothing in it is instrumented. A program that
/// fails is not an error but a result.
pub fn launch(program: &Program, plan: &Plan) -> Result<RunResult, Error> {
    host::prepare();
    let control = ControlFile::create(&plan.orders(program.time, false))
        .map_err(Error::system("make a memory file"))?;
    let (socket, theirs) = UnixStream::pair().map_err(Error::system("make a socket"))?;
    let mut stdout = capture()?;
    let mut stderr = capture()?;
    let handle = |file: &File| file.try_clone().map_err(Error::system("copy a descriptor"));

    let mut command = Command::new(&program.binary);
    command
        .args(&program.args)
        .env_clear()
        .envs(environment::block(&program.env, &program.runtime))
        .stdin(standard_input(&program.stdin)?)
        .stdout(handle(&stdout)?)
        .stderr(handle(&stderr)?)
        .process_group(0);
    if let Cwd::Path(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    share(&mut command, &control, theirs.into())?;

    let recorder = match &plan.record {
        Some(record) => Some(Recorder::start(&record.path, program.spec(plan))?),
        None => None,
    };
    let start = Instant::now();
    let child = command.spawn().map_err(|source| Error::Start {
        binary: program.binary.clone(),
        source,
    })?;
    drop(command);
    let mut session = Session {
        child,
        control,
        socket,
        recorder,
        ticks_left: plan.most_ticks,
        outputs: vec![handle(&stdout)?, handle(&stderr)?],
    };
    let (status, cut) = session.watch(Some(program.timeout))?;
    let cut = cut.map(|it| match (it, plan.most_ticks) {
        (Cut::Ticks(_), Some(most)) => Cut::Ticks(most),
        _ => it,
    });
    let duration = start.elapsed();
    let (mut result, mut drained) = session.collect(status, cut)?;
    result.duration = duration;
    result.stdout = contents(&mut stdout)?;
    result.stderr = contents(&mut stderr)?;
    check_instrumented(program, &result)?;
    result.failure = outcome::judge(program, &result, drained.as_mut())?;
    if let (Some(drained), Some(record)) = (drained, &plan.record) {
        let ended = Outcome::new(Ending::Success);
        let outcome = result
            .failure
            .as_ref()
            .map_or(ended, |it| it.outcome.clone());
        let end = End {
            head: &result.head,
            switches: &result.switches,
            outcome,
            threads: &result.threads,
        };
        let summary = drained.finish(program, record.detail, end)?;
        result.events = Some(summary.events);
    }
    Ok(result)
}

/// Gives the program its memory file and socket, and nobody else.
pub(crate) fn share(
    command: &mut Command,
    control: &ControlFile,
    socket: OwnedFd,
) -> Result<(), Error> {
    let memory = control.file().try_clone();
    let memory = memory.map_err(Error::system("copy a descriptor"))?;
    let mapping = |parent_fd, child_fd| FdMapping {
        parent_fd,
        child_fd,
    };
    command
        .fd_mappings(vec![
            mapping(memory.into(), MEMORY_FD),
            mapping(socket, SOCKET_FD),
        ])
        .map(|_| ())
        .map_err(|error| Error::System {
            doing: "pass descriptors to the program",
            source: io::Error::other(error),
        })
}

/// A program that runs, with the launcher's ends of everything it shares with it.
pub(crate) struct Session {
    pub child: Child,
    pub control: ControlFile,
    pub socket: UnixStream,
    pub recorder: Option<Recorder>,
    /// Slots that it may still write, if that is limited.
    pub ticks_left: Option<u64>,
    pub outputs: Vec<File>,
}

impl Session {
    /// Serves the program until it ends or is ended, and buries it.
    pub fn watch(&mut self, timeout: Option<Duration>) -> Result<(ExitStatus, Option<Cut>), Error> {
        let served = self.serve(timeout);
        let pid = Pid::from_child(&self.child);
        // Fails if nobody is left in the group, or if there is no group, which is as well.
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        let status = self.child.wait();
        let status = status.map_err(Error::system("wait for the program"))?;
        let cut = served?;
        Ok((status, cut))
    }

    fn serve(&mut self, timeout: Option<Duration>) -> Result<Option<Cut>, Error> {
        let start = Instant::now();
        let pid = Pid::from_child(&self.child);
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty())
            .map_err(Error::system("watch the program"))?;
        let mut connected = true;
        loop {
            let left = match timeout.map(|it| it.checked_sub(start.elapsed())) {
                Some(None) => return Ok(timeout.map(Cut::Timeout)),
                Some(Some(left)) => left.min(LOOK_AROUND),
                None => LOOK_AROUND,
            };
            let watched = self.socket.as_fd();
            let mut polled = [
                PollFd::new(&process, PollFlags::IN),
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
            let ended = !polled[0].revents().is_empty();
            if polled.get(1).is_some_and(|it| !it.revents().is_empty()) {
                connected = self.receive()?;
            }
            if ended {
                return Ok(None);
            }
            if host::interrupted() {
                return Err(Error::Interrupted);
            }
            if self.too_much_output() {
                return Ok(Some(Cut::Output));
            }
            if self.ticks_left == Some(0) {
                return Ok(Some(Cut::Ticks(0)));
            }
        }
    }

    /// Takes one announced chunk. Returns `false` when no more can come.
    fn receive(&mut self) -> Result<bool, Error> {
        let mut bytes = [0; size_of::<Message>()];
        if self.socket.read_exact(&mut bytes).is_err() {
            return Ok(false);
        }
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let chunk = word(std::mem::offset_of!(Message, chunk));
        let slots = word(std::mem::offset_of!(Message, slots));
        let left = &mut self.ticks_left;
        *left = left.map(|it| it.saturating_sub(slots.into()));
        self.take_chunk(chunk, slots)?;
        // A program that was just killed does not read the answer.
        let _ = self.socket.write_all(&bytes);
        Ok(true)
    }

    fn take_chunk(&mut self, chunk: u32, slots: u32) -> Result<(), Error> {
        let read = self.control.chunk(chunk, slots);
        let Some(bytes) = read.map_err(Error::system("read the program's events"))? else {
            return Ok(());
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.chunk(&self.control, bytes)?;
        }
        let cleared = self.control.clear_chunk(chunk);
        cleared.map_err(Error::system("clear the program's events"))
    }

    fn too_much_output(&self) -> bool {
        let len = |file: &File| file.metadata().map_or(0, |it| it.len());
        self.outputs.iter().map(len).sum::<u64>() > MAX_OUTPUT_BYTES
    }

    /// Reads everything that a dead program left.
    pub fn collect(
        mut self,
        status: ExitStatus,
        cut: Option<Cut>,
    ) -> Result<(RunResult, Option<Drained>), Error> {
        let unblocked = self.socket.set_nonblocking(true);
        unblocked.map_err(Error::system("empty the socket"))?;
        while self.receive()? {}
        let read = Error::system("read the program's memory file");
        let head = self.control.head().map_err(read)?;
        if self.recorder.is_some() {
            self.take_chunk(head.current_chunk, u32::MAX)?;
        }
        let gather = || -> io::Result<_> {
            let switches = self.control.switches(&head)?;
            let choices = self.control.choices(&head)?;
            Ok((switches, choices, self.control.threads(&head)?))
        };
        let gathered = gather();
        let (switches, choices, threads) =
            gathered.map_err(Error::system("read the program's memory file"))?;
        let drained = self.recorder.map(Recorder::drain).transpose()?;
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
            failure: None,
            events: None,
        };
        Ok((result, drained))
    }
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

/// Refuses a run that says nothing about the program.
fn check_instrumented(program: &Program, result: &RunResult) -> Result<(), Error> {
    let why = if !result.head.started {
        let stderr = String::from_utf8_lossy(&result.stderr);
        let words = stderr.lines().last().map(|it| format!(", saying \"{it}\""));
        format!(
            "the runtime was not loaded into it: it ended with {}{}. A statically linked or set-user-id program cannot be taken under control: link it dynamically, with `raddle cc`, `raddle c++` or `cargo raddle build`",
            result.status,
            words.unwrap_or_default()
        )
    } else if result.head.sites_len == 0 {
        "no object of it carries Raddle's hooks. Build it with `raddle cc`, `raddle c++` or `cargo raddle build`, or give `raddle run` its source file".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::NotInstrumented {
        binary: program.binary.clone(),
        why,
    })
}

/// A file in memory that takes a program's output. Not a pipe: writing to it never blocks, so the
/// output's reader cannot disturb the run.
fn capture() -> Result<File, Error> {
    let file = rustix::fs::memfd_create("raddle-output", MemfdFlags::CLOEXEC);
    Ok(File::from(
        file.map_err(Error::system("make a memory file"))?,
    ))
}

fn contents(file: &mut File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes))
        .map_err(Error::system("read the program's output"))?;
    Ok(bytes)
}

/// Opens the program's standard input anew, at its beginning.
pub(crate) fn standard_input(input: &Stdin) -> Result<Stdio, Error> {
    match input {
        Stdin::Empty => Ok(Stdio::null()),
        Stdin::File { path, .. } => {
            let file = File::open(path).map_err(Error::file("read", path))?;
            Ok(Stdio::from(file))
        }
        Stdin::Inline(bytes) => {
            let mut file = capture()?;
            file.write_all(bytes)
                .and_then(|()| file.rewind())
                .map_err(Error::system("prepare the program's input"))?;
            Ok(Stdio::from(file))
        }
    }
}

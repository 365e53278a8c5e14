//! One run of a program under the runtime.
//!
//! The launcher makes the memory file and the socket, gives both to a process in a group of its own
//! ([`crate::process`]), serves full chunks until it ends or has to be ended, and collects what is
//! left ([`crate::session`]): the last chunk, the switches, the threads' states. Nothing survives a run: the group is
//! killed while its leader is still a zombie, so that its number cannot belong to somebody else.
//!
//! The process is forked from a program that was started once ([`crate::server`]), or, where there is
//! no such server, started for the run. The program cannot tell the difference.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use raddle_trace::outcome::{Ending, Outcome, ThreadInfo};
use raddle_trace::run::{Clock, Cwd, Stdin, Strategy, TimeMode};
use raddle_trace::schedule::Switch;
use raddle_trace::sharing::Private;
use raddle_trace::wire::{self, Choice, OutcomeKind, StrategyKind};
use rustix::fs::MemfdFlags;

use crate::control::{ControlFile, Head, Orders};
use crate::environment::{self, MEMORY_FD, SOCKET_FD};
use crate::error::Error;
use crate::footprint::Peak;
use crate::host;
use crate::inputs::{Attended, Inputs, terminated};
use crate::outcome::{self, Failure};
use crate::process::Process;
use crate::program::Program;
use crate::record::{End, Recorder};
use crate::server::{self, Server};
use crate::service::{Attendant, Service};
use crate::session::{Collected, Limits, Session};
use crate::watch::Executed;

/// Most output that is kept of one run; a program that writes more is taken for hanging.
pub(crate) const MAX_OUTPUT_BYTES: u64 = 256 << 20;

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
    /// Most slots that a run may write before it is ended.
    pub most_ticks: Option<u64>,
    /// Where to record the run.
    pub record: Option<Record>,
    /// What concerns one thread only, and is not recorded.
    pub leave_out: Option<Arc<Private>>,
    /// How the strategy is called in the run's trace.
    pub label: Strategy,
    /// What a run by this plan was told by the outside: its replays are told the same.
    pub inputs: Option<Inputs>,
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
            leave_out: None,
            choices: Vec::new(),
            clock: DEFAULT_CLOCK,
            most_ticks: None,
            record: None,
            label: Strategy::default(),
            inputs: None,
        }
    }

    pub(crate) fn orders(&self, program: &Program, stops: bool) -> Orders<'_> {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        Orders {
            flags: flag(self.record.is_some(), wire::flags::RECORD)
                | flag(program.time == TimeMode::Real, wire::flags::REAL_TIME)
                | flag(self.step, wire::flags::STEP)
                | flag(stops, wire::flags::STOP),
            seed: self.seed,
            strategy: self.strategy,
            depth: self.depth,
            expected: self.expected,
            clock: self.clock,
            preempted_ns: u64::try_from(program.preempted_for.as_nanos()).unwrap_or(u64::MAX),
            most_ticks: self.most_ticks.unwrap_or(0),
            visible: &self.visible,
            schedule: &self.schedule,
            choices: &self.choices,
            weights: &self.weights,
            inputs_in: self
                .answers()
                .map(|it| terminated(&it.path()))
                .unwrap_or_default(),
            inputs_out: Vec::new(),
            stop_signal: self
                .answers()
                .and_then(|it| it.attended().stopped)
                .map_or(0, i32::cast_unsigned),
        }
    }

    /// What a replay's questions are answered from.
    pub(crate) fn answers(&self) -> Option<&Inputs> {
        let is_replay = self.strategy == StrategyKind::Replay;
        self.inputs.as_ref().filter(|_| is_replay)
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
    /// It took longer than it may, and every thread of it was asleep in the kernel.
    Asleep(Duration),
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
    /// The most memory that its process was seen to have, in bytes, if it was recorded.
    pub memory: u64,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// A panic of a thread that the joining one bore, and that is no failure.
    pub borne: Option<Failure>,
    /// Events recorded, if it was recorded.
    pub events: Option<u64>,
    /// The instructions that it executed, if it was recorded.
    pub executed: Option<Executed>,
    /// What it was told by the outside, if there was anything.
    pub inputs: Option<Inputs>,
    /// What the launcher did to it.
    pub attended: Attended,
}

/// Runs a program once.
///
/// # Errors
/// If the program cannot be started or watched, or nothing in it is instrumented. A program that
/// fails is not an error but a result.
pub fn launch(program: &Program, plan: &Plan) -> Result<RunResult, Error> {
    launch_unless(program, plan, &AtomicBool::new(false))
}

/// Runs a program once, unless `cancelled` gets set meanwhile: then the run is ended, and the result is
/// [`Error::Interrupted`].
pub(crate) fn launch_unless(
    program: &Program,
    plan: &Plan,
    cancelled: &AtomicBool,
) -> Result<RunResult, Error> {
    host::prepare();
    let service = program
        .service
        .as_ref()
        .filter(|_| plan.answers().is_none());
    // Clients find their server by a port or a path, so there is one at a time.
    static SERVED: Mutex<()> = Mutex::new(());
    let _alone = service.map(|_| SERVED.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(service) = service {
        service.set_up(&program.cwd)?;
    }
    let result = run_once(program, plan, cancelled);
    if let Some(service) = service {
        service.tear_down(&program.cwd)?;
    }
    result
}

fn run_once(program: &Program, plan: &Plan, cancelled: &AtomicBool) -> Result<RunResult, Error> {
    if let Some(server) = program.servers().take(program)? {
        if let Some(result) = attempt(program, plan, Some(server), cancelled)? {
            return Ok(result);
        }
        program.servers().give_up();
    }
    let result = attempt(program, plan, None, cancelled)?;
    result.ok_or_else(|| Error::runtime("a process that was started for a run is not there"))
}

/// Makes a run in a process of this server's, or in one of its own. `None` if the server could not make it.
fn attempt(
    program: &Program,
    plan: &Plan,
    server: Option<Server>,
    cancelled: &AtomicBool,
) -> Result<Option<RunResult>, Error> {
    let mut orders = plan.orders(program, false);
    let log = match plan.answers() {
        Some(_) => None,
        None => Some(Inputs::create().map_err(Error::system("make a temporary file"))?),
    };
    if let Some(log) = &log {
        orders.inputs_out = terminated(&log.path());
    }
    let service = program.service.as_ref().filter(|_| log.is_some());
    if let Some(signal) = service.and_then(Service::stop_signal) {
        orders.stop_signal = signal.cast_unsigned();
    }
    let control = ControlFile::create(&orders).map_err(Error::system("make a memory file"))?;
    let (socket, theirs) = UnixStream::pair().map_err(Error::system("make a socket"))?;
    let stdin = standard_input(&program.stdin)?;
    let (mut stdout, mut stderr) = (capture()?, capture()?);
    let outputs = vec![copy(&stdout)?, copy(&stderr)?];
    let recorder = match &plan.record {
        Some(record) => {
            let ring = control.ring(&socket);
            let ring = ring.map_err(Error::system("copy a descriptor"))?;
            Some(Recorder::start(
                &record.path,
                program.spec(plan),
                ring,
                plan.leave_out.clone(),
            )?)
        }
        None => None,
    };
    if let Some(Detail::Positions) = plan.record.as_ref().map(|it| it.detail) {
        program.read_outline_ahead();
    }
    let is_forked = server.is_some();
    let start = Instant::now();
    let streams = [&stdin, &stdout, &stderr];
    let Some(process) = begin(program, server, &control, theirs, streams)? else {
        return Ok(None);
    };
    let mut session = Session {
        process,
        control,
        socket,
        recorder,
        outputs,
        peak: Peak::default(),
    };
    let attendant = match service {
        Some(service) => Attendant::start(service, session.view(&program.cwd)?)?,
        None => None,
    };
    let watched = session.watch(Limits {
        timeout: Some(program.timeout),
        until: program.until,
        cancelled: Some(cancelled),
    });
    let attended = attendant.map(Attendant::finish);
    let (status, cut) = watched?;
    let duration = start.elapsed();
    let Collected {
        mut result,
        mut drained,
        server,
    } = session.collect(status, cut)?;
    if result.head.outcome.kind == OutcomeKind::Hang as u32 {
        result.cut = Some(Cut::Ticks(result.head.ticks));
    }
    let cut = result.cut;
    check_surroundings(&result)?;
    match server {
        Some(Ok(server)) => program.servers().give_back(server),
        Some(Err(())) => return Ok(None),
        None => {}
    }
    if is_forked && !result.head.started {
        return Ok(None);
    }
    result.attended = attended
        .or_else(|| plan.answers().map(Inputs::attended))
        .unwrap_or_default();
    result.inputs = match log {
        Some(log) => log
            .finish(cut.is_none(), result.attended)
            .map_err(Error::system("write a temporary file"))?,
        None => plan.inputs.clone(),
    };
    if let Some(call) = &result.head.uncovered {
        program.note_uncovered(call);
    }
    result.duration = duration;
    result.stdout = contents(&mut stdout)?;
    result.stderr = contents(&mut stderr)?;
    check_instrumented(program, &result)?;
    let verdict = outcome::judge(program, &result, drained.as_mut())?;
    (result.failure, result.borne) = (verdict.failure, verdict.borne);
    if let (Some(drained), Some(record)) = (drained, &plan.record) {
        let failed = result.failure.as_ref().map(|it| it.outcome.clone());
        let end = End {
            head: &result.head,
            switches: &result.switches,
            outcome: failed.unwrap_or_else(|| Outcome::new(Ending::Success)),
            threads: &result.threads,
        };
        let (summary, executed) = drained.finish(program, record.detail, end)?;
        result.events = Some(summary.events);
        result.executed = Some(executed);
    }
    Ok(Some(result))
}

/// Gives a run its process; `None` if the server cannot.
fn begin(
    program: &Program,
    server: Option<Server>,
    control: &ControlFile,
    socket: UnixStream,
    streams: [&File; 3],
) -> Result<Option<Process>, Error> {
    if let Some(server) = server {
        return Ok(fork(program, server, control, socket, streams));
    }
    let mut command = command(program, streams)?;
    share(&mut command, control.file(), socket.into())?;
    let child = command.spawn().map_err(|source| Error::Start {
        binary: program.binary.clone(),
        source,
    })?;
    Process::started(child).map(Some)
}

/// Orders a run of a server; `None` if that fails.
fn fork(
    program: &Program,
    server: Server,
    control: &ControlFile,
    socket: UnixStream,
    streams: [&File; 3],
) -> Option<Process> {
    let directory = server::directory(&program.cwd).ok()?;
    let [stdin, stdout, stderr] = streams.map(AsFd::as_fd);
    let (memory, socket) = (control.file().as_fd(), socket.as_fd());
    let descriptors = [memory, socket, stdin, stdout, stderr, directory.as_fd()];
    server.order_run(descriptors).ok()?;
    Some(Process::forked(server))
}

/// How a program is started, with these standard streams.
pub(crate) fn command(program: &Program, streams: [&File; 3]) -> Result<Command, Error> {
    let [stdin, stdout, stderr] = streams;
    let mut command = Command::new(&program.binary);
    command
        .args(&program.args)
        .env_clear()
        .envs(environment::block(&program.env, &program.runtime))
        .stdin(copy(stdin)?)
        .stdout(copy(stdout)?)
        .stderr(copy(stderr)?)
        .process_group(0);
    if let Cwd::Path(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    Ok(command)
}

pub(crate) fn copy(file: &File) -> Result<File, Error> {
    file.try_clone().map_err(Error::system("copy a descriptor"))
}

/// Gives the program its memory file and socket, and nobody else.
pub(crate) fn share(command: &mut Command, memory: &File, socket: OwnedFd) -> Result<(), Error> {
    let memory = copy(memory)?;
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

/// Refuses a run that ended because the machine leaves the runtime too little.
fn check_surroundings(result: &RunResult) -> Result<(), Error> {
    let outcome = &result.head.outcome;
    if outcome.kind != OutcomeKind::Surroundings as u32 {
        return Ok(());
    }
    let said = Outcome::from_wire(outcome).map_err(Error::runtime)?;
    let message = said.map(|it| it.message).unwrap_or_default();
    Err(Error::Surroundings { message })
}

/// What the loader says when it does not find a library.
const MISSING_LIBRARY: &str = "error while loading shared libraries: ";

/// Refuses a run that says nothing about the program.
fn check_instrumented(program: &Program, result: &RunResult) -> Result<(), Error> {
    let stderr = String::from_utf8_lossy(&result.stderr);
    let missing = stderr.lines().find_map(|it| it.split_once(MISSING_LIBRARY));
    if let (Some((_, what)), false) = (missing, result.head.started) {
        return Err(Error::MissingLibrary {
            binary: program.binary.clone(),
            what: what.to_owned(),
        });
    }
    let why = if !result.head.started {
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
pub(crate) fn capture() -> Result<File, Error> {
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
pub(crate) fn standard_input(input: &Stdin) -> Result<File, Error> {
    let open = |path: &Path| File::open(path).map_err(Error::file("read", path));
    match input {
        Stdin::Empty => open(Path::new("/dev/null")),
        Stdin::File { path, .. } => open(path),
        Stdin::Inline(bytes) => {
            let mut file = capture()?;
            file.write_all(bytes)
                .and_then(|()| file.rewind())
                .map_err(Error::system("prepare the program's input"))?;
            Ok(file)
        }
    }
}

//! A replay inside gdb, which stops at the failing point, and where the clip shows what it was kept for.
//!
//! gdb starts the program itself: attaching to a stopped one is forbidden to ordinary users on many
//! machines. The program must find exactly the environment of the recorded run, or its stack would
//! lie elsewhere, so gdb starts it through `env -i`. The runtime stops the process where it sees a
//! failure, and where the schedule tells it to; a signal stops it anyway.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use raddle_trace::clip::Clip;
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::run::{Cwd, Stdin};
use raddle_trace::schedule::Moment;
use raddle_trace::wire;
use tempfile::NamedTempFile;

use crate::control::ControlFile;
use crate::environment;
use crate::error::Error;
use crate::footprint::Peak;
use crate::host;
use crate::launch::{Plan, share};
use crate::process::Process;
use crate::program::Program;
use crate::session::{Limits, Session};

/// Has gdb stop where the runtime stops, and go on from there when it is told to.
const STOPS: &str = "handle SIGSTOP stop print nopass";

/// Gives gdb's threads the names that reports have for them. Threads are created one at a time, and gdb counts from 1.
const NAME_THREADS: &str = "thread apply all -s -q eval \"thread name T%d\", $_thread - 1";

/// Selects the innermost frame of the user's code, if gdb can be programmed.
const SELECT_FRAME: &str = include_str!("select_frame.py");

/// Replays a clip by its plan under gdb, with more arguments for gdb if there are any, and waits until the
/// user leaves it.
///
/// # Errors
/// If gdb is missing or cannot be started.
pub fn debug(
    program: &Program,
    clip: &Clip,
    mut plan: Plan,
    more: &[OsString],
) -> Result<ExitStatus, Error> {
    host::prepare_for_debugger();
    if let Some(moment) = moment(clip) {
        let switches = moment.stop_in(&clip.switches).into_iter();
        plan.schedule = switches.map(wire::Switch::from).collect();
    }
    let orders = plan.orders(program, true);
    let control = ControlFile::create(&orders).map_err(Error::system("make a memory file"))?;
    let (socket, theirs) = UnixStream::pair().map_err(Error::system("make a socket"))?;
    let input = Input::new(&program.stdin)?;
    let select = script(SELECT_FRAME)?;
    let mut source = OsString::from("source ");
    source.push(select.path());
    let mut command = Command::new("gdb");
    for setting in [
        "set confirm off".into(),
        "set disable-randomization on".into(),
        STOPS.into(),
        wrapper(program),
        run(&program.args, &input),
        NAME_THREADS.into(),
        source,
    ] {
        command.arg("-ex").arg(setting);
    }
    command.arg("-q").args(more);
    command.arg(&program.binary);
    if let Cwd::Path(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    share(&mut command, control.file(), theirs.into())?;
    let child = command.spawn().map_err(|source| Error::NoGdb { source })?;
    drop(command);
    let mut session = Session {
        process: Process::started(child)?,
        control,
        socket,
        recorder: None,
        outputs: Vec::new(),
        peak: Peak::default(),
    };
    let (status, _) = session.watch(Limits::default())?;
    Ok(status)
}

/// Where a clip's run is to stop, besides where the runtime or a signal stops it.
fn moment(clip: &Clip) -> Option<Moment> {
    let outcome = clip.expected.as_ref();
    let of_access = |it: &Outcome| match it.ending {
        Ending::UseAfterFree => Some(Moment {
            thread: it.thread?,
            tick: it.tick?,
        }),
        _ => None,
    };
    clip.shows_at.or_else(|| outcome.and_then(of_access))
}

fn script(text: &str) -> Result<NamedTempFile, Error> {
    let make = || {
        let mut file = tempfile::Builder::new().suffix(".py").tempfile()?;
        file.write_all(text.as_bytes())?;
        Ok::<_, std::io::Error>(file)
    };
    make().map_err(Error::system("write a temporary file"))
}

/// The command that runs the program. What follows it replaces the arguments that gdb was started with.
fn run(args: &[OsString], input: &Input) -> OsString {
    let mut text = OsString::from("run");
    for arg in args {
        text.push(" ");
        text.push(quote(arg));
    }
    text.push(" < ");
    text.push(quote(input.path().as_os_str()));
    text
}

/// The command that makes gdb start the program in its pinned environment.
fn wrapper(program: &Program) -> OsString {
    let mut text = OsString::from("set exec-wrapper env -i");
    for (name, value) in environment::block(&program.env, &program.runtime) {
        let mut assignment = name;
        assignment.push("=");
        assignment.push(value);
        text.push(" ");
        text.push(quote(&assignment));
    }
    text
}

/// Quotes for the shell through which gdb starts programs.
fn quote(text: &OsStr) -> OsString {
    let mut quoted = vec![b'\''];
    for byte in text.as_bytes() {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

/// The program's standard input as a file that gdb can redirect from.
enum Input {
    Path(PathBuf),
    Temporary(NamedTempFile),
}

impl Input {
    fn new(stdin: &Stdin) -> Result<Input, Error> {
        match stdin {
            Stdin::Empty => Ok(Input::Path("/dev/null".into())),
            Stdin::File { path, .. } => Ok(Input::Path(path.clone())),
            Stdin::Inline(bytes) => {
                let make = || {
                    let mut file = NamedTempFile::new()?;
                    file.write_all(bytes)?;
                    Ok::<_, std::io::Error>(file)
                };
                let file = make().map_err(Error::system("prepare the program's input"))?;
                Ok(Input::Temporary(file))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Input::Path(path) => path,
            Input::Temporary(file) => file.path(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_survives_the_shell() {
        let text = "it's $HOME `x` \\ \"y\"";
        let mut script = OsString::from("printf %s ");
        script.push(quote(OsStr::new(text)));
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}

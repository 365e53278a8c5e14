//! A replay inside gdb, which stops at the failing point.
//!
//! gdb starts the program itself: attaching to a stopped one is forbidden to ordinary users on many
//! machines. The program must find exactly the environment of the recorded run, or its stack would
//! lie elsewhere, so gdb starts it through `env -i`. The runtime stops the process where it sees a
//! failure; a signal stops it anyway.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;

use raddle_trace::run::{Cwd, Stdin};
use tempfile::NamedTempFile;

use crate::control::ControlFile;
use crate::environment;
use crate::error::Error;
use crate::host;
use crate::launch::{Plan, share};
use crate::process::Process;
use crate::program::Program;
use crate::session::Session;

/// Replays a plan under gdb, with more arguments for gdb if there are any, and waits until the
/// user leaves it.
///
/// # Errors
/// If gdb is missing or cannot be started.
pub fn debug(program: &Program, plan: &Plan, more: &[OsString]) -> Result<ExitStatus, Error> {
    host::prepare();
    let orders = plan.orders(program, true);
    let control = ControlFile::create(&orders).map_err(Error::system("make a memory file"))?;
    let (socket, theirs) = UnixStream::pair().map_err(Error::system("make a socket"))?;
    let input = Input::new(&program.stdin)?;
    let mut command = Command::new("gdb");
    for setting in [
        "set confirm off".into(),
        "set disable-randomization on".into(),
        wrapper(program),
        input.run(),
    ] {
        command.arg("-ex").arg(setting);
    }
    command.arg("-q").args(more);
    command
        .arg("--args")
        .arg(&program.binary)
        .args(&program.args);
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
    };
    let (status, _) = session.watch(None, &AtomicBool::new(false))?;
    Ok(status)
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

    fn run(&self) -> OsString {
        let path = match self {
            Input::Path(path) => path.as_path(),
            Input::Temporary(file) => file.path(),
        };
        let mut text = OsString::from("run < ");
        text.push(quote(path.as_os_str()));
        text
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

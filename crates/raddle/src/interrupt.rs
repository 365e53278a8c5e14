//! Ctrl-C: a command ends soon, and tells what was found until then.
//!
//! What takes long looks at [`host::interrupted`], and comes to an orderly end. Some of it looks seldom: compilers, a large
//! trace that is read or searched, the runs by which findings are shown. So there is a limit: when it is over the
//! account that the command gave last is told in its place, and the process ends, with the processes that it has
//! started and its temporary files.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use raddle_run::host;
use tempfile::TempDir;

use crate::exit::Exit;

/// How long a command has for an orderly end.
const GRACE: Duration = Duration::from_millis(1_500);
/// How often the user's wish is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What is told of an interrupted command that does not come to its end.
enum Account {
    /// That it was interrupted: it has found nothing yet.
    Nothing,
    /// What it has found so far, which also says how it ends.
    SoFar(Box<dyn FnOnce() -> Exit + Send>),
    /// Nothing: it is telling by itself.
    Own,
}

/// The account that the command gave last.
static LAST: Mutex<Account> = Mutex::new(Account::Nothing);

/// What follows an account: it tells more, and may change how the command ends.
type Epilogue = Box<dyn FnOnce(Exit) -> Exit + Send>;

static EPILOGUE: Mutex<Option<Epilogue>> = Mutex::new(None);

/// Holds temporary files until a command ends.
pub struct Guard {
    _scratch: Option<TempDir>,
}

/// From here on Ctrl-C ends the command with exit code 130, after a moment at most.
pub fn guard() -> Guard {
    host::catch_interrupts();
    // Where no directory can be made the command will say so when it needs one.
    let scratch = tempfile::Builder::new().prefix("raddle-").tempdir().ok();
    let path = scratch.as_ref().map(|it| it.path().to_owned());
    if let Some(path) = &path {
        let _ = tempfile::env::override_temp_dir(path);
    }
    std::thread::spawn(move || end_when_interrupted(path));
    Guard { _scratch: scratch }
}

/// Has `account` told if the command is interrupted and does not end by itself.
pub fn if_it_lasts(account: impl FnOnce() -> Exit + Send + 'static) {
    *last() = Account::SoFar(Box::new(account));
}

/// Has more told after every account that is told in the command's place.
pub fn afterwards(epilogue: impl FnOnce(Exit) -> Exit + Send + 'static) {
    *EPILOGUE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(epilogue));
}

/// The command has come to its end, and tells what it found by itself.
pub fn comes_to_its_end() {
    *last() = Account::Own;
}

fn end_when_interrupted(scratch: Option<PathBuf>) {
    while !host::was_interrupted() {
        std::thread::sleep(LOOK);
    }
    if !matches!(*last(), Account::Nothing) {
        std::thread::sleep(GRACE);
    }
    // Held to the end, so that the command does not begin to tell at the same time.
    let mut last = last();
    let exit = match std::mem::replace(&mut *last, Account::Own) {
        Account::Nothing => {
            eprintln!("raddle: interrupted");
            Exit::Interrupted
        }
        Account::SoFar(account) => account(),
        Account::Own => return,
    };
    let epilogue = EPILOGUE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let exit = epilogue.map_or(exit, |tell| tell(exit));
    host::kill_descendants();
    if let Some(scratch) = scratch {
        let _ = std::fs::remove_dir_all(scratch);
    }
    std::process::exit(exit.code().into());
}

fn last() -> MutexGuard<'static, Account> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

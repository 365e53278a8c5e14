//! The process that makes a run: started for it, or forked by a server.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::error::Error;
use crate::server::{Report, Server};

/// A process that makes a run, and everything that it may leave behind.
pub(crate) enum Process {
    /// One of its own, with a descriptor that tells of its end.
    Started(Child, OwnedFd),
    /// A child of a server.
    Forked(Forked),
}

/// A run that a server makes.
pub(crate) struct Forked {
    server: Server,
    pid: Option<Pid>,
    status: Option<ExitStatus>,
    /// The server has gone, and with it all knowledge of the run.
    lost: bool,
}

impl Process {
    /// A process that was just started.
    pub fn started(mut child: Child) -> Result<Process, Error> {
        let pid = Pid::from_child(&child);
        match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(ended) => Ok(Process::Started(child, ended)),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(Error::system("watch the program")(error))
            }
        }
    }

    /// A run that was just ordered.
    pub fn forked(server: Server) -> Process {
        Process::Forked(Forked {
            server,
            pid: None,
            status: None,
            lost: false,
        })
    }

    /// Looks at the process after its descriptor became readable; returns whether it has ended.
    pub fn look(&mut self) -> bool {
        match self {
            Process::Started(..) => true,
            Process::Forked(it) => it.look(),
        }
    }

    /// Ends the process if it has not ended, and whoever is left of its group, and buries it.
    pub fn end(&mut self) -> Result<ExitStatus, Error> {
        match self {
            Process::Started(child, _) => {
                // Fails if nobody is left in the group, or if there is no group, which is as well.
                let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL);
                child.wait().map_err(Error::system("wait for the program"))
            }
            Process::Forked(it) => {
                if it.status.is_none() && !it.lost {
                    it.lost = it.server.order_kill().is_err();
                }
                while !it.look() {}
                Ok(it.status.unwrap_or_default())
            }
        }
    }

    /// Its number, if it is known.
    pub fn id(&self) -> Option<u32> {
        match self {
            Process::Started(child, _) => Some(child.id()),
            Process::Forked(it) => it.pid.map(|pid| pid.as_raw_pid().cast_unsigned()),
        }
    }

    /// Whether every thread of the process, and of the processes that it has started, is asleep in the kernel.
    pub fn is_asleep(&self) -> bool {
        self.id().is_some_and(sleeps)
    }

    /// The server, when its run has ended; `Err` if it has gone.
    pub fn into_server(self) -> Option<Result<Server, ()>> {
        match self {
            Process::Started(..) => None,
            Process::Forked(it) if it.status.is_some() => Some(Ok(it.server)),
            Process::Forked(_) => Some(Err(())),
        }
    }
}

/// Whether all threads of a process sleep, and those of its children.
fn sleeps(pid: u32) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return true;
    };
    let read = |task: &Path, name: &str| fs::read_to_string(task.join(name)).unwrap_or_default();
    tasks.flatten().all(|task| {
        let stat = read(&task.path(), "stat");
        // The state follows the name, which may hold anything.
        let state = stat.rsplit_once(") ").map_or("", |it| it.1);
        let children = read(&task.path(), "children");
        let mut children = children.split_whitespace().flat_map(str::parse);
        !state.starts_with('R') && children.all(sleeps)
    })
}

impl Forked {
    fn look(&mut self) -> bool {
        if self.status.is_none() && !self.lost {
            match self.server.report() {
                Ok(Report::Started(pid)) => self.pid = Pid::from_raw(pid),
                Ok(Report::Ended(status)) => self.status = Some(ExitStatus::from_raw(status)),
                Err(_) => self.lost = true,
            }
            if let (true, Some(pid)) = (self.lost, self.pid) {
                // Nobody else can; that the number is another's by now is next to impossible.
                let _ = rustix::process::kill_process_group(pid, Signal::KILL);
            }
        }
        self.status.is_some() || self.lost
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Process::Started(_, ended) => ended.as_fd(),
            Process::Forked(it) => it.server.as_fd(),
        }
    }
}

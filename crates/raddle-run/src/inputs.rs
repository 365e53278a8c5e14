//! What a run was told by the outside, kept so that it can be told again.
//!
//! The runtime writes the log of a run itself, into a file that the launcher made and that has no name: it
//! finds it through the launcher's descriptor. So nothing is left behind, however the run or the launcher
//! end, and a log may be as long as the disk allows. What is kept with a clip lies beside it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::mem::{offset_of, size_of};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_trace::run::RunSpec;
use raddle_trace::wire::{INPUT_MAGIC, InputHead};

use crate::error::Error;

/// What the name of a log kept beside a clip ends with.
pub const EXTENSION: &str = "inputs";

/// Parameter by which a clip says that the log of its run belongs beside it.
const BESIDE: &str = "inputs";

/// The log of a run's inputs.
#[derive(Clone, Debug)]
pub struct Inputs {
    file: Arc<File>,
    head: InputHead,
}

/// How a run that had a client ended, as far as the client and the launcher had to do with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attended {
    /// The client's exit status; -1 for one that took too long. `None` if there was no client.
    pub client: Option<i32>,
    /// The signal by which the launcher ended the program.
    pub stopped: Option<i32>,
}

impl Inputs {
    /// A log without entries, for a run that is about to start.
    ///
    /// # Errors
    /// If there is no room for a file.
    pub(crate) fn create() -> io::Result<Inputs> {
        let inputs = Inputs {
            file: Arc::new(tempfile::tempfile()?),
            head: InputHead {
                magic: INPUT_MAGIC,
                ..InputHead::default()
            },
        };
        inputs.file.write_all_at(&encode(&inputs.head), 0)?;
        Ok(inputs)
    }

    /// The log beside a clip, if one belongs there.
    ///
    /// # Errors
    /// If it cannot be read or is not one.
    pub fn of_clip(clip: &Path, run: &RunSpec) -> Result<Option<Inputs>, Error> {
        let mut parameters = run.strategy.parameters.iter();
        if !parameters.any(|(name, _)| name == BESIDE) {
            return Ok(None);
        }
        let path = beside(clip);
        let file = File::open(&path).map_err(|source| Error::NoInputs {
            path: path.clone(),
            source,
        })?;
        let mut bytes = [0; size_of::<InputHead>()];
        let read = file.read_exact_at(&mut bytes, 0);
        read.map_err(Error::file("read", &path))?;
        raddle_trace::inputs::check(&file).map_err(|source| Error::BadInputs { path, source })?;
        let head = decode(&bytes);
        let file = Arc::new(file);
        Ok(Some(Inputs { file, head }))
    }

    /// Keeps the log beside a clip of this run, which says so.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_beside(&self, clip: &Path, run: &mut RunSpec) -> Result<(), Error> {
        let says = (BESIDE.to_owned(), "beside".to_owned());
        run.strategy.parameters.push(says);
        let path = beside(clip);
        let copy = || {
            let mut from = File::open(self.path())?;
            from.rewind()?;
            io::copy(&mut from, &mut File::create(&path)?)
        };
        copy().map(|_| ()).map_err(Error::file("write", &path))
    }

    /// Notes how the run ended. Returns nothing if a replay needs nothing of the log.
    pub(crate) fn finish(mut self, complete: bool, attended: Attended) -> io::Result<Option<Self>> {
        self.head.complete = complete.into();
        self.head.client = attended.client.unwrap_or(NO_CLIENT);
        self.head.stop_signal = attended.stopped.map_or(0, i32::cast_unsigned);
        self.file.write_all_at(&encode(&self.head), 0)?;
        let is_empty = self.file.metadata()?.len() <= size_of::<InputHead>() as u64;
        Ok((!is_empty || attended.client.is_some()).then_some(self))
    }

    /// What the launcher did to the recorded run.
    pub(crate) fn attended(&self) -> Attended {
        let stopped = self.head.stop_signal.cast_signed();
        Attended {
            client: Some(self.head.client).filter(|it| *it != NO_CLIENT),
            stopped: Some(stopped).filter(|it| *it != 0),
        }
    }

    /// Where the program finds the file, as long as this is alive.
    pub(crate) fn path(&self) -> PathBuf {
        let (process, fd) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{fd}"))
    }
}

/// Stands for no client in [`InputHead::client`].
const NO_CLIENT: i32 = i32::MIN;

/// Where the log of a clip is.
pub fn beside(clip: &Path) -> PathBuf {
    clip.with_extension(EXTENSION)
}

/// A path as the runtime reads it.
pub(crate) fn terminated(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = OsString::from(path).into_vec();
    bytes.push(0);
    bytes
}

fn encode(head: &InputHead) -> [u8; size_of::<InputHead>()] {
    let mut bytes = [0; size_of::<InputHead>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(InputHead, magic), &head.magic.to_ne_bytes());
    put(
        offset_of!(InputHead, complete),
        &head.complete.to_ne_bytes(),
    );
    let signal = head.stop_signal.to_ne_bytes();
    put(offset_of!(InputHead, stop_signal), &signal);
    put(offset_of!(InputHead, client), &head.client.to_ne_bytes());
    bytes
}

fn decode(bytes: &[u8; size_of::<InputHead>()]) -> InputHead {
    let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
    let mut magic = [0; 8];
    magic.copy_from_slice(&bytes[..8]);
    InputHead {
        magic: u64::from_ne_bytes(magic),
        complete: word(offset_of!(InputHead, complete)),
        stop_signal: word(offset_of!(InputHead, stop_signal)),
        client: word(offset_of!(InputHead, client)).cast_signed(),
        reserved: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_log_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let clip = dir.path().join("a.clip");
        let mut run = RunSpec::default();
        assert!(Inputs::of_clip(&clip, &run).unwrap().is_none());
        let attended = Attended {
            client: Some(3),
            stopped: Some(15),
        };
        let log = Inputs::create().unwrap().finish(true, attended).unwrap();
        log.unwrap().keep_beside(&clip, &mut run).unwrap();
        let read = Inputs::of_clip(&clip, &run).unwrap().unwrap();
        assert_eq!(read.attended(), attended);
        assert_eq!(read.head.complete, 1);
        std::fs::write(beside(&clip), "something else, long enough").unwrap();
        assert!(Inputs::of_clip(&clip, &run).is_err());
        std::fs::remove_file(beside(&clip)).unwrap();
        assert!(matches!(
            Inputs::of_clip(&clip, &run),
            Err(Error::NoInputs { .. })
        ));
    }

    #[test]
    fn a_run_that_was_told_nothing_has_no_log() {
        let log = Inputs::create().unwrap();
        assert!(log.finish(true, Attended::default()).unwrap().is_none());
    }
}

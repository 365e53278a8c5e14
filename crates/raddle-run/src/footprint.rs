//! What a run takes of the machine's memory besides the events that are read of it.
//!
//! The kernel knows the most that a process has had (`VmHWM` in its status), and forgets it as the process ends. So the
//! launcher looks while the process runs, and misses what comes and goes between two looks.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a process is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(10);

/// The most memory that a process was seen to have had.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    looked: Option<Instant>,
    bytes: u64,
}

impl Peak {
    /// Looks at a process, unless that was done a moment ago.
    pub fn look(&mut self, process: u32) {
        if self.looked.is_some_and(|it| it.elapsed() < LOOK) {
            return;
        }
        self.looked = Some(Instant::now());
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        self.bytes = self.bytes.max(high_water(&status).unwrap_or(0));
    }

    /// In bytes; 0 if it was not seen.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

/// The most memory that a process has had, by its status.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kilobytes = line.trim().strip_suffix("kB")?.trim();
    kilobytes.parse::<u64>().ok()?.checked_mul(1024)
}

/// Whether the files of a directory are kept in memory.
#[must_use]
pub fn is_in_memory(directory: &Path) -> bool {
    /// What the kernel calls `tmpfs` and `ramfs`.
    const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
    let found = rustix::fs::statfs(directory);
    found.is_ok_and(|it| u64::try_from(it.f_type).is_ok_and(|it| IN_MEMORY.contains(&it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_word_is_read() {
        let status = "Name:\tit\nVmPeak:\t  9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1000 kB\n";
        assert_eq!(high_water(status), Some(1234 * 1024));
        assert_eq!(high_water("Name:\tzombie\n"), None);
        let mut peak = Peak::default();
        peak.look(std::process::id());
        assert!(peak.bytes() > 1 << 20);
    }

    #[test]
    fn directories_in_memory_are_known() {
        assert!(is_in_memory(Path::new("/dev/shm")));
        assert!(!is_in_memory(Path::new("/proc")));
        assert!(!is_in_memory(Path::new("/none")));
    }
}

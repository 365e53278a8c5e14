//! How much memory a command takes if the user does not say.

use std::fs;

/// More is not taken unless the user says so.
const MOST: u64 = 4 << 30;

/// Half of what is free, or of what a limit of the address space (`ulimit -v`) leaves, and at most [`MOST`].
pub fn usual() -> u64 {
    let free = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let least = [available(&free), address_space(&limits)];
    let least = least.into_iter().flatten().min();
    least.map_or(MOST, |it| it / 2).min(MOST)
}

/// Bytes that can be had without making others suffer.
fn available(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let kilobytes = lines.find_map(|it| it.strip_prefix("MemAvailable:"))?;
    let number = kilobytes.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes that the process may map, if there is a limit.
fn address_space(limits: &str) -> Option<u64> {
    let mut lines = limits.lines();
    let limit = lines.find_map(|it| it.strip_prefix("Max address space"))?;
    limit.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_tables_are_read() {
        let meminfo = "MemTotal:       24689764 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(available(meminfo), Some(23_000_000 * 1024));
        let limits = |soft: &str| {
            format!("Limit  Soft  Hard\nMax address space   {soft}   unlimited  bytes\n")
        };
        assert_eq!(address_space(&limits("4096000")), Some(4_096_000));
        assert_eq!(address_space(&limits("unlimited")), None);
        let usual = usual();
        assert!(0 < usual && usual <= MOST, "{usual}");
    }
}

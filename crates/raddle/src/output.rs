//! Standard output, which may be closed by its reader at any time.

use std::io::Write;

/// Prints text on standard output. A reader who leaves early, such as `head`, is no error: the
/// exit code still tells the result.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// As [`say`], with formatting and the end of the line.
macro_rules! sayln {
    ($($arg:tt)*) => {
        $crate::output::say(&format!("{}\n", format_args!($($arg)*)))
    };
}

pub(crate) use sayln;

//! Standard output, which may be closed by its reader at any time.

use std::io::{self, ErrorKind, Write};

/// Prints text on standard output. A reader who leaves early, such as `head`, is no error: the
/// exit code still tells the result.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// What came of printing: a reader who leaves early is no error here either.
pub fn told(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// As [`say`], with formatting and the end of the line.
macro_rules! sayln {
    ($($arg:tt)*) => {
        $crate::output::say(&format!("{}\n", format_args!($($arg)*)))
    };
}

pub(crate) use sayln;

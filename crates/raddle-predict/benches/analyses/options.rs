//! The command line.

/// What is measured.
pub struct Options {
    /// The longest trace.
    pub most: usize,
    /// Part of a shape's name.
    pub shape: String,
    best_of: Option<usize>,
}

/// A trace of this length is not measured as often as a shorter one.
const LONG: usize = 5_000_000;

impl Options {
    /// Reads the arguments; the one that cargo adds means nothing.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            most: 10_000_000,
            shape: String::new(),
            best_of: None,
        };
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments.next().and_then(|value| value.parse().ok());
                value.ok_or_else(|| format!("{argument} needs a number"))
            };
            match argument.as_str() {
                "--bench" => {}
                "--quick" => {
                    options.most = 1_000_000;
                    options.best_of = Some(2);
                }
                "--most" => options.most = number()?,
                "--best-of" => options.best_of = Some(number()?),
                "--shape" => {
                    let word = arguments.next();
                    options.shape = word.ok_or("--shape needs a word of a name")?;
                }
                _ => {
                    let known = "--quick, --most EVENTS, --shape WORD and --best-of N";
                    return Err(format!("{argument} is not known; there are {known}"));
                }
            }
        }
        Ok(options)
    }

    /// How often a trace is measured.
    pub fn repetitions(&self, length: usize) -> usize {
        let usual = if length < LONG { 5 } else { 3 };
        self.best_of.unwrap_or(usual).max(1)
    }
}

//! The command line of the standard library's test runner.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use raddle_instrument::CargoExecutable;

/// Its options whose argument is the next word.
const WITH_ARGUMENT: &[&str] = &[
    "--skip",
    "--test-threads",
    "--logfile",
    "--color",
    "--format",
    "--shuffle-seed",
    "-Z",
];

/// Options that choose tests.
const CHOOSING: &[&str] = &["--exact", "--ignored", "--include-ignored", "--skip"];

/// Options by which it does not keep back what tests print.
const SHOWING: &[&str] = &["--nocapture", "--no-capture"];

/// What the user asked of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Names, and options that choose.
    choice: Vec<OsString>,
    /// Everything else.
    rest: Vec<OsString>,
}

impl Asked {
    /// Sorts the arguments behind `--`, and the filter before it.
    pub fn new(filter: Option<&str>, args: &[OsString]) -> Asked {
        let mut asked = Asked::default();
        asked.choice.extend(filter.map(OsString::from));
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let name = text.split('=').next().unwrap_or_default();
            let chooses = !text.starts_with('-') || CHOOSING.contains(&name);
            let list = match chooses {
                true => &mut asked.choice,
                false => &mut asked.rest,
            };
            list.push(word.clone());
            if WITH_ARGUMENT.contains(&&*text) {
                list.extend(words.next().cloned());
            }
        }
        asked
    }

    /// The names of the tests that were asked for, in the runner's order.
    pub fn list(&self, executable: &CargoExecutable) -> Result<Vec<String>> {
        let all = names(executable, &self.choice)?;
        let wants = |option: &str| self.choice.iter().any(|it| it == option);
        if wants("--ignored") || wants("--include-ignored") {
            return Ok(all);
        }
        let mut choice = self.choice.clone();
        choice.push("--ignored".into());
        let ignored = names(executable, &choice)?;
        Ok(all.into_iter().filter(|it| !ignored.contains(it)).collect())
    }

    /// Arguments that run one test.
    pub fn only(&self, test: &str) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec![test.into(), "--exact".into()];
        let ignored = ["--ignored", "--include-ignored"].map(OsString::from);
        args.extend(ignored.into_iter().filter(|it| self.choice.contains(it)));
        let threads = |it: &OsString| it.to_string_lossy().starts_with("--test-threads");
        if !self.rest.iter().any(threads) {
            args.push("--test-threads=1".into());
        }
        // A panic that ends a run says why only where its message is not kept back.
        let shows = |it: &OsString| SHOWING.iter().any(|option| it == option);
        if !self.rest.iter().any(shows) {
            args.push("--nocapture".into());
        }
        args.extend(self.rest.iter().cloned());
        args
    }

    /// Arguments that run all that were asked for.
    pub fn all(&self) -> Vec<OsString> {
        let words = self.choice.iter().chain(&self.rest);
        words.cloned().collect()
    }
}

/// The tests that an executable names. It is run without the scheduler, where hooks do nothing.
fn names(executable: &CargoExecutable, choice: &[OsString]) -> Result<Vec<String>> {
    let binary = &executable.built.binary;
    let output = Command::new(binary)
        .args(choice)
        .args(["--list", "--format", "terse"])
        .envs(executable.env.iter().cloned())
        .current_dir(&executable.dir)
        .output()
        .with_context(|| format!("cannot run {}", binary.display()))?;
    ensure!(
        output.status.success(),
        "{} does not list its tests: {}",
        binary.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(lines.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn what_chooses_is_told_from_the_rest() {
        let args = words("adds --skip slow --nocapture --color never --ignored");
        let asked = Asked::new(Some("queue"), &args);
        assert_eq!(asked.choice, words("queue adds --skip slow --ignored"));
        assert_eq!(asked.rest, words("--nocapture --color never"));
        let only = "queue::adds --exact --ignored --test-threads=1 --nocapture --color never";
        assert_eq!(asked.only("queue::adds"), words(only));
    }

    #[test]
    fn the_users_number_of_threads_is_kept() {
        let asked = Asked::new(None, &words("--test-threads 4"));
        assert_eq!(
            asked.only("a"),
            words("a --exact --nocapture --test-threads 4")
        );
    }
}

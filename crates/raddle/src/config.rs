//! `raddle.toml`: what a project wants of `raddle check`, `raddle predict` and `cargo raddle check`.
//!
//! ```toml
//! # What is meant to be atomic: functions, with `*` for anything, and lines of a file.
//! atomic = ["Account::transfer", "audit_*", "bank.c:10-20"]
//! volatile = "atomic"         # volatile accesses are meant to order others, as in kernels
//!
//! [check]                     # like the options of the command line
//! runs = 5
//! strategy = ["pos", "pct"]
//!
//! [[pattern]]                 # an interleaving that is a bug
//! name = "stale-read"
//! threads = "t1-t2-t1"
//! variables = "s-s-s"
//! regions = "u1-u2-u3"
//! access = "w-w-r"
//! ```
//!
//! The file is looked for in the current directory and then in those around it; paths in it are relative to
//! its own. The command line comes before the environment, where `RADDLE_CHECK_RUNS` and the like give the keys
//! of `[check]`, and the environment before the file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use raddle_predict::patterns::Pattern;
use raddle_run::service::Ready;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeOwned};
use toml::Spanned;

use crate::commands::run::StrategyArg;
use crate::launch::{Surroundings, VolatileArg, parse_short_time, parse_size};
use crate::service::{ServiceArgs, parse_signal};

/// The file's name.
const FILE: &str = "raddle.toml";
/// What the names of variables begin with; a key of `[check]` follows.
const VARIABLE: &str = "RADDLE_CHECK_";
/// Keys of `[check]`.
const KEYS: &[&str] = &[
    "runs",
    "search",
    "strategy",
    "seed",
    "depth",
    "window",
    "most-tries",
    "jobs",
    "time",
    "memory",
    "all",
    "unconfirmed",
    "timeout",
    "out",
    "env",
    "keep-env",
    "stdin",
    "real-time",
    "preempted-for",
    "oracle",
    "expect-exit",
    "setup",
    "client",
    "teardown",
    "ready",
    "signal",
    "client-timeout",
];
/// A word is taken for another one that is at least so similar, from 0 to 1.
const SIMILAR: f64 = 0.7;

/// Which configuration.
#[derive(Args, Default)]
pub struct ConfigArgs {
    /// Read this file, and not the raddle.toml of this directory or one around it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// What the file and the environment say.
#[derive(Debug, Default)]
pub struct Config {
    /// Options.
    pub check: CheckTable,
    /// The user's patterns.
    pub patterns: Vec<Pattern>,
    /// Names of what is meant to be atomic.
    pub atomic: Vec<String>,
    /// What volatile accesses mean.
    pub volatile: Option<VolatileArg>,
}

/// The table `[check]`: what the command line may leave out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CheckTable {
    pub runs: Option<NonZeroU64>,
    pub search: Option<u64>,
    #[serde(default, deserialize_with = "strategies")]
    pub strategy: Option<Vec<StrategyArg>>,
    pub seed: Option<u64>,
    pub depth: Option<NonZeroU32>,
    pub window: Option<NonZeroUsize>,
    pub most_tries: Option<usize>,
    pub jobs: Option<NonZeroUsize>,
    #[serde(default, deserialize_with = "seconds")]
    pub time: Option<Duration>,
    #[serde(default, deserialize_with = "size")]
    pub memory: Option<u64>,
    pub all: Option<bool>,
    pub unconfirmed: Option<bool>,
    #[serde(default, deserialize_with = "seconds")]
    pub timeout: Option<Duration>,
    pub out: Option<PathBuf>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub keep_env: Option<bool>,
    pub stdin: Option<PathBuf>,
    pub real_time: Option<bool>,
    #[serde(default, deserialize_with = "short_time")]
    pub preempted_for: Option<Duration>,
    pub oracle: Option<String>,
    pub expect_exit: Option<u8>,
    pub setup: Option<String>,
    pub client: Option<String>,
    pub teardown: Option<String>,
    #[serde(default, deserialize_with = "ready")]
    pub ready: Option<Ready>,
    #[serde(default, deserialize_with = "signal")]
    pub signal: Option<i32>,
    #[serde(default, deserialize_with = "seconds")]
    pub client_timeout: Option<Duration>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    check: CheckTable,
    #[serde(default)]
    pattern: Vec<PatternTable>,
    #[serde(default)]
    atomic: Vec<Spanned<String>>,
    volatile: Option<VolatileArg>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternTable {
    name: Spanned<String>,
    threads: Names,
    variables: Names,
    regions: Names,
    access: Names,
    events: Option<Names>,
}

/// Names as a list, or in one text with dashes between them.
struct Names(Vec<String>);

impl ConfigArgs {
    /// Reads the file, if there is one, and the environment.
    pub fn load(&self) -> Result<Config> {
        let path = match &self.config {
            Some(path) => Some(path.clone()),
            None => find(&std::env::current_dir().context("where are we?")?),
        };
        let mut config = match path {
            Some(path) => {
                let text = fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                parse(&path, &text)?
            }
            None => Config::default(),
        };
        let variables = from_environment(|name| std::env::var(name).ok())?;
        config.check = variables.or(config.check);
        Ok(config)
    }
}

impl CheckTable {
    /// Takes from another table what this one lacks.
    fn or(self, other: Self) -> Self {
        let mut env = other.env;
        env.extend(self.env);
        Self {
            runs: self.runs.or(other.runs),
            search: self.search.or(other.search),
            strategy: self.strategy.or(other.strategy),
            seed: self.seed.or(other.seed),
            depth: self.depth.or(other.depth),
            window: self.window.or(other.window),
            most_tries: self.most_tries.or(other.most_tries),
            jobs: self.jobs.or(other.jobs),
            time: self.time.or(other.time),
            memory: self.memory.or(other.memory),
            all: self.all.or(other.all),
            unconfirmed: self.unconfirmed.or(other.unconfirmed),
            timeout: self.timeout.or(other.timeout),
            out: self.out.or(other.out),
            env,
            keep_env: self.keep_env.or(other.keep_env),
            stdin: self.stdin.or(other.stdin),
            real_time: self.real_time.or(other.real_time),
            preempted_for: self.preempted_for.or(other.preempted_for),
            oracle: self.oracle.or(other.oracle),
            expect_exit: self.expect_exit.or(other.expect_exit),
            setup: self.setup.or(other.setup),
            client: self.client.or(other.client),
            teardown: self.teardown.or(other.teardown),
            ready: self.ready.or(other.ready),
            signal: self.signal.or(other.signal),
            client_timeout: self.client_timeout.or(other.client_timeout),
        }
    }

    /// Adds to the surroundings of a program what the command line left out.
    pub fn complete(&self, surroundings: &mut Surroundings) {
        let Surroundings {
            env,
            keep_env,
            stdin,
            real_time,
            preempted_for,
            timeout,
            oracle,
            expect_exit,
            fresh: _,
            volatile: _,
            out,
            service,
        } = surroundings;
        // Of a variable that is set twice the later value counts.
        let own = self
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        env.splice(0..0, own);
        *keep_env = keep_env.or(self.keep_env);
        *stdin = stdin.take().or_else(|| self.stdin.clone());
        *real_time = real_time.or(self.real_time);
        *preempted_for = preempted_for.or(self.preempted_for);
        *timeout = timeout.or(self.timeout);
        *oracle = oracle.take().or_else(|| self.oracle.clone());
        *expect_exit = expect_exit.or(self.expect_exit);
        *out = out.take().or_else(|| self.out.clone());
        *service = std::mem::take(service).or(ServiceArgs {
            setup: self.setup.clone(),
            client: self.client.clone(),
            teardown: self.teardown.clone(),
            ready: self.ready.clone(),
            signal: self.signal,
            client_timeout: self.client_timeout,
        });
    }
}

/// Whether a variable gives a key of `[check]`.
pub fn is_variable(name: &str) -> bool {
    KEYS.iter().any(|key| variable(key) == name)
}

fn variable(key: &str) -> String {
    format!("{VARIABLE}{}", key.to_ascii_uppercase().replace('-', "_"))
}

fn from_environment(variable_of: impl Fn(&str) -> Option<String>) -> Result<CheckTable> {
    let mut table = CheckTable::default();
    for key in KEYS {
        let name = variable(key);
        let Some(text) = variable_of(&name) else {
            continue;
        };
        // What is no TOML value by itself is a text.
        let line = |value: &str| format!("{key} = {value}");
        let quoted = || line(&toml::Value::String(text.clone()).to_string());
        let is_value = toml::from_str::<toml::Table>(&line(&text)).is_ok();
        let line = if is_value { line(&text) } else { quoted() };
        let given: CheckTable = toml::from_str(&line)
            .map_err(|error| anyhow!("{name}: {}", error.message().trim_end()))?;
        table = given.or(table);
    }
    Ok(table)
}

/// The file of a directory or the nearest one around it.
fn find(directory: &Path) -> Option<PathBuf> {
    let mut paths = directory.ancestors().map(|it| it.join(FILE));
    paths.find(|path| path.is_file())
}

fn parse(path: &Path, text: &str) -> Result<Config> {
    let wrong = |span: Option<Range<usize>>, what: &str| {
        let place = span.map(|it| place(text, it.start)).unwrap_or_default();
        anyhow!("{}{place}: {what}", path.display())
    };
    let file: File = read(text).map_err(|(span, what)| wrong(span, &what))?;
    let mut config = Config {
        check: file.check,
        volatile: file.volatile,
        ..Config::default()
    };
    let directory = path.parent().unwrap_or(Path::new(""));
    for path in [&mut config.check.out, &mut config.check.stdin] {
        *path = path.take().map(|it| directory.join(it));
    }
    for name in file.atomic {
        let span = Some(name.span());
        let name = name.into_inner();
        if name.is_empty() || name.chars().any(char::is_whitespace) {
            let what = "what is atomic is named without blanks: a function, or `file:10-20`";
            return Err(wrong(span, what));
        }
        config.atomic.push(name);
    }
    for table in file.pattern {
        let span = Some(table.name.span());
        let pattern = table.pattern().map_err(|what| wrong(span.clone(), &what))?;
        if config.patterns.iter().any(|it| it.name == pattern.name) {
            let what = format!("there are two patterns `{}`", pattern.name);
            return Err(wrong(span, &what));
        }
        config.patterns.push(pattern);
    }
    Ok(config)
}

/// Reads TOML; where that fails, where and what.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, (Option<Range<usize>>, String)> {
    toml::from_str(text).map_err(|error| (error.span(), in_words(error.message().trim_end())))
}

/// The reader's message, with the key that was probably meant.
fn in_words(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return message.to_owned();
    };
    let mut words = rest.split('`').step_by(2);
    let found = words.next().unwrap_or_default();
    let known: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    let similarity = |word: &str| strsim::jaro_winkler(found, word);
    let best = known
        .iter()
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    match best.filter(|it| similarity(it) >= SIMILAR) {
        Some(best) => format!("there is no key `{found}`; did you mean `{best}`?"),
        None => format!("there is no key `{found}`; there are {}", known.join(", ")),
    }
}

/// `:line:column` of a byte.
fn place(text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    format!(":{line}:{}", before[start..].chars().count() + 1)
}

impl PatternTable {
    fn pattern(&self) -> Result<Pattern, String> {
        let name = self.name.get_ref();
        let is_plain = |c: char| c.is_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!(
                "`{name}` is no name for a pattern: letters, digits, `_` and `-` are"
            ));
        }
        let parsed = Pattern::from_lists(
            name,
            self.events.as_ref().map(|it| it.0.as_slice()),
            &self.threads.0,
            &self.variables.0,
            &self.regions.0,
            &self.access.0,
        );
        parsed.map_err(|error| error.to_string())
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names, or names with dashes between them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Names, E> {
                let names = text.split('-').map(|it| it.trim().to_owned());
                Ok(Names(names.collect()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Strategies as a list, or in one text with commas between them.
fn strategies<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<StrategyArg>>, D::Error> {
    struct Read;
    impl<'de> Visitor<'de> for Read {
        type Value = Vec<StrategyArg>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of strategies, or their names with commas between them")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            let names = text.split(',').map(str::trim);
            names
                .map(|name| strategy(name).map_err(E::custom))
                .collect()
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut strategies = Vec::new();
            while let Some(name) = list.next_element::<String>()? {
                strategies.push(strategy(&name).map_err(de::Error::custom)?);
            }
            Ok(strategies)
        }
    }
    let strategies = deserializer.deserialize_any(Read)?;
    match strategies.is_empty() {
        true => Err(de::Error::custom("there is no strategy in the list")),
        false => Ok(Some(strategies)),
    }
}

fn strategy(name: &str) -> Result<StrategyArg, String> {
    StrategyArg::from_str(name, false).map_err(|_| {
        let known = StrategyArg::value_variants().iter();
        let known = known.filter_map(|it| Some(it.to_possible_value()?.get_name().to_owned()));
        let known: Vec<String> = known.collect();
        format!(
            "there is no strategy `{name}`; there are {}",
            known.join(", ")
        )
    })
}

/// When a client can start.
fn ready<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ready>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ready::parse(&text).map(Some).map_err(de::Error::custom)
}

/// A signal's name or number.
fn signal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let text = match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    parse_signal(&text).map(Some).map_err(de::Error::custom)
}

/// A time in seconds.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    let time = Duration::try_from_secs_f64(seconds).ok();
    let time = time.filter(|it| !it.is_zero());
    time.map(Some)
        .ok_or_else(|| de::Error::custom(format!("{seconds} is no time, in seconds")))
}

/// A time with its unit, or in milliseconds.
fn short_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parsed(deserializer, parse_short_time)
}

/// A number of bytes, with its unit or without.
fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parsed(deserializer, parse_size)
}

/// A text or a number, as the command line would read it.
fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: fn(&str) -> Result<T>,
) -> Result<Option<T>, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    let value = parse(&text);
    value
        .map(Some)
        .map_err(|error| de::Error::custom(format!("{text}: {error}")))
}

#[cfg(test)]
#[path = "../../raddle-model/tests/fuzz/mutate.rs"]
#[allow(
    dead_code,
    reason = "files of other kinds are damaged in other ways too"
)]
mod mutate;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_variable() {
        let error = read::<CheckTable>("none-of-these = 1").unwrap_err().1;
        assert_eq!(
            error,
            format!(
                "there is no key `none-of-these`; there are {}",
                KEYS.join(", ")
            )
        );
        assert!(is_variable("RADDLE_CHECK_MOST_TRIES"));
        assert!(!is_variable("RADDLE_CHECK_MOST"));
    }

    #[test]
    fn variables_are_values_or_texts() {
        let given = [
            ("RADDLE_CHECK_RUNS", "4"),
            ("RADDLE_CHECK_STRATEGY", "pct, rr"),
            ("RADDLE_CHECK_OUT", "some \"where\""),
            ("RADDLE_CHECK_ENV", "{ A = \"b\" }"),
        ];
        let variable = |name: &str| {
            let found = given.iter().find(|it| it.0 == name);
            found.map(|it| it.1.to_owned())
        };
        let table = from_environment(variable).unwrap();
        assert_eq!(table.runs, NonZeroU64::new(4));
        assert_eq!(
            table.strategy,
            Some(vec![StrategyArg::Pct, StrategyArg::Rr])
        );
        assert_eq!(table.out, Some("some \"where\"".into()));
        assert_eq!(table.env.get("A").map(String::as_str), Some("b"));
        assert_eq!(table.seed, None);
    }

    #[test]
    fn a_table_completes_another() {
        let table = |text: &str| toml::from_str::<CheckTable>(text).unwrap();
        let one = table("runs = 2\nenv = { A = \"1\", B = \"1\" }");
        let both = one.or(table("runs = 3\nseed = 4\nenv = { B = \"2\", C = \"2\" }"));
        assert_eq!((both.runs, both.seed), (NonZeroU64::new(2), Some(4)));
        let values: Vec<_> = both.env.values().map(String::as_str).collect();
        assert_eq!(values, ["1", "1", "2"]);
    }

    /// Damaged in many ways, and made to nest deeply: read, or refused with a place.
    #[test]
    fn hostile_files_are_refused_with_a_place() {
        let whole = [
            "atomic = [\"transfer\", \"bank.c:10-20\"]\n[check]\nruns = 4\nstrategy = \"pct\"\ntime = 2.5\n\
             env = { A = \"1\", \"B C\" = 'x' }\nready = \"tcp:80\"\nsignal = \"INT\"\nout = \"é\"\n",
            "[[pattern]]\nname = \"lost\"\nthreads = \"t1-t2-t1\"\nvariables = \"s-s-s\"\nregions = \"u1-u2-u3\"\naccess = \"w-w-r\"\n[check]\nseed = 4\njobs = 0x2\n",
        ];
        let seeds = whole.map(|it| it.as_bytes().to_vec());
        let nested =
            ["[", "{a=", "[[", "\"\"\"", "a."].map(|it| format!("env = {}", it.repeat(50_000)));
        let mut inputs: Vec<Vec<u8>> = nested.map(String::into_bytes).into();
        inputs.extend((0..6000).map(|number| {
            let mut random = mutate::Random::new(number);
            let mut input = random.pick(&seeds).clone();
            mutate::text(&mut random, &mut input, &seeds);
            input
        }));
        let (mut read, mut refused) = (0, 0);
        for input in inputs {
            let Ok(text) = String::from_utf8(input) else {
                continue;
            };
            match parse(Path::new("raddle.toml"), &text) {
                Ok(_) => read += 1,
                Err(error) => {
                    let said = error.to_string();
                    let place = said
                        .strip_prefix("raddle.toml:")
                        .and_then(|it| it.split(':').next());
                    let line: Option<usize> = place.and_then(|it| it.parse().ok());
                    assert!(line.is_some_and(|it| it > 0), "{said}\n{text}");
                    refused += 1;
                }
            }
        }
        assert!(
            read > 100 && refused > 100,
            "{read} read, {refused} refused"
        );
    }

    #[test]
    fn places_count_lines_and_characters() {
        assert_eq!(place("ab\ncd", 0), ":1:1");
        assert_eq!(place("ab\ncd", 4), ":2:2");
        assert_eq!(place("ä = ö x", 7), ":1:6");
    }
}

//! The options of programs that serve others: commands around each run.

use std::time::Duration;

use clap::Args;
use raddle_run::service::{Ready, Service};

use crate::launch::parse_seconds;

/// Commands around each run, and when they run.
#[derive(Args, Clone, Debug, Default)]
pub struct ServiceArgs {
    /// A shell command that runs before each run
    #[arg(long, value_name = "COMMAND", help_heading = "Servers")]
    pub setup: Option<String>,
    /// A shell command that runs while the program does, once it is ready; then the program is told to end. If it
    /// fails, the run has failed. A replay does without it
    #[arg(long, value_name = "COMMAND", help_heading = "Servers")]
    pub client: Option<String>,
    /// A shell command that runs after each run
    #[arg(long, value_name = "COMMAND", help_heading = "Servers")]
    pub teardown: Option<String>,
    /// When the client starts: tcp:PORT is listened on, file:PATH is there, or the program has printed this text
    /// [default: when it listens and waits]
    #[arg(long, value_name = "WHEN", value_parser = Ready::parse, help_heading = "Servers")]
    pub ready: Option<Ready>,
    /// The signal by which the program is told to end: its number, or a name such as INT [default: TERM]
    #[arg(long, value_name = "SIGNAL", value_parser = parse_signal, help_heading = "Servers")]
    pub signal: Option<i32>,
    /// Longest time that each of these commands may take, in seconds [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Servers")]
    pub client_timeout: Option<Duration>,
}

/// Signals by which programs are told to end.
const SIGNALS: &[(&str, i32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("USR1", 10),
    ("USR2", 12),
    ("TERM", 15),
];

/// Reads a signal's number or name.
pub fn parse_signal(text: &str) -> Result<i32, String> {
    let name = text.strip_prefix("SIG").unwrap_or(text);
    let known = SIGNALS.iter();
    known
        .clone()
        .find(|(it, number)| *it == name || number.to_string() == name)
        .map(|it| it.1)
        .ok_or_else(|| {
            let names: Vec<_> = known.map(|it| it.0).collect();
            format!("a program can be told to end by {}", names.join(", "))
        })
}

impl ServiceArgs {
    /// Takes from another what this one lacks.
    pub fn or(self, other: Self) -> Self {
        Self {
            setup: self.setup.or(other.setup),
            client: self.client.or(other.client),
            teardown: self.teardown.or(other.teardown),
            ready: self.ready.or(other.ready),
            signal: self.signal.or(other.signal),
            client_timeout: self.client_timeout.or(other.client_timeout),
        }
    }

    /// What runs around a program, if anything does.
    pub fn service(&self) -> Option<Service> {
        let service = Service {
            setup: self.setup.clone(),
            client: self.client.clone(),
            teardown: self.teardown.clone(),
            ready: self.ready.clone().unwrap_or_default(),
            signal: self.signal,
            limit: self.client_timeout,
        };
        let commands = [&service.setup, &service.client, &service.teardown];
        commands.iter().any(|it| it.is_some()).then_some(service)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_numbers_and_names() {
        for text in ["INT", "SIGINT", "2"] {
            assert_eq!(parse_signal(text), Ok(2));
        }
        assert!(parse_signal("KILL").is_err());
    }
}

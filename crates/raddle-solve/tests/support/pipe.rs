//! Z3 as a process that is spoken to through pipes, one for many problems.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::facts::Facts;
use super::instance::Formula;
use super::smtlib::Writer;

/// A running Z3.
pub struct Z3 {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Z3 {
    /// Starts the `z3` of the search path.
    ///
    /// # Panics
    ///
    /// If there is none: an oracle that is left out proves nothing.
    pub fn start() -> Self {
        let mut process = Command::new("z3")
            .arg("-in")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("these tests compare the solver with Z3; please install it (Debian: apt-get install z3): z3: {error}")
            });
        let input = process.stdin.take().expect("the input is a pipe");
        let output = process.stdout.take().expect("the output is a pipe");
        Self {
            process,
            input,
            output: BufReader::new(output),
        }
    }

    /// Asks whether the facts and the assumptions can be satisfied.
    pub fn ask(&mut self, facts: &Facts<'_>, assumptions: &[&Formula]) -> bool {
        let mut writer = Writer::new(facts);
        assumptions
            .iter()
            .for_each(|formula| writer.require(formula));
        // Taking back what was said is much faster than a reset.
        self.say("(push)\n");
        self.say(&writer.take());
        let answer = self.check();
        self.say("(pop)\n");
        answer
    }

    fn say(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).expect("Z3 listens");
    }

    fn check(&mut self) -> bool {
        self.say("(check-sat)\n");
        self.input.flush().expect("Z3 listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Z3 answers");
        match line.trim() {
            "sat" => true,
            "unsat" => false,
            other => panic!("Z3 said: {other}"),
        }
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        // A Z3 that is already gone needs no ending.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! A witness's order, carried out event by event.

use std::rc::Rc;

use raddle_trace::event::{EventKind, LockChange};
use raddle_trace::wire::Role;

use crate::memory::{Byte, Content, Memory, access_of};
use crate::objection::Objection;
use crate::reads;
use crate::recording::{LineId, Recording, is_copy_from};
use crate::reexecution::{Execution, Lead};
use crate::rules::Rules;
use crate::table::{Set, Table};
use crate::witness::{Claim, ReadRule, Witness};

/// The state after a part of the order.
pub(crate) struct Simulation<'r, 'a> {
    pub(crate) recording: &'r Recording<'a>,
    pub(crate) rule: ReadRule,
    pub(crate) rules: Rules,
    pub(crate) memory: Memory,
    /// By thread: how many of its events have been executed.
    pub(crate) executed: Vec<u32>,
    /// How many events of the trace were executed in its own order before the order began.
    passed: usize,
    /// By event of the order: its position, those passed included.
    positions: Table<usize, usize>,
    /// Reads that nothing depends on.
    free: Set<usize>,
    /// Threads on their way to where they read other values than in the trace.
    lead: Rc<Lead<'r, 'a>>,
    /// Threads that do.
    pub(crate) executions: Table<LineId, Execution<'r, 'a>>,
}

impl<'r, 'a> Simulation<'r, 'a> {
    pub(crate) fn new(recording: &'r Recording<'a>, witness: &Witness, order: &[usize]) -> Self {
        Self {
            positions: Table::with_capacity_and_hasher(order.len(), Default::default()),
            free: free_reads(recording, witness, order),
            ..Self::of_trace(recording, witness.rule)
        }
    }

    /// The trace in its own order, of which nothing is executed yet.
    pub(crate) fn of_trace(recording: &'r Recording<'a>, rule: ReadRule) -> Self {
        Self {
            recording,
            rule,
            rules: Rules::default(),
            memory: Memory::default(),
            executed: vec![0; recording.lines.len()],
            passed: 0,
            positions: Table::default(),
            free: Set::default(),
            lead: Rc::default(),
            executions: Table::default(),
        }
    }

    /// The same trace, of which nothing is executed yet.
    pub(crate) fn restarted(&self, rule: ReadRule) -> Self {
        Self {
            lead: Rc::clone(&self.lead),
            ..Self::of_trace(self.recording, rule)
        }
    }

    /// How many events of the trace were executed in its own order.
    pub(crate) fn passed(&self) -> usize {
        self.passed
    }

    /// Executes the next event of the trace.
    pub(crate) fn pass(&mut self) -> Result<(), Objection> {
        self.execute(self.passed)?;
        self.passed += 1;
        Ok(())
    }

    /// The same state of the trace, from which an order departs in which nothing depends on the `free` reads.
    pub(crate) fn departing(&self, order: &[usize], free: Set<usize>) -> Self {
        Self {
            recording: self.recording,
            rule: self.rule,
            rules: self.rules.clone(),
            memory: self.memory.clone(),
            executed: self.executed.clone(),
            passed: self.passed,
            positions: Table::with_capacity_and_hasher(order.len(), Default::default()),
            free,
            lead: Rc::clone(&self.lead),
            executions: Table::default(),
        }
    }

    /// Executes the next event of the order.
    pub(crate) fn step(&mut self, at: usize) -> Result<(), Objection> {
        self.execute(at)?;
        let position = self.passed + self.positions.len();
        self.positions.insert(at, position);
        Ok(())
    }

    fn execute(&mut self, at: usize) -> Result<(), Objection> {
        self.rules.check(self.recording, at)?;
        self.touch_memory(at)?;
        self.rules.apply(self.recording, at);
        self.executed[self.recording.lines.line(at).index()] += 1;
        Ok(())
    }

    /// When an event was executed, if it was.
    pub(crate) fn position(&self, at: usize) -> Option<usize> {
        match at < self.passed {
            true => Some(at),
            false => self.positions.get(&at).copied(),
        }
    }

    fn touch_memory(&mut self, at: usize) -> Result<(), Objection> {
        let recording = self.recording;
        let touch = access_of(recording, at);
        let reads = touch.is_some_and(|touch| touch.reads);
        if reads {
            reads::show_unseen(self, at)?;
        }
        if self.rule == ReadRule::Relaxed {
            return self.touch_relaxed(at);
        }
        let writes = touch.is_some_and(|touch| touch.writes);
        let justified = if reads {
            reads::justify(self, at)
        } else {
            Ok(())
        };
        match justified {
            Err(objection) if !self.free.contains(&at) => return Err(objection),
            // It stores something, computed from what it found.
            Err(_) if writes => self.memory.write_lost(recording, at),
            _ if writes => self
                .memory
                .write_recorded(recording, at, &recording.origins),
            _ => {}
        }
        Ok(())
    }

    /// Reads what memory holds, whatever it is, and writes what the thread computes from it.
    fn touch_relaxed(&mut self, at: usize) -> Result<(), Objection> {
        let recording = self.recording;
        let line = recording.lines.line(at);
        let touch = access_of(recording, at);
        let reads = touch.is_some_and(|touch| touch.reads) && !is_copy_from(recording.event(at));
        if reads && matches!(recording.event(at).kind, EventKind::Action { .. }) {
            // Whether a futex wait begins is decided by untraced code.
            return reads::justify(self, at);
        }
        let lock = recording.event(at).lock_action();
        if reads && lock.is_some_and(|lock| matches!(lock.change, LockChange::Acquire(_))) {
            // What it finds decides whether it acquires.
            reads::justify(self, at)?;
        }
        if !self.executions.contains_key(&line) {
            let is_free = self.free.contains(&at) && !touch.is_some_and(|touch| touch.writes);
            let differs = reads && !is_free && reads::justify(self, at).is_err();
            if !differs {
                if touch.is_some_and(|touch| touch.writes) {
                    self.memory
                        .write_recorded(recording, at, &recording.origins);
                }
                return Ok(());
            }
            let execution = self.execute_to(line, at)?;
            self.executions.insert(line, execution);
        }
        let seen = self.seen(at).filter(|_| reads);
        let written = match self.executions.get_mut(&line) {
            Some(execution) => execution.step(at, seen.as_deref())?,
            None => None,
        };
        match (touch, written) {
            (Some(touch), None) if touch.writes => {
                self.memory
                    .write_recorded(recording, at, &recording.origins);
            }
            (Some(touch), Some(contents)) if touch.writes => {
                self.memory.write(recording, at, &contents);
            }
            _ => {}
        }
        Ok(())
    }

    /// A thread that has executed everything before `at` as in the trace.
    pub(crate) fn execute_to(
        &self,
        line: LineId,
        at: usize,
    ) -> Result<Execution<'r, 'a>, Objection> {
        self.lead.up_to(self.recording, line, at)
    }

    /// What an event would read now; `None` if it does not read.
    pub(crate) fn seen(&self, at: usize) -> Option<Vec<Content>> {
        let recording = self.recording;
        access_of(recording, at).filter(|touch| touch.reads)?;
        let bytes = self.memory.read(recording, at).into_iter();
        let content = |byte: Byte| recording.origins.resolve(byte.content);
        Some(bytes.map(content).collect())
    }

    /// Whether an event is the next of its thread.
    pub(crate) fn is_next(&self, at: usize) -> bool {
        let lines = &self.recording.lines;
        self.executed[lines.line(at).index()] == lines.rank(at)
    }
}

/// The reads that end a thread's part of the order, unless the claim is about what comes next: loads, and
/// read-modify-writes that take place whatever they find. A compare-exchange does not, nor does a lock's.
pub(crate) fn free_reads(
    recording: &Recording<'_>,
    witness: &Witness,
    order: &[usize],
) -> Set<usize> {
    let lines = &recording.lines;
    let mut last: Vec<Option<usize>> = vec![None; lines.len()];
    for &at in order {
        last[lines.line(at).index()] = Some(at);
    }
    let next = witness.claim.next_events();
    let mut bound: Set<LineId> = next
        .iter()
        .map(|index| lines.line(index.0 as usize))
        .collect();
    if let Claim::BranchFlip { thread, .. } = witness.claim {
        bound.extend(lines.line_of(thread));
    }
    let takes_place = |at: &usize| {
        let event = recording.event(*at);
        match event.kind {
            EventKind::Read(_) | EventKind::AtomicLoad(..) | EventKind::RangeRead { .. } => true,
            EventKind::Rmw { atomicity, .. } => atomicity.role == Role::None,
            _ => false,
        }
    };
    last.into_iter()
        .flatten()
        .filter(takes_place)
        .filter(|&at| !bound.contains(&lines.line(at)))
        .collect()
}

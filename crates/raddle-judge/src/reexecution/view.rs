//! What a thread that is executed again sees, and what it writes.

use raddle_path::{Branch, Domain, Exchange, Kept, Operation, Spot, Switch, Value};

use crate::memory::{Content, read_value_bytes};
use crate::objection::Objection;
use crate::recording::{EventName, LineId, Recording};

/// What a value is now that was another one in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// This number.
    Known(u128),
    /// It follows from other values than in the trace, in a way that is not known.
    Unknown,
}

/// A value then and now.
type Seen = Value<Now>;

/// Memory as a thread sees it that is executed again.
#[derive(Debug)]
pub(crate) struct View<'r, 'a> {
    recording: &'r Recording<'a>,
    line: LineId,
    /// What the current event reads; none if that is as in the trace.
    seen: Option<Vec<Content>>,
    /// What it writes; none if that is as in the trace.
    written: Option<Vec<Content>>,
}

/// A number as it is now, if it is known.
fn now(value: &Seen) -> Option<u128> {
    match value.change {
        None => value.recorded,
        Some(Now::Known(bits)) => Some(bits),
        Some(Now::Unknown) => None,
    }
}

/// The same, unless it stands for an address that is not the real one.
fn real_now(value: &Seen) -> Option<u128> {
    now(value).filter(|_| !value.is_made_up)
}

/// A number that may be another one now.
fn change(recorded: Option<u128>, now: Option<u128>) -> Option<Now> {
    match now {
        None => Some(Now::Unknown),
        Some(_) if now == recorded => None,
        Some(bits) => Some(Now::Known(bits)),
    }
}

impl<'r, 'a> View<'r, 'a> {
    pub(super) fn new(recording: &'r Recording<'a>, line: LineId) -> Self {
        Self {
            recording,
            line,
            seen: None,
            written: None,
        }
    }

    /// The next event reads this, or what it read.
    pub(super) fn look(&mut self, seen: Option<&[Content]>) {
        self.seen = seen.map(<[Content]>::to_vec);
        self.written = None;
    }

    /// What the latest event has written; none if that is as in the trace.
    pub(super) fn take_written(&mut self) -> Option<Vec<Content>> {
        self.written.take()
    }

    pub(super) fn thread_name(&self) -> String {
        let thread = self.recording.lines.thread(self.line);
        self.recording.thread_name(thread)
    }

    pub(super) fn event_name(&self, at: usize) -> EventName {
        self.recording.name(at)
    }

    /// The bytes that an event reads; none are known to differ if it reads what it read.
    fn read_bytes(&self, at: usize) -> Vec<Seen> {
        let Some(seen) = &self.seen else {
            return Vec::new();
        };
        let origins = &self.recording.origins;
        let then: Vec<Content> = match read_value_bytes(self.recording, at) {
            Some(values) => values.into_iter().map(Content::known).collect(),
            None => origins
                .seen(at)
                .iter()
                .map(|&then| origins.resolve(then))
                .collect(),
        };
        let number = |content: Content| content.value().map(u128::from);
        let byte = |(then, now): (Content, &Content)| Value {
            recorded: number(then),
            change: match then == *now {
                true => None,
                false => change(number(then), number(*now)),
            },
            is_made_up: false,
        };
        then.into_iter().zip(seen).map(byte).collect()
    }
}

/// Where an instruction stands in the source.
fn position(spot: Spot<'_>) -> String {
    let frame = spot.frames().and_then(|mut frames| frames.next());
    frame.map_or_else(
        || "source unknown".to_owned(),
        |frame| {
            let file = frame.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}:{}", frame.line, frame.column)
        },
    )
}

impl Domain for View<'_, '_> {
    type Change = Now;
    type Refusal = Objection;

    fn fork(&self) -> Self {
        Self::new(self.recording, self.line)
    }

    fn name(&self, event: usize) -> String {
        self.recording.name(event).to_string()
    }

    fn compute(
        &mut self,
        operation: &Operation,
        operands: &[Seen],
        recorded: Option<u128>,
    ) -> Option<Now> {
        let operands: Option<Vec<u128>> = operands.iter().map(now).collect();
        change(recorded, operands.and_then(|it| operation.apply(&it)))
    }

    fn unknown(&mut self, _: &[Seen]) -> Option<Now> {
        Some(Now::Unknown)
    }

    fn number(&mut self, at: usize, recorded: u64) -> Seen {
        if self.seen.is_none() {
            return Value::known(recorded.into());
        }
        let bytes: Option<Vec<u128>> = self.read_bytes(at).iter().map(now).collect();
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        let recorded = Some(recorded.into());
        Value {
            recorded,
            change: change(recorded, bytes.and_then(|it| Operation::Bytes.apply(&it))),
            is_made_up: false,
        }
    }

    fn bytes(&mut self, at: usize) -> Vec<Seen> {
        if self.seen.is_some() {
            return self.read_bytes(at);
        }
        let footprint = self.recording.event(at).footprint();
        vec![Value::SAME; footprint.map_or(0, |it| it.len as usize)]
    }

    fn write(&mut self, at: usize, value: &Seen) {
        if value.is_same() {
            return;
        }
        let footprint = self.recording.event(at).footprint();
        let size = footprint.map_or(0, |it| it.len);
        let bits = real_now(value);
        let byte = |offset: u64| match bits {
            Some(bits) => Content::known((bits >> (8 * offset)) as u8),
            None => Content::lost(at, offset),
        };
        self.written = Some((0..size).map(byte).collect());
    }

    fn write_bytes(&mut self, at: usize, bytes: &[Seen]) {
        if bytes.iter().all(Value::is_same) {
            return;
        }
        let byte = |(offset, byte): (u64, &Seen)| match real_now(byte) {
            Some(bits) => Content::known(bits as u8),
            None => Content::lost(at, offset),
        };
        self.written = Some((0..).zip(bytes).map(byte).collect());
    }

    fn pass(&mut self, at: usize, why: &str) -> Result<(), Objection> {
        self.keep(at, &self.read_bytes(at), Kept::Lost(why))
    }

    fn keep(&mut self, at: usize, values: &[Seen], what: Kept<'_>) -> Result<(), Objection> {
        if values.iter().all(Value::is_same) {
            return Ok(());
        }
        let event = self.recording.name(at);
        let undecided = |event, why: &str| Objection::Undecided {
            event,
            why: why.to_owned(),
        };
        Err(match (what, values) {
            (Kept::Address(_), [address]) => match now(address) {
                Some(now) => Objection::AddressDiffers {
                    event,
                    now: now as u64,
                },
                None => undecided(event, "the address"),
            },
            (Kept::Address(_), _) => undecided(event, "the address"),
            (Kept::Argument, _) => {
                undecided(event, "untraced code is called with another argument")
            }
            (Kept::Result, _) => undecided(event, "code that is not followed gets another result"),
            (Kept::Callee, _) => Objection::OutcomeDiffers {
                event,
                now: "call another function",
            },
            (Kept::Assembly, _) => undecided(event, "what assembly expects or finds"),
            (Kept::Lost(why), _) => Objection::Lost {
                thread: self.thread_name(),
                event,
                why: why.to_owned(),
            },
        })
    }

    fn branch(&mut self, branch: Branch<'_>, condition: &Seen) -> Result<(), Objection> {
        let event = self.recording.name(branch.heading);
        let position = position(branch.spot);
        match real_now(condition).map(|bits| bits & 1 != 0) {
            Some(now) if now == branch.is_taken => Ok(()),
            Some(_) => Err(Objection::BranchDiffers {
                thread: self.thread_name(),
                branch: branch.number,
                position,
                event,
            }),
            None => Err(Objection::Undecided {
                event,
                why: format!("branch {} ({position})", branch.number),
            }),
        }
    }

    fn switch(&mut self, switch: Switch<'_>, number: &Seen) -> Result<(), Objection> {
        let event = self.recording.name(switch.event);
        let Some(now) = real_now(number) else {
            return Err(Objection::Undecided {
                event,
                why: "the number switched on".to_owned(),
            });
        };
        match switch.target(now) == switch.target(switch.recorded) {
            true => Ok(()),
            false => Err(Objection::SwitchDiffers {
                thread: self.thread_name(),
                position: position(switch.spot),
                event,
            }),
        }
    }

    fn exchange(&mut self, exchange: Exchange<'_, Now>) -> Result<(), Objection> {
        let event = self.recording.name(exchange.event);
        let (found, expected) = (now(exchange.found), now(exchange.expected));
        let is_made_up = exchange.found.is_made_up || exchange.expected.is_made_up;
        let (Some(found), Some(expected), true, false) =
            (found, expected, exchange.is_whole, is_made_up)
        else {
            return Err(Objection::Undecided {
                event,
                why: "what it expects or finds".to_owned(),
            });
        };
        match (found == expected) == exchange.success {
            true => Ok(()),
            false => Err(Objection::OutcomeDiffers {
                event,
                now: if exchange.success { "fail" } else { "succeed" },
            }),
        }
    }
}

//! What stands at the end of a trace: all that is needed to print its events.

use super::TARGET_BLOCK_BYTES;
use super::block::BlockKind;
use super::bytes::{Cursor, put, put_bytes};
use super::rows::{Malformed, Row};
use crate::ids::{Address, EventIndex, SiteId, ThreadId};
use crate::names::Names;
use crate::outcome::{Outcome, ThreadInfo};
use crate::packages::{Package, Packages};
use crate::position::{CodePosition, SiteInfo, SourcePosition, Variable};
use crate::schedule::Switch;

/// Tables behind the events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trailer {
    /// The sites that occur in the trace, by number.
    pub sites: Vec<SiteInfo>,
    /// Program counters that occur in the trace, by address.
    pub code: Vec<CodePosition>,
    /// The switches, in order.
    pub switches: Vec<Switch>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
    /// The threads, by number.
    pub threads: Vec<ThreadInfo>,
    /// Names, if the trace was imported.
    pub names: Option<Names>,
    /// The packages that the program was built from.
    pub packages: Packages,
}

impl Trailer {
    /// What is known of a site.
    #[must_use]
    pub fn site(&self, site: SiteId) -> Option<&SiteInfo> {
        let found = self.sites.binary_search_by_key(&site, |info| info.site);
        found.ok().map(|index| &self.sites[index])
    }

    /// Source positions of a program counter, innermost first; empty if unknown.
    #[must_use]
    pub fn code(&self, pc: Address) -> &[SourcePosition] {
        let found = self.code.binary_search_by_key(&pc, |position| position.pc);
        found.map_or(&[], |index| &self.code[index].positions)
    }

    /// What the call at a program counter is given, if it is known.
    #[must_use]
    pub fn object(&self, pc: Address) -> Option<&Variable> {
        let found = self.code.binary_search_by_key(&pc, |position| position.pc);
        self.code[found.ok()?].object.as_ref()
    }

    /// What is known of a thread's end.
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> Option<&ThreadInfo> {
        let found = self
            .threads
            .binary_search_by_key(&thread, |info| info.thread);
        found.ok().map(|index| &self.threads[index])
    }

    /// Puts the tables in the order in which they are searched.
    pub(super) fn sort(&mut self) {
        self.sites.sort_by_key(|info| info.site);
        self.code.sort_by_key(|position| position.pc);
        self.threads.sort_by_key(|info| info.thread);
    }

    /// The trailer as blocks.
    pub(super) fn blocks(&self, events: u64) -> Vec<(BlockKind, Vec<u8>)> {
        let mut blocks = Vec::new();
        table(&mut blocks, BlockKind::Sites, &self.sites);
        table(&mut blocks, BlockKind::Code, &self.code);
        table(&mut blocks, BlockKind::Switches, &self.switches);
        table(&mut blocks, BlockKind::Outcome, self.outcome.as_slice());
        table(&mut blocks, BlockKind::Threads, &self.threads);
        if let Some(names) = &self.names {
            table(&mut blocks, BlockKind::Names, &name_rows(names));
        }
        table(&mut blocks, BlockKind::Packages, &self.packages.0);
        table(&mut blocks, BlockKind::End, &[events]);
        blocks
    }

    /// Takes in one block.
    pub(super) fn read_block(&mut self, kind: BlockKind, raw: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(raw, 0);
        while !cursor.is_at_end() {
            match kind {
                BlockKind::Sites => self.sites.push(Row::get(&mut cursor)?),
                BlockKind::Code => self.code.push(Row::get(&mut cursor)?),
                BlockKind::Switches => self.switches.push(Row::get(&mut cursor)?),
                BlockKind::Outcome => self.outcome = Some(Row::get(&mut cursor)?),
                BlockKind::Threads => self.threads.push(Row::get(&mut cursor)?),
                BlockKind::Names => {
                    NameRow::get(&mut cursor)?.add_to(self.names.get_or_insert_default());
                }
                BlockKind::Packages => self.packages.0.push(Package::get(&mut cursor)?),
                BlockKind::End => {
                    u64::get(&mut cursor)?;
                }
                BlockKind::Header | BlockKind::Events => {
                    return Err(cursor.malformed("events behind the trailer's start"));
                }
            }
        }
        Ok(())
    }
}

/// Splits a table into blocks of whole rows.
fn table<T: Row>(blocks: &mut Vec<(BlockKind, Vec<u8>)>, kind: BlockKind, rows: &[T]) {
    let mut raw = Vec::new();
    for row in rows {
        row.put(&mut raw);
        if raw.len() >= TARGET_BLOCK_BYTES {
            blocks.push((kind, std::mem::take(&mut raw)));
        }
    }
    if !raw.is_empty() {
        blocks.push((kind, raw));
    }
}

/// One entry of [`Names`].
enum NameRow {
    Form { crlf: bool, unterminated: bool },
    Thread(ThreadId, String),
    Operand(String),
    Location(String),
    Exception(EventIndex, String),
}

fn name_rows(names: &Names) -> Vec<NameRow> {
    let Names {
        threads,
        operands,
        locations,
        exceptions,
        crlf,
        unterminated,
    } = names;
    let mut rows = vec![NameRow::Form {
        crlf: *crlf,
        unterminated: *unterminated,
    }];
    rows.extend(
        threads
            .iter()
            .map(|(id, name)| NameRow::Thread(*id, name.clone())),
    );
    rows.extend(operands.iter().cloned().map(NameRow::Operand));
    rows.extend(locations.iter().cloned().map(NameRow::Location));
    rows.extend(
        exceptions
            .iter()
            .map(|(at, name)| NameRow::Exception(*at, name.clone())),
    );
    rows
}

impl NameRow {
    fn add_to(self, names: &mut Names) {
        match self {
            Self::Form { crlf, unterminated } => {
                (names.crlf, names.unterminated) = (crlf, unterminated);
            }
            Self::Thread(id, name) => {
                names.threads.insert(id, name);
            }
            Self::Operand(name) => names.operands.push(name),
            Self::Location(name) => names.locations.push(name),
            Self::Exception(at, name) => {
                names.exceptions.insert(at, name);
            }
        }
    }
}

impl Row for NameRow {
    fn put(&self, out: &mut Vec<u8>) {
        let (tag, number, name) = match self {
            Self::Form { crlf, unterminated } => (
                0,
                Some(u64::from(*crlf) | u64::from(*unterminated) << 1),
                None,
            ),
            Self::Thread(id, name) => (1, Some(id.0.into()), Some(name)),
            Self::Operand(name) => (2, None, Some(name)),
            Self::Location(name) => (3, None, Some(name)),
            Self::Exception(at, name) => (4, Some(at.0), Some(name)),
        };
        out.push(tag);
        if let Some(number) = number {
            put(out, number);
        }
        if let Some(name) = name {
            put_bytes(out, name.as_bytes());
        }
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(match cursor.byte()? {
            0 => {
                let form = cursor.number()?;
                Self::Form {
                    crlf: form & 1 != 0,
                    unterminated: form & 2 != 0,
                }
            }
            1 => Self::Thread(Row::get(cursor)?, Row::get(cursor)?),
            2 => Self::Operand(Row::get(cursor)?),
            3 => Self::Location(Row::get(cursor)?),
            4 => Self::Exception(EventIndex(Row::get(cursor)?), Row::get(cursor)?),
            _ => return Err(cursor.malformed("a name of unknown kind")),
        })
    }
}

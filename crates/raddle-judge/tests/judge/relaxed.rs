//! Witnesses whose threads read other values and are executed again, on a model made by hand.

use crate::text;
use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Sitting, Witness};
use raddle_model::{
    Block, BlockId, Case, Constant, ConstantId, Detail, Flags, Function, FunctionId, Instruction,
    InstructionId, Model, Module, Opcode, Operand, SiteInfo, Type, TypeId, TypeInfo,
};
use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind, Outcomes};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use raddle_trace::position;
use raddle_trace::sites::SiteShape;
use raddle_trace::wire::{Ordering, Role, SiteKind};

const VOID: TypeId = TypeId(0);
const BIT: TypeId = TypeId(1);
const WORD: TypeId = TypeId(2);
const POINTER: TypeId = TypeId(3);
const MODULE: u64 = 7;

/// A module with one function, of blocks.
struct Code {
    module: Module,
    instructions: u32,
}

impl Code {
    fn new() -> Code {
        let info = |ty, size| TypeInfo {
            ty,
            size,
            store_size: size,
        };
        let module = Module {
            id: MODULE,
            types: vec![
                info(Type::Void, 0),
                info(Type::Int(1), 1),
                info(Type::Int(64), 8),
                info(Type::Pointer(0), 8),
            ],
            functions: vec![
                Function {
                    linkage_name: "f".into(),
                    name: "f".into(),
                    position: None,
                    ty: VOID,
                    params: Vec::new(),
                    instrumented: true,
                    blocks: Vec::new(),
                },
                Function {
                    linkage_name: "outside".into(),
                    name: "outside".into(),
                    position: None,
                    ty: VOID,
                    params: Vec::new(),
                    instrumented: false,
                    blocks: Vec::new(),
                },
            ],
            constants: vec![Constant::Function(FunctionId(1))],
            ..Module::default()
        };
        let mut code = Code {
            module,
            instructions: 0,
        };
        code.site(SiteKind::Enter, 0, None);
        code
    }

    fn site(&mut self, kind: SiteKind, size: u8, instruction: Option<u32>) {
        self.module.sites.push(SiteInfo {
            kind,
            order: Ordering::Plain,
            size,
            role: Role::None,
            function: FunctionId(0),
            instruction: instruction.map(InstructionId),
            position: None,
            name: None,
        });
    }

    fn block(&mut self) -> &mut Code {
        let first = self.instructions;
        self.module.functions[0].blocks.push(Block {
            first,
            instructions: Vec::new(),
        });
        self
    }

    fn number(&mut self, value: u64) -> Operand {
        self.module.constants.push(Constant::Int(WORD, vec![value]));
        Operand::Constant(ConstantId(self.module.constants.len() as u32 - 1))
    }

    /// Adds an instruction, with a site if it has a kind; its result.
    fn add(
        &mut self,
        opcode: Opcode,
        ty: TypeId,
        operands: &[Operand],
        detail: Detail,
        kind: Option<(SiteKind, u8)>,
    ) -> Operand {
        let id = self.instructions;
        self.instructions += 1;
        let start = self.module.sites.len() as u32;
        if let Some((kind, size)) = kind {
            self.site(kind, size, Some(id));
        }
        let instruction = Instruction {
            opcode,
            ty,
            operands: operands.to_vec(),
            detail,
            flags: Flags::default(),
            sites: start..self.module.sites.len() as u32,
            position: None,
        };
        let blocks = &mut self.module.functions[0].blocks;
        blocks
            .last_mut()
            .expect("a block")
            .instructions
            .push(instruction);
        Operand::Instruction(InstructionId(id))
    }

    /// Loads from somewhere that the model does not name.
    fn load(&mut self, ty: TypeId) -> Operand {
        let from = Operand::Argument(0);
        self.add(Opcode::Load, ty, &[from], MEMORY, Some((SiteKind::Read, 8)))
    }

    fn store(&mut self, value: Operand, to: Operand) {
        let kind = Some((SiteKind::Write, 8));
        self.add(Opcode::Store, VOID, &[value, to], MEMORY, kind);
    }

    fn ret(&mut self) {
        let kind = Some((SiteKind::Exit, 0));
        self.add(Opcode::Ret, VOID, &[], Detail::None, kind);
    }

    /// Goes to the next block if the value is below a number, else to the one after.
    fn branch_if_below(&mut self, value: Operand, limit: u64) {
        let limit = self.number(limit);
        let below = Detail::Compare(36);
        let condition = self.add(Opcode::ICmp, BIT, &[value, limit], below, None);
        let next = self.module.functions[0].blocks.len() as u32;
        let targets = Detail::Branch(vec![BlockId(next), BlockId(next + 1)]);
        self.add(Opcode::Br, VOID, &[condition], targets, None);
    }
}

const MEMORY: Detail = Detail::Memory {
    align: 8,
    order: 0,
    failure: 0,
    operation: 0,
};

/// What a trace's line does: an event of site n of the model, or none.
enum Step {
    Enter,
    Site(u32, EventKind),
    Outcomes(u64),
    Exit(u32),
    Other(EventKind),
}

fn access(site: u32, addr: u64, value: u64) -> Access {
    Access {
        site: SiteId(site),
        addr: Address(addr),
        size: 8,
        value,
    }
}

fn read(addr: u64, value: u64) -> EventKind {
    EventKind::Read(access(0, addr, value))
}

fn write(addr: u64, value: u64) -> EventKind {
    EventKind::Write(access(0, addr, value))
}

/// Sites of the model are these numbers higher in a trace.
const FIRST_SITE: u32 = 100;

fn with_site(kind: EventKind, site: u32) -> EventKind {
    let site = SiteId(FIRST_SITE + site);
    match kind {
        EventKind::Read(access) => EventKind::Read(Access { site, ..access }),
        EventKind::Write(access) => EventKind::Write(Access { site, ..access }),
        EventKind::Value { addr, value, .. } => EventKind::Value { site, addr, value },
        EventKind::AtomicLoad(access, atomicity) => {
            EventKind::AtomicLoad(Access { site, ..access }, atomicity)
        }
        EventKind::Cas {
            access,
            atomicity,
            new,
            success,
        } => EventKind::Cas {
            access: Access { site, ..access },
            atomicity,
            new,
            success,
        },
        other => other,
    }
}

fn events(steps: Vec<(u32, Step)>) -> Vec<Event> {
    let mut ticks = [Tick(0); 8];
    let mut out = Vec::new();
    for (thread, step) in steps {
        let frame = Address(0x7000);
        let kind = match step {
            Step::Enter => EventKind::Enter {
                site: SiteId(FIRST_SITE),
                frame,
                return_address: Address(0),
            },
            Step::Site(site, kind) => with_site(kind, site),
            Step::Outcomes(bits) => {
                EventKind::Branches(Outcomes::from_sentinel(bits).expect("a sentinel"))
            }
            Step::Exit(site) => EventKind::Exit {
                site: SiteId(FIRST_SITE + site),
                frame,
            },
            Step::Other(kind) => kind,
        };
        let tick = ticks[thread as usize];
        let event = Event {
            thread: ThreadId(thread),
            tick,
            kind,
        };
        ticks[thread as usize] = event.next_tick();
        out.push(event);
    }
    out
}

fn tables(code: &Code) -> Trailer {
    let sites = code.module.sites.iter().zip(0..);
    let sites = sites.map(|(info, index)| position::SiteInfo {
        site: SiteId(FIRST_SITE + index),
        module: MODULE,
        index,
        shape: SiteShape {
            kind: info.kind,
            order: info.order,
            size: info.size,
            role: info.role,
        },
        positions: Vec::new(),
        variable: None,
    });
    Trailer {
        sites: sites.collect(),
        ..Trailer::default()
    }
}

fn check(code: Code, steps: Vec<(u32, Step)>, cases: &[(&str, Claim, &str)]) {
    let events = events(steps);
    let tables = tables(&code);
    let model = Model::new(vec![code.module], Vec::new());
    let recording = Recording::new(&events, Some(&tables), Some(&model)).expect("a trace");
    let rehearsal = recording
        .rehearse(ThreadId(1))
        .expect("a thread and a model");
    assert_eq!(rehearsal.lost, [] as [String; 0]);
    for (order, claim, expected) in cases {
        let witness = Witness {
            order: text::order(order),
            listing: Listing::Every,
            rule: ReadRule::Relaxed,
            claim: claim.clone(),
        };
        let said = match Judge::new(&recording).judge(&witness) {
            Ok(_) => "ok".to_owned(),
            Err(objection) => objection.to_string(),
        };
        assert_eq!(said, *expected, "order {order}, {claim:?}");
        check_departures(&recording, &witness, &said);
    }
}

/// Of an order that begins as the trace does a sitting says the same wherever it is said to depart.
fn check_departures(recording: &Recording<'_>, witness: &Witness, said: &str) {
    let in_order = (0..).map(EventIndex).zip(&witness.order);
    let shared = in_order.take_while(|(at, event)| at == *event).count();
    let mut sitting = Sitting::new(recording);
    for start in (0..=shared).chain((0..=shared).rev()) {
        let departing = Witness {
            order: witness.order[start..].to_vec(),
            ..witness.clone()
        };
        let judged = sitting
            .judge(start, &departing)
            .map_err(|it| it.to_string());
        let departed = judged.err().unwrap_or_else(|| "ok".to_owned());
        assert_eq!(departed, said, "from {start}");
    }
}

const X: u64 = 0x1000;
const Y: u64 = 0x2000;
const Z: u64 = 0x3000;

fn flip(branch: u64) -> Claim {
    Claim::BranchFlip {
        thread: ThreadId(1),
        branch,
    }
}

/// `y = x + 1; if (x < 10) z;`
fn add_and_compare() -> (Code, Vec<(u32, Step)>) {
    let mut code = Code::new();
    code.block();
    let x = code.load(WORD);
    let one = code.number(1);
    let sum = code.add(Opcode::Add, WORD, &[x, one], Detail::None, None);
    code.store(sum, Operand::Argument(1));
    code.branch_if_below(x, 10);
    code.block();
    code.load(WORD);
    code.ret();
    code.block().ret();
    let steps = vec![
        (0, Step::Other(write(X, 1))),
        (1, Step::Enter),
        (1, Step::Site(1, read(X, 1))),
        (1, Step::Site(2, write(Y, 2))),
        (1, Step::Site(3, read(Z, 0))),
        (1, Step::Outcomes(0b11)),
        (1, Step::Exit(4)),
        (2, Step::Other(read(Y, 2))),
        (2, Step::Other(write(Z, 3))),
        (3, Step::Other(write(X, 5))),
        (4, Step::Other(write(X, 20))),
        (5, Step::Other(write(Z, 9))),
    ];
    (code, steps)
}

#[test]
fn branches_decide() {
    let (code, steps) = add_and_compare();
    let feasible = Claim::Feasible;
    let race = Claim::Race {
        a: EventIndex(4),
        b: EventIndex(11),
    };
    let cases = [
        ("0-8", feasible.clone(), "ok"),
        // x is 5: y becomes 6, and the branch goes the same way.
        ("0 9 1-6", feasible.clone(), "ok"),
        ("0 1 10 2 3", feasible.clone(), "ok"),
        (
            "0 1 10 2 3 4",
            feasible.clone(),
            "T1 goes the other way at branch 0 (source unknown), before event 4 (T1 read 0x3000 (8 bytes) = 0)",
        ),
        ("0 1 10 2 3", flip(0), "ok"),
        ("0 9 1 2 3", flip(0), "T1 takes branch 0 as in the trace"),
        (
            "0 1 10 2 3",
            flip(1),
            "T1 goes the other way at branch 0 (source unknown), before event 4 (T1 read 0x3000 (8 bytes) = 0)",
        ),
        (
            "0 1 10 2",
            flip(0),
            "branch 0 of T1 does not come between its last executed event and its next",
        ),
        // T1 comes to the read of z only if x is below 10.
        ("0 9 1 2 3", race.clone(), "ok"),
        (
            "0 1 10 2 3",
            race,
            "T1 goes the other way at branch 0 (source unknown), before event 4 (T1 read 0x3000 (8 bytes) = 0)",
        ),
        // T2 has no code in the model: what it reads must be as it was.
        (
            "0 9 1 2 3 7 8",
            feasible,
            "T2 reads another value at event 7 (T2 read 0x2000 (8 bytes) = 2), and cannot be followed on the model: it executes code without a model",
        ),
    ];
    check(code, steps, &cases);
}

#[test]
fn what_is_written_is_computed_from_what_is_read() {
    let (code, mut steps) = add_and_compare();
    // T2 read 6 in the trace, which T4 wrote; with x = 5, T1 writes it.
    steps.truncate(7);
    steps.push((4, Step::Other(write(Y, 6))));
    steps.push((2, Step::Other(read(Y, 6))));
    steps.push((2, Step::Other(write(Z, 3))));
    steps.push((3, Step::Other(write(X, 5))));
    let cases = [
        ("0 10 1-3 8 9", Claim::Feasible, "ok"),
        (
            "0 1-3 8 9",
            Claim::Feasible,
            "T2 reads another value at event 8 (T2 read 0x2000 (8 bytes) = 6), and cannot be followed on the model: it executes code without a model",
        ),
    ];
    check(code, steps, &cases);
}

#[test]
fn addresses_stay_and_null_is_followed() {
    // `p = *x; *p = 7;`
    let mut code = Code::new();
    code.block();
    let pointer = code.load(POINTER);
    let seven = code.number(7);
    code.store(seven, pointer);
    code.ret();
    let steps = vec![
        (0, Step::Other(write(X, 0))),
        (0, Step::Other(write(X, Y))),
        (1, Step::Enter),
        (1, Step::Site(1, read(X, Y))),
        (1, Step::Site(2, write(Y, 7))),
        (1, Step::Exit(3)),
        (3, Step::Other(write(X, Z))),
    ];
    let null = |read, access| Claim::NullDereference {
        read: EventIndex(read),
        access: EventIndex(access),
    };
    let cases = [
        (
            "0-2 6 3 4",
            Claim::Feasible,
            "event 4 (T1 write 0x2000 (8 bytes) = 7) would go to 0x3000",
        ),
        ("0 2", null(3, 4), "ok"),
        (
            "0-2",
            null(3, 4),
            "event 3 (T1 read 0x1000 (8 bytes) = 8192) would not read null",
        ),
        (
            "0 2",
            null(3, 5),
            "event 5 (T1 return frame 0x7000) does not follow the pointer that event 3 (T1 read 0x1000 (8 bytes) = 8192) read",
        ),
        (
            "0-3",
            null(4, 5),
            "event 4 (T1 write 0x2000 (8 bytes) = 7) is not such an access to memory",
        ),
    ];
    check(code, steps, &cases);
}

#[test]
fn a_null_check_protects() {
    // `p = *x; if (p < 1) return; *p = 7;`, with the blocks the other way round.
    let mut code = Code::new();
    code.block();
    let pointer = code.load(POINTER);
    code.branch_if_below(pointer, 1);
    code.block().ret();
    code.block();
    let seven = code.number(7);
    code.store(seven, pointer);
    code.ret();
    let steps = vec![
        (0, Step::Other(write(X, 0))),
        (0, Step::Other(write(X, Y))),
        (1, Step::Enter),
        (1, Step::Site(1, read(X, Y))),
        (1, Step::Site(3, write(Y, 7))),
        (1, Step::Exit(4)),
        (1, Step::Outcomes(0b10)),
    ];
    let null = Claim::NullDereference {
        read: EventIndex(3),
        access: EventIndex(4),
    };
    let cases = [(
        "0 2",
        null,
        "T1 goes the other way at branch 0 (source unknown), before event 4 (T1 write 0x2000 (8 bytes) = 7)",
    )];
    check(code, steps, &cases);
}

#[test]
fn untraced_code_gets_what_it_got() {
    // `outside(*x);`
    let mut code = Code::new();
    code.block();
    let x = code.load(WORD);
    let call = Detail::Call {
        callee: Operand::Constant(ConstantId(0)),
        ty: VOID,
        targets: None,
    };
    code.add(Opcode::Call, WORD, &[x], call, Some((SiteKind::Value, 8)));
    code.ret();
    let value = EventKind::Value {
        site: SiteId(0),
        addr: Address(0),
        value: 4,
    };
    let steps = vec![
        (0, Step::Other(write(X, 1))),
        (1, Step::Enter),
        (1, Step::Site(1, read(X, 1))),
        (1, Step::Site(2, value)),
        (1, Step::Exit(3)),
        (3, Step::Other(write(X, 5))),
    ];
    let cases = [
        ("0-4", Claim::Feasible, "ok"),
        (
            "0 5 1-3",
            Claim::Feasible,
            "event 3 (T1 value = 4) depends on a value that cannot be computed: untraced code is called with another argument",
        ),
    ];
    check(code, steps, &cases);
}

#[test]
fn a_thread_that_has_returned_ends() {
    // `y = *x;`, and with a result `return *x;`
    let returning = |result: bool| {
        let mut code = Code::new();
        code.block();
        let x = code.load(WORD);
        code.store(x, Operand::Argument(1));
        let results: &[Operand] = if result { &[x] } else { &[] };
        let kind = Some((SiteKind::Exit, 0));
        code.add(Opcode::Ret, VOID, results, Detail::None, kind);
        code
    };
    let action = |action| {
        Step::Other(EventKind::Action {
            action,
            pc: Address(0),
        })
    };
    let steps = || {
        vec![
            (0, Step::Other(write(X, 1))),
            (1, Step::Enter),
            (1, Step::Site(1, read(X, 1))),
            (1, Step::Site(2, write(Y, 1))),
            (1, Step::Exit(3)),
            (1, action(Action::End)),
            (3, Step::Other(write(X, 5))),
        ]
    };
    let ends = [("0 6 1-5", Claim::Feasible, "ok")];
    check(returning(false), steps(), &ends);
    let with_a_result = [(
        "0 6 1-5",
        Claim::Feasible,
        "event 4 (T1 return frame 0x7000) depends on a value that cannot be computed: code that is not followed gets another result",
    )];
    check(returning(true), steps(), &with_a_result);
    // It ends inside of its function: what ended it is not seen.
    let mut inside = steps();
    inside.remove(4);
    let ends_inside = [(
        "0 5 1-4",
        Claim::Feasible,
        "event 4 (T1 end) depends on a value that cannot be computed: nothing shows that its thread, with other values, comes to it",
    )];
    check(returning(false), inside, &ends_inside);
}

#[test]
fn switches_decide() {
    // `switch (*x) { case 1: y; }`
    let mut code = Code::new();
    code.block();
    let x = code.load(WORD);
    let one = match code.number(1) {
        Operand::Constant(id) => id,
        _ => unreachable!("numbers are constants"),
    };
    let cases = Detail::Switch {
        default: BlockId(2),
        cases: vec![Case {
            value: one,
            target: BlockId(1),
        }],
    };
    let kind = Some((SiteKind::Value, 0));
    code.add(Opcode::Switch, VOID, &[x], cases, kind);
    code.block();
    code.load(WORD);
    code.ret();
    code.block().ret();
    let value = EventKind::Value {
        site: SiteId(0),
        addr: Address(0),
        value: 1,
    };
    let steps = vec![
        (0, Step::Other(write(X, 1))),
        (1, Step::Enter),
        (1, Step::Site(1, read(X, 1))),
        (1, Step::Site(2, value)),
        (1, Step::Site(3, read(Y, 0))),
        (1, Step::Exit(4)),
        (3, Step::Other(write(X, 5))),
    ];
    let cases = [
        ("0-5", Claim::Feasible, "ok"),
        (
            "0 6 1-3",
            Claim::Feasible,
            "T1 goes another way at a switch (source unknown), before event 3 (T1 value = 1)",
        ),
    ];
    check(code, steps, &cases);
}

#[test]
fn exchanges_succeed_as_they_did() {
    // `exchange(y, *x, 9);`
    let mut code = Code::new();
    code.module.types.push(TypeInfo {
        ty: Type::Struct {
            fields: vec![(WORD, 0), (BIT, 8)],
            packed: false,
        },
        size: 16,
        store_size: 16,
    });
    code.block();
    let x = code.load(WORD);
    let nine = code.number(9);
    let operands = [Operand::Argument(1), x, nine];
    let kind = Some((SiteKind::Cas, 8));
    code.add(Opcode::CmpXchg, TypeId(4), &operands, MEMORY, kind);
    code.ret();
    let exchange = EventKind::Cas {
        access: access(0, Y, 1),
        atomicity: Atomicity {
            order: Ordering::SeqCst,
            role: Role::None,
        },
        new: 9,
        success: true,
    };
    let steps = vec![
        (0, Step::Other(write(X, 1))),
        (0, Step::Other(write(Y, 1))),
        (1, Step::Enter),
        (1, Step::Site(1, read(X, 1))),
        (1, Step::Site(2, exchange)),
        (1, Step::Exit(3)),
        (3, Step::Other(write(X, 5))),
        (3, Step::Other(write(Y, 5))),
    ];
    let cases = [
        ("0-5", Claim::Feasible, "ok"),
        // Both are 5 now.
        ("0-2 6 7 3 4", Claim::Feasible, "ok"),
        (
            "0-2 6 3 4",
            Claim::Feasible,
            "event 4 (T1 cas 0x2000 (8 bytes) = 1 -> 9) would fail, unlike in the trace",
        ),
    ];
    check(code, steps, &cases);
}

/// Assembly that loads x, and whatever comes after with its result; the trace of a thread that found 1 there.
fn assembly(then: impl FnOnce(&mut Code, Operand)) -> (Code, Vec<(u32, Step)>) {
    let mut code = Code::new();
    let text = Constant::Assembly(WORD, "movq ($1), $0".into());
    code.module.constants.push(text);
    let detail = Detail::Call {
        callee: Operand::Constant(ConstantId(code.module.constants.len() as u32 - 1)),
        ty: WORD,
        targets: None,
    };
    code.block();
    let pointer = Operand::Argument(0);
    let kind = Some((SiteKind::AtomicLoad, 8));
    let result = code.add(Opcode::Call, WORD, &[pointer], detail, kind);
    code.site(SiteKind::Value, 8, Some(0));
    code.module.functions[0].blocks[0].instructions[0].sites.end += 1;
    then(&mut code, result);
    let atomicity = Atomicity {
        order: Ordering::Acquire,
        role: Role::None,
    };
    let loaded = EventKind::AtomicLoad(access(0, X, 1), atomicity);
    let value = EventKind::Value {
        site: SiteId(0),
        addr: Address(0),
        value: 1,
    };
    let steps = vec![
        (0, Step::Other(write(X, 1))),
        (3, Step::Other(write(X, 5))),
        (0, Step::Other(write(X, 1))),
        (1, Step::Enter),
        (1, Step::Site(1, loaded)),
        (1, Step::Site(2, value)),
    ];
    (code, steps)
}

#[test]
fn assembly_that_reads_something_else_gives_an_unknown_result() {
    let (code, mut steps) = assembly(|code, result| {
        code.store(result, Operand::Argument(1));
        code.ret();
    });
    steps.push((1, Step::Site(3, write(Y, 1))));
    steps.push((1, Step::Exit(4)));
    steps.push((2, Step::Other(read(Y, 1))));
    steps.push((2, Step::Other(write(Z, 3))));
    let cases = [
        ("0-9", Claim::Feasible, "ok"),
        ("0 1 3-7", Claim::Feasible, "ok"),
        (
            "0 1 3-9",
            Claim::Feasible,
            "T2 reads another value at event 8 (T2 read 0x2000 (8 bytes) = 1), and cannot be followed on the model: it executes code without a model",
        ),
    ];
    check(code, steps, &cases);
}

#[test]
fn nobody_knows_what_assembly_that_reads_something_else_decides() {
    let (code, mut steps) = assembly(|code, result| {
        code.branch_if_below(result, 10);
        code.block();
        code.load(WORD);
        code.ret();
        code.block().ret();
    });
    steps.push((1, Step::Site(3, read(Z, 0))));
    steps.push((1, Step::Outcomes(0b11)));
    steps.push((1, Step::Exit(4)));
    let cases = [
        ("0-8", Claim::Feasible, "ok"),
        ("0 1 3-5", Claim::Feasible, "ok"),
        (
            "0 1 3-6 7",
            Claim::Feasible,
            "event 6 (T1 read 0x3000 (8 bytes) = 0) depends on a value that cannot be computed: branch 0 (source unknown)",
        ),
    ];
    check(code, steps, &cases);
}

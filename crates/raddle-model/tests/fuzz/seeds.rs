//! Whole files of each kind, from which damaged ones are made.

use raddle_model::{
    Block, BlockId, CallInfo, Case, Constant, ConstantId, Detail, Flags, Function, FunctionId,
    Global, GlobalId, Instruction, InstructionId, Model, Module, Name, Opcode, Operand, Parameter,
    Position, PositionId, SiteInfo as ModelSite, Skipped, Type, TypeId, TypeInfo,
};
use raddle_trace::action::{Action, RawAction};
use raddle_trace::event::{Access, Atomicity, Event, EventKind, Outcomes};
use raddle_trace::file::{Header, TraceWriter, Trailer};
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use raddle_trace::names::Names;
use raddle_trace::outcome::{Ending, Outcome, ThreadInfo, Wait};
use raddle_trace::packages::Packages;
use raddle_trace::position::{CodePosition, SiteInfo, SourcePosition, Variable};
use raddle_trace::run::{RunSpec, Stdin, Strategy};
use raddle_trace::schedule::Switch;
use raddle_trace::sites::SiteShape;
use raddle_trace::wire::{
    FIRST_SITE_ADDRESS, INPUT_MAGIC, InputCall, MODULE_MAGIC, Mark, Ordering, Role, SiteKind,
    SwitchReason, ThreadState,
};

const CLIP: &str = r#"raddle clip 1
program examples/bank.rs
build-arg -O2
build 5f1d09c2
arg --transfers
env LANG C
stdin inline "two words\n\xff"
cwd path "/tmp/a b"
seed 7
clock-start-ns 1000000000
clock-ns-per-tick 10
time virtual
strategy pct depth 3
shows "a race on balance"
outcome signal 11
outcome-thread T2
outcome-tick 99
outcome-object 0x7fff1234
outcome-position src/bank.rs 14 9 transfer
outcome-message "it \"failed\""
switches:
T1@1234 -> T2 preempted site 17  # before bank.rs:14:9 write balance
T2@88 -> T1 ended
T1@2000 -> T3 blocked
"#;

const STD: &str = "T0|fork(T1)|1\nT1|begin(0)|2\nT1|acq(L0)|3\nT1|w(V1.f[3])|4\nT1|rel(L0)|5\n\
                   T0|req(L0)|6\nT0|acq(L0)|7\nT0|r(V1.f[3])|8\nT0|rel(L0)|9\nT1|end(0)|10\n\
                   T0|join(T1)|11\nmain|w(x)|file.c:3\n";

/// Clips.
pub fn clips() -> Vec<Vec<u8>> {
    vec![
        CLIP.into(),
        "raddle clip 1\nprogram x\nbuild y\nswitches:\n".into(),
    ]
}

/// STD texts.
pub fn stds() -> Vec<Vec<u8>> {
    vec![
        STD.into(),
        STD.replace('\n', "\r\n").into(),
        STD.trim_end().into(),
    ]
}

/// Trace files.
pub fn traces() -> Vec<Vec<u8>> {
    let events = events();
    let written = |events: &[Event], flush_at: usize, trailer: &Trailer| {
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&mut bytes, &header()).expect("memory does not fail");
        for (index, event) in events.iter().enumerate() {
            writer.push(event).expect("memory does not fail");
            if index == flush_at {
                writer.flush().expect("memory does not fail");
            }
        }
        writer.finish(trailer).expect("memory does not fail");
        bytes
    };
    vec![
        written(&events, events.len() / 2, &trailer()),
        written(&events[..20], 0, &Trailer::default()),
        written(&events.repeat(8), 100, &trailer()),
    ]
}

fn header() -> Header {
    Header::new(RunSpec {
        program: "examples/bank.rs".into(),
        build_args: vec!["-O2".into()],
        args: vec!["two".into(), "words".into()],
        env: vec![("LANG".into(), "C".into())],
        stdin: Stdin::Inline(b"input".to_vec()),
        strategy: Strategy {
            name: "pct".to_owned(),
            parameters: vec![("depth".to_owned(), "3".to_owned())],
        },
        ..RunSpec::default()
    })
}

/// Every kind of event and every action, by three threads.
fn events() -> Vec<Event> {
    let access = |site: u32, value| Access {
        site: SiteId(site),
        addr: Address(0x7fff_0000_1000 + u64::from(site) * 8),
        size: 8,
        value,
    };
    let atomicity = Atomicity {
        order: Ordering::AcqRel,
        role: Role::Lock,
    };
    let (site, addr, frame) = (
        SiteId(20),
        Address(0x7fff_0000_2000),
        Address(0x7fff_f000_0000),
    );
    let mut kinds = vec![
        EventKind::Read(access(10, 1)),
        EventKind::Write(access(11, u64::MAX)),
        EventKind::AtomicLoad(access(12, 3), atomicity),
        EventKind::AtomicStore(access(13, 4), atomicity),
        EventKind::Rmw {
            access: access(14, 0),
            atomicity,
            new: 1,
        },
        EventKind::Cas {
            access: access(15, 0),
            atomicity,
            new: 7,
            success: true,
        },
        EventKind::Fence {
            site,
            order: Ordering::SeqCst,
        },
        EventKind::RangeRead {
            site,
            addr,
            len: 64,
        },
        EventKind::RangeWrite {
            site,
            addr,
            len: 32,
        },
        EventKind::Value {
            site,
            addr,
            value: 5,
        },
        EventKind::Enter {
            site,
            frame,
            return_address: Address(0x5555_5555_1234),
        },
        EventKind::Exit { site, frame },
        EventKind::Branches(Outcomes::from_sentinel(0b1_0110_1101).expect("it is not 0")),
    ];
    let actions = Mark::ALL.iter().filter_map(|&mark| {
        Action::try_from(RawAction {
            mark,
            object: 2,
            argument: if mark == Mark::Request {
                Mark::Lock as u64
            } else {
                1
            },
            second: 3,
        })
        .ok()
    });
    kinds.extend(actions.map(|action| EventKind::Action {
        pc: Address(0x5555_5555_4321),
        action,
    }));
    let mut ticks = [Tick(0); 3];
    let mut event = |(index, kind): (usize, EventKind)| {
        let thread = index / 4 % 3;
        let event = Event {
            thread: ThreadId(thread as u32),
            tick: ticks[thread],
            kind,
        };
        ticks[thread] = event.next_tick();
        event
    };
    kinds.into_iter().enumerate().map(&mut event).collect()
}

fn trailer() -> Trailer {
    let position = SourcePosition {
        function: "transfer".to_owned(),
        file: "src/bank.rs".to_owned(),
        line: 14,
        column: 9,
    };
    let site = |number| SiteInfo {
        site: SiteId(number),
        module: 0x1234_5678_9abc_def0,
        index: number,
        shape: SiteShape {
            kind: SiteKind::Write,
            order: Ordering::Plain,
            size: 8,
            role: Role::None,
        },
        positions: vec![position.clone(), position.clone()],
        variable: Some(Variable {
            name: "balance".to_owned(),
            ..Variable::default()
        }),
    };
    Trailer {
        sites: (10..21).map(site).collect(),
        code: vec![CodePosition {
            pc: Address(0x5555_5555_4321),
            positions: vec![position.clone()],
            object: None,
        }],
        switches: vec![Switch {
            from: ThreadId(0),
            tick: Tick(9),
            to: ThreadId(1),
            reason: SwitchReason::Blocked,
            site: Some(SiteId(11)),
        }],
        outcome: Some(Outcome {
            position: Some(position),
            ..Outcome::new(Ending::Signal(11))
        }),
        threads: vec![ThreadInfo {
            thread: ThreadId(1),
            state: ThreadState::Blocked,
            ticks: Tick(77),
            visible: 5,
            wait: Some(Wait {
                wants: Mark::Lock,
                object: Address(64),
                held_by: Some(ThreadId(0)),
            }),
            stack: vec![Address(1), Address(2)],
        }],
        names: Some(Names {
            threads: [(ThreadId(1), "main".to_owned())].into(),
            operands: vec!["V0".to_owned(), "V1".to_owned()],
            locations: vec!["12".to_owned()],
            exceptions: [(EventIndex(4), "odd".to_owned())].into(),
            crlf: true,
            unterminated: true,
        }),
        packages: Packages::parse("own /ws\ndependency /ws/vendor/a\n"),
    }
}

/// The modules of a model, encoded.
pub fn modules() -> Vec<Vec<u8>> {
    vec![
        raddle_model::encode_module(&module(7)),
        raddle_model::encode_module(&Module {
            functions: Vec::new(),
            sites: Vec::new(),
            ..module(9)
        }),
    ]
}

/// A model's file from its encoded modules.
pub fn model(modules: &[Vec<u8>]) -> Vec<u8> {
    let skipped = Skipped {
        object: "lib.a(x.o)".into(),
        reason: "no bitcode".into(),
    };
    Model::join(modules.iter().map(Vec::as_slice), &[skipped])
}

fn module(id: u64) -> Module {
    let info = |ty, size| TypeInfo {
        ty,
        size,
        store_size: size,
    };
    let types = vec![
        info(Type::Void, 0),
        info(Type::Int(64), 8),
        info(Type::Pointer(0), 8),
        info(
            Type::Struct {
                fields: vec![(TypeId(1), 0), (TypeId(2), 8)],
                packed: false,
            },
            16,
        ),
    ];
    let constants = vec![
        Constant::Int(TypeId(1), vec![u64::MAX]),
        Constant::Zero(TypeId(3)),
        Constant::Data(TypeId(1), vec![1, 2, 3]),
        Constant::Global(GlobalId(0)),
        Constant::Expression {
            opcode: Opcode::ALL[0],
            ty: TypeId(2),
            operands: vec![ConstantId(0), ConstantId(3)],
            source: Some(TypeId(3)),
        },
    ];
    let position = |inlined_at| Position {
        function: "transfer".into(),
        file: "src/bank.rs".into(),
        line: 14,
        column: 9,
        inlined_at,
    };
    Module {
        id,
        name: "bank".into(),
        triple: "x86_64-unknown-linux-gnu".into(),
        data_layout: "e-m:e".into(),
        types,
        constants,
        globals: vec![Global {
            name: "balance".into(),
            readable: "balance".into(),
            ty: TypeId(3),
            constant: false,
            thread_local: false,
            external: true,
            initializer: Some(ConstantId(1)),
        }],
        positions: vec![position(None), position(Some(PositionId(0)))],
        functions: vec![function()],
        sites: (0..6).map(site).collect(),
        calls: vec![CallInfo {
            position: PositionId(1),
            object: name(),
        }],
    }
}

fn name() -> Name {
    Name {
        text: "self.balance".into(),
        owner: Some("Account".into()),
        is_global: false,
    }
}

fn site(index: u32) -> ModelSite {
    ModelSite {
        kind: SiteKind::Write,
        order: Ordering::Plain,
        size: 8,
        role: Role::None,
        function: FunctionId(0),
        instruction: Some(InstructionId(index)),
        position: Some(PositionId(1)),
        name: Some(name()),
    }
}

/// Two blocks of instructions, one for each kind of detail.
fn function() -> Function {
    let details = [
        Detail::Compare(3),
        Detail::Address(TypeId(3)),
        Detail::Alloca {
            ty: TypeId(1),
            align: 8,
        },
        Detail::Memory {
            align: 8,
            order: 1,
            failure: 0,
            operation: 2,
        },
        Detail::Branch(vec![BlockId(0), BlockId(1)]),
        Detail::Switch {
            default: BlockId(1),
            cases: vec![Case {
                value: ConstantId(0),
                target: BlockId(0),
            }],
        },
        Detail::Phi(vec![BlockId(0)]),
        Detail::Call {
            callee: Operand::Constant(ConstantId(3)),
            ty: TypeId(1),
            targets: Some((BlockId(0), BlockId(1))),
        },
    ];
    let instruction = |detail| Instruction {
        opcode: Opcode::ALL[1],
        ty: TypeId(1),
        operands: vec![
            Operand::Instruction(InstructionId(1)),
            Operand::Argument(0),
            Operand::Metadata,
        ],
        detail,
        flags: Flags(5),
        sites: 1..3,
        position: Some(PositionId(0)),
    };
    let mut instructions: Vec<Instruction> = details.into_iter().map(instruction).collect();
    let second = instructions.split_off(4);
    Function {
        linkage_name: "_ZN4bank8transferE".into(),
        name: "transfer".into(),
        position: Some(PositionId(0)),
        ty: TypeId(1),
        params: vec![Parameter {
            ty: TypeId(2),
            name: Some("self".into()),
        }],
        instrumented: true,
        blocks: vec![
            Block {
                first: 0,
                instructions,
            },
            Block {
                first: 4,
                instructions: second,
            },
        ],
    }
}

/// Two modules of site records: a header and two records each.
fn site_records() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (module, kinds) in [
        (7_u64, [SiteKind::Read, SiteKind::Cas]),
        (9, [SiteKind::Write, SiteKind::Rmw]),
    ] {
        bytes.extend(MODULE_MAGIC.to_le_bytes());
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend(module.to_le_bytes());
        for (index, kind) in kinds.into_iter().enumerate() {
            bytes.extend([kind as u8, Ordering::Acquire as u8, 8, Role::Lock as u8]);
            bytes.extend((index as u32).to_le_bytes());
        }
    }
    bytes
}

/// Logs of a run that ended and of one that was killed: every call, with parts from none to a long one.
pub fn inputs() -> Vec<Vec<u8>> {
    let log = |complete: u32| {
        let mut log = INPUT_MAGIC.to_ne_bytes().to_vec();
        for number in [complete, 0, u32::MAX, 0] {
            log.extend(number.to_ne_bytes());
        }
        let calls = (0..).map_while(|at| InputCall::from_number(at + 1));
        for (at, call) in calls.enumerate() {
            let lens = [0, 3, 200].iter().cycle().skip(at).take(at % 4);
            let parts = lens
                .flat_map(|len| [&u32::to_ne_bytes(*len)[..], &vec![7; *len as usize]].concat());
            let parts: Vec<u8> = parts.collect();
            log.extend((parts.len() as u32).to_ne_bytes());
            log.extend((at as u32 % 3).to_ne_bytes());
            log.extend((at as u64 * 5).to_ne_bytes());
            log.extend((call as u16).to_ne_bytes());
            log.extend([0; 6]);
            log.extend(10_u64.to_ne_bytes());
            log.extend(parts.len().to_ne_bytes());
            log.extend(parts);
        }
        log
    };
    vec![log(1), log(0)]
}

/// What the launcher finds in shared memory, in the form that the target reads: with one image of both
/// modules, and with one of each.
pub fn memories() -> Vec<Vec<u8>> {
    let start = FIRST_SITE_ADDRESS * 16;
    let second = start + 0x1_0000;
    vec![
        memory(&[[start, 64, 0]], start + 48),
        memory(&[[start, 32, 0], [second, 32, 32]], second + 16),
    ]
}

fn memory(images: &[[u64; 3]], write: u64) -> Vec<u8> {
    let start = images[0][0];
    let extra = Mark::Extra as u64;
    let mut slots = vec![
        [start + 16, 0x1000, 5],
        [start + 24, 0x1008, 0],
        [extra, 1, 1],
        [Mark::Switch as u64, 1, 0],
        [write, 0x1000, 6],
        [Mark::Branches as u64, 0, 0b1011],
    ];
    for mark in Mark::ALL.iter().filter(|mark| **mark >= Mark::Fork) {
        let argument = if *mark == Mark::Request {
            Mark::Lock as u64
        } else {
            1
        };
        slots.extend([[*mark as u64, 2, argument], [extra, 0x4000, 3]]);
    }
    let records = site_records();
    let count = images.len() as u64;
    let numbers = [&[count][..], &images.concat(), &[records.len() as u64]].concat();
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.extend(records);
    bytes.extend(slots.concat().into_iter().flat_map(u64::to_le_bytes));
    bytes
}

//! Where order may come from code that is not traced, races are not certain.

use raddle_model::{
    Block, BlockId, Constant, ConstantId, Detail, Flags, Function, FunctionId, Instruction, Model,
    Module, Opcode, Operand, SiteInfo, TypeId,
};
use raddle_predict::races::{Code, certain};
use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::ids::{Address, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Ordering, Role, SiteKind};

const MODULE: u64 = 77;
/// Indices of the sites: the entry, the write to another variable, the access, the return.
const ENTRY: u32 = 0;
const OTHER: u32 = 1;
const ACCESS: u32 = 2;
const EXIT: u32 = 3;

fn instruction(opcode: Opcode, detail: Detail, sites: std::ops::Range<u32>) -> Instruction {
    Instruction {
        opcode,
        ty: TypeId(0),
        operands: Vec::new(),
        detail,
        flags: Flags::default(),
        sites,
        position: None,
    }
}

fn function(name: &str, blocks: Vec<Block>) -> Function {
    Function {
        linkage_name: name.into(),
        name: name.into(),
        position: None,
        ty: TypeId(0),
        params: Vec::new(),
        instrumented: !blocks.is_empty(),
        blocks,
    }
}

fn call(constant: u32) -> Instruction {
    let detail = Detail::Call {
        callee: Operand::Constant(ConstantId(constant)),
        ty: TypeId(0),
        targets: None,
    };
    instruction(Opcode::Call, detail, 0..0)
}

fn site(kind: SiteKind) -> SiteInfo {
    SiteInfo {
        kind,
        order: Ordering::Plain,
        size: 4,
        role: Role::None,
        function: FunctionId(0),
        instruction: None,
        position: None,
        name: None,
    }
}

/// `work` writes another variable, may call `callee` in a block of its own, and accesses the shared one.
fn model(callee: Constant, name: &str) -> Model {
    let store = |site: u32| instruction(Opcode::Store, Detail::None, site..site + 1);
    let branch = |to: &[u32]| {
        instruction(
            Opcode::Br,
            Detail::Branch(to.iter().map(|it| BlockId(*it)).collect()),
            0..0,
        )
    };
    let blocks = vec![
        Block {
            first: 0,
            instructions: vec![store(OTHER), branch(&[1, 2])],
        },
        Block {
            first: 2,
            instructions: vec![call(0), branch(&[2])],
        },
        Block {
            first: 4,
            instructions: vec![
                store(ACCESS),
                instruction(Opcode::Ret, Detail::None, EXIT..EXIT + 1),
            ],
        },
    ];
    let sites = [
        SiteKind::Enter,
        SiteKind::Write,
        SiteKind::Write,
        SiteKind::Exit,
    ];
    let module = Module {
        id: MODULE,
        constants: vec![callee],
        functions: vec![function("work", blocks), function(name, Vec::new())],
        sites: sites.map(site).to_vec(),
        ..Module::default()
    };
    Model::new(vec![module], Vec::new())
}

fn event(thread: u32, kind: EventKind) -> Event {
    Event {
        thread: ThreadId(thread),
        tick: Tick(0),
        kind,
    }
}

fn fork(child: u32) -> Event {
    let child = ThreadId(child);
    let action = Action::Fork { child };
    let pc = Address(1);
    event(0, EventKind::Action { pc, action })
}

/// A call of `work` by a thread.
fn work(thread: u32) -> Vec<Event> {
    let write = |site: u32, addr: u64| {
        EventKind::Write(Access {
            site: SiteId(site),
            addr: Address(addr),
            size: 4,
            value: 0,
        })
    };
    let frame = Address(0x9000);
    let kinds = [
        EventKind::Enter {
            site: SiteId(ENTRY),
            frame,
            return_address: frame,
        },
        write(OTHER, 0x100 * u64::from(thread)),
        write(ACCESS, 0x1000),
        EventKind::Exit {
            site: SiteId(EXIT),
            frame,
        },
    ];
    kinds.map(|kind| event(thread, kind)).to_vec()
}

/// How many races two threads have that execute `work`, with this function called in it.
fn races(callee: Constant, name: &str) -> usize {
    let model = model(callee, name);
    let mut code = Code::new(&model);
    code.learn_sites((ENTRY..=EXIT).map(|index| (SiteId(index), MODULE, index)));
    let events = [vec![fork(1), fork(2)], work(1), work(2)].concat();
    certain(&events, &code).len()
}

fn races_with(name: &str) -> usize {
    races(Constant::Function(FunctionId(1)), name)
}

#[test]
fn harmless_functions_order_nothing() {
    for name in [
        "strlen",
        "pthread_self",
        "llvm.lifetime.start.p0",
        "printf",
        "work",
    ] {
        assert_eq!(races_with(name), 1, "{name}");
    }
}

#[test]
fn unknown_functions_may_order_anything() {
    for name in [
        "omp_set_lock",
        "__kmpc_barrier",
        "closed_library_lock",
        "flockfile",
    ] {
        assert_eq!(races_with(name), 0, "{name}");
    }
}

#[test]
fn assembly_may_order_anything_unless_it_is_empty() {
    let assembly = |text: &str| races(Constant::Assembly(TypeId(0), text.into()), "");
    assert_eq!(assembly("lock; xchgl $0, $1"), 0);
    assert_eq!(assembly(""), 1);
}

#[test]
fn sites_that_are_not_known_are_next_to_unknown_code() {
    let model = model(Constant::Function(FunctionId(1)), "strlen");
    let code = Code::new(&model);
    let events = [vec![fork(1), fork(2)], work(1), work(2)].concat();
    assert_eq!(certain(&events, &code).len(), 0);
}

#[test]
fn threads_that_nothing_created_know_of_everything() {
    let model = model(Constant::Function(FunctionId(1)), "strlen");
    let mut code = Code::new(&model);
    code.learn_sites((ENTRY..=EXIT).map(|index| (SiteId(index), MODULE, index)));
    let events = [vec![fork(1)], work(1), work(2)].concat();
    assert_eq!(certain(&events, &code).len(), 0);
}

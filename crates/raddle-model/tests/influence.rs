//! What functions made by hand do with the values that they load.

use raddle_model::{
    Block, BlockId, Constant, ConstantId, Detail, Feed, Flags, Function, FunctionId, Influence,
    Influences, Instruction, InstructionId, Model, Module, ModuleId, Opcode, Operand, SiteInfo,
    Type, TypeId, TypeInfo,
};
use raddle_trace::wire::{Ordering, Role, SiteKind};

const MODULE: ModuleId = ModuleId(7);
const WORD: TypeId = TypeId(0);
const ADDRESS: Operand = Operand::Argument(0);

/// A module whose first function is being written.
struct Code {
    module: Module,
    instructions: u32,
}

impl Code {
    fn new() -> Code {
        let function = |name: &str| Function {
            linkage_name: name.into(),
            name: name.into(),
            position: None,
            ty: WORD,
            params: Vec::new(),
            instrumented: true,
            blocks: Vec::new(),
        };
        let names = ["f", "outside", "llvm.uadd.with.overflow.i64"];
        let mut module = Module {
            id: MODULE.0,
            types: vec![TypeInfo {
                ty: Type::Int(64),
                size: 8,
                store_size: 8,
            }],
            functions: names.map(function).to_vec(),
            constants: (0..3).map(FunctionId).map(Constant::Function).collect(),
            ..Module::default()
        };
        module.functions[0].blocks.push(Block::default());
        Code {
            module,
            instructions: 0,
        }
    }

    /// Adds an instruction, with a site if it is reported; its result.
    fn add(
        &mut self,
        opcode: Opcode,
        operands: &[Operand],
        detail: Detail,
        kind: Option<SiteKind>,
    ) -> Operand {
        let id = self.instructions;
        self.instructions += 1;
        let start = self.module.sites.len() as u32;
        self.module.sites.extend(kind.map(|kind| SiteInfo {
            kind,
            order: Ordering::Plain,
            size: 8,
            role: Role::None,
            function: FunctionId(0),
            instruction: Some(InstructionId(id)),
            position: None,
            name: None,
        }));
        let sites = start..self.module.sites.len() as u32;
        self.module.functions[0].blocks[0]
            .instructions
            .push(Instruction {
                opcode,
                ty: WORD,
                operands: operands.to_vec(),
                detail,
                flags: Flags::default(),
                sites,
                position: None,
            });
        Operand::Instruction(InstructionId(id))
    }

    fn compute(&mut self, opcode: Opcode, operands: &[Operand]) -> Operand {
        self.add(opcode, operands, Detail::None, None)
    }

    fn number(&mut self, value: u64) -> Operand {
        self.module.constants.push(Constant::Int(WORD, vec![value]));
        Operand::Constant(ConstantId(self.module.constants.len() as u32 - 1))
    }

    fn load(&mut self, from: Operand) -> Operand {
        self.add(Opcode::Load, &[from], Detail::None, Some(SiteKind::Read))
    }

    fn store(&mut self, value: Operand, to: Operand) {
        self.add(
            Opcode::Store,
            &[value, to],
            Detail::None,
            Some(SiteKind::Write),
        );
    }

    fn call(&mut self, function: u32, operands: &[Operand]) -> Operand {
        let detail = Detail::Call {
            callee: Operand::Constant(ConstantId(function)),
            ty: WORD,
            targets: None,
        };
        self.add(Opcode::Call, operands, detail, None)
    }

    fn branch(&mut self, condition: Operand) {
        let targets = Detail::Branch(vec![BlockId(0), BlockId(0)]);
        self.add(Opcode::Br, &[condition], targets, None);
    }

    /// The influence of what the first site loads.
    fn influence(self) -> Influence {
        let model = Model::new(vec![self.module], Vec::new());
        Influences::new(&model).of(MODULE, 0)
    }
}

/// What a function makes of a value that it loads.
fn influence(then: impl FnOnce(&mut Code, Operand)) -> Influence {
    let mut code = Code::new();
    let loaded = code.load(ADDRESS);
    then(&mut code, loaded);
    code.influence()
}

#[test]
fn a_value_that_is_stored_is_data() {
    let stored = |code: &mut Code, loaded| {
        let sum = code.compute(Opcode::Add, &[loaded, Operand::Argument(1)]);
        code.store(sum, ADDRESS);
    };
    assert_eq!(influence(stored), Influence::Data);
}

#[test]
fn a_value_that_is_not_used_is_nothing() {
    assert_eq!(influence(|_, _| ()), Influence::Nothing);
    let unused = |code: &mut Code, loaded| {
        code.compute(Opcode::Mul, &[loaded, loaded]);
    };
    assert_eq!(influence(unused), Influence::Nothing);
}

#[test]
fn a_value_decides_branches_addresses_calls_and_results() {
    type Then = fn(&mut Code, Operand);
    let deciding: [Then; 8] = [
        |code, loaded| {
            let condition = code.compute(Opcode::ICmp, &[loaded, Operand::Argument(1)]);
            code.branch(condition);
        },
        |code, loaded| {
            code.add(Opcode::Switch, &[loaded], Detail::None, None);
        },
        |code, loaded| {
            let address = code.compute(Opcode::GetElementPtr, &[loaded, Operand::Argument(1)]);
            code.load(address);
        },
        |code, loaded| code.store(Operand::Argument(1), loaded),
        |code, loaded| {
            code.call(1, &[loaded]);
        },
        |code, loaded| {
            let detail = Detail::Call {
                callee: loaded,
                ty: WORD,
                targets: None,
            };
            code.add(Opcode::Call, &[], detail, None);
        },
        |code, loaded| {
            code.compute(Opcode::Ret, &[loaded]);
        },
        |code, loaded| {
            code.compute(Opcode::UDiv, &[Operand::Argument(1), loaded]);
        },
    ];
    for (number, then) in deciding.into_iter().enumerate() {
        assert_eq!(influence(then), Influence::Control, "use {number}");
    }
}

#[test]
fn a_value_that_is_stored_and_decides_is_control() {
    let both = |code: &mut Code, loaded| {
        code.store(loaded, ADDRESS);
        code.branch(loaded);
    };
    assert_eq!(influence(both), Influence::Control);
}

#[test]
fn assembly_makes_what_it_writes_from_what_it_reads() {
    type Then = fn(&mut Code, Operand);
    /// Assembly that accesses memory, and what is made of its result.
    fn assembly(text: &str, kind: SiteKind, then: Then) -> Influence {
        let mut code = Code::new();
        code.module
            .constants
            .push(Constant::Assembly(WORD, text.into()));
        let detail = Detail::Call {
            callee: Operand::Constant(ConstantId(code.module.constants.len() as u32 - 1)),
            ty: WORD,
            targets: None,
        };
        let result = code.add(Opcode::Call, &[ADDRESS], detail, Some(kind));
        then(&mut code, result);
        code.influence()
    }
    let nothing: Then = |_, _| ();
    let branch: Then = |code, result| code.branch(result);
    let store: Then = |code, result| code.store(result, ADDRESS);
    let cases = [
        ("lock; incl $0", SiteKind::Rmw, nothing, Influence::Data),
        (
            "lock; xaddl $0, $1",
            SiteKind::Rmw,
            branch,
            Influence::Control,
        ),
        (
            "movl $1, $0",
            SiteKind::AtomicLoad,
            nothing,
            Influence::Nothing,
        ),
        ("movl $1, $0", SiteKind::AtomicLoad, store, Influence::Data),
        (
            "movl $1, $0",
            SiteKind::AtomicLoad,
            branch,
            Influence::Control,
        ),
        (
            "1: lock; decl $0; jns 1b",
            SiteKind::Rmw,
            nothing,
            Influence::Control,
        ),
        (
            "1:decl $0;jns 1b",
            SiteKind::Rmw,
            nothing,
            Influence::Control,
        ),
    ];
    for (text, kind, then, expected) in cases {
        assert_eq!(assembly(text, kind, then), expected, "{text}");
    }
}

#[test]
fn a_private_slot_passes_values_on() {
    let through = |then: fn(&mut Code, Operand)| {
        influence(|code, loaded| {
            let slot = code.compute(Opcode::Alloca, &[]);
            let field = code.compute(Opcode::GetElementPtr, &[slot, Operand::Argument(1)]);
            code.compute(Opcode::Store, &[loaded, field]);
            let again = code.compute(Opcode::Load, &[slot]);
            then(code, again);
        })
    };
    assert_eq!(through(|_, _| ()), Influence::Nothing);
    assert_eq!(through(|code, it| code.store(it, ADDRESS)), Influence::Data);
    assert_eq!(through(Code::branch), Influence::Control);
    // Whose memory it is nobody knows.
    let unknown = |code: &mut Code, loaded| {
        code.compute(Opcode::Store, &[loaded, ADDRESS]);
    };
    assert_eq!(influence(unknown), Influence::Control);
}

#[test]
fn a_checked_sum_is_a_sum() {
    let checked = |flag: Vec<u32>| {
        influence(move |code, loaded| {
            let pair = code.call(2, &[loaded, Operand::Argument(1)]);
            let flag = code.add(Opcode::ExtractValue, &[pair], Detail::Indices(flag), None);
            code.branch(flag);
            let sum = code.add(
                Opcode::ExtractValue,
                &[pair],
                Detail::Indices(vec![0]),
                None,
            );
            code.store(sum, ADDRESS);
        })
    };
    assert_eq!(checked(vec![1]), Influence::Data);
    // The sum itself is no flag.
    assert_eq!(checked(vec![0]), Influence::Control);
}

#[test]
fn an_optimised_checked_sum_is_a_sum() {
    // Adds a number, after a comparison of the value with a limit.
    let checked = |limit: u64, added: u64| {
        let mut code = Code::new();
        let loaded = code.load(ADDRESS);
        let limit = code.number(limit);
        let overflows = code.compute(Opcode::ICmp, &[loaded, limit]);
        code.branch(overflows);
        let added = code.number(added);
        let sum = code.compute(Opcode::Add, &[loaded, added]);
        code.store(sum, ADDRESS);
        code.influence()
    };
    assert_eq!(checked(u64::MAX, 1), Influence::Data);
    assert_eq!(checked(i64::MAX as u64, 1), Influence::Data);
    assert_eq!(checked(u64::MAX - 7, 7), Influence::Data);
    assert_eq!(checked(5, 1), Influence::Control);
    // Whether something is left is a question of its own.
    assert_eq!(checked(0, u64::MAX), Influence::Control);
}

#[test]
fn stores_know_what_they_are_fed_by() {
    let mut code = Code::new();
    let count = code.load(ADDRESS);
    let decides = code.load(ADDRESS);
    code.branch(decides);
    let other = code.load(ADDRESS);
    let turn = code.add(Opcode::Phi, &[other], Detail::Phi(vec![BlockId(0)]), None);
    let sum = code.compute(Opcode::Add, &[count, turn]);
    let sum = code.compute(Opcode::Add, &[sum, decides]);
    code.store(sum, ADDRESS);
    code.store(Operand::Argument(1), ADDRESS);
    let model = Model::new(vec![code.module], Vec::new());
    let mut influences = Influences::new(&model);
    let feed = |load, carried| Feed { load, carried };
    assert_eq!(influences.feeds(MODULE, 3), [feed(0, false), feed(2, true)]);
    assert_eq!(influences.feeds(MODULE, 4), []);
    assert_eq!(influences.of(MODULE, 1), Influence::Control);
    // A store is no load, and what does not exist is not known.
    assert_eq!(influences.of(MODULE, 3), Influence::Control);
    assert_eq!(influences.of(MODULE, 99), Influence::Control);
    assert_eq!(influences.of(ModuleId(8), 0), Influence::Control);
    assert_eq!(influences.feeds(MODULE, 99), []);
}

#[test]
fn an_update_feeds_itself_unless_it_exchanges() {
    for (operation, expected) in [(1, Influence::Data), (0, Influence::Nothing)] {
        let mut code = Code::new();
        let detail = Detail::Memory {
            align: 8,
            order: 7,
            failure: 0,
            operation,
        };
        let operands = [ADDRESS, Operand::Argument(1)];
        code.add(Opcode::Rmw, &operands, detail, Some(SiteKind::Rmw));
        let model = Model::new(vec![code.module], Vec::new());
        let mut influences = Influences::new(&model);
        assert_eq!(influences.of(MODULE, 0), expected);
        let feeds = influences.feeds(MODULE, 0).len();
        assert_eq!(feeds, usize::from(operation != 0));
    }
}

//! Random models survive writing and reading; damaged files are errors and nothing else.

use proptest::prelude::*;
use raddle_model::{
    Block, BlockId, CallInfo, Case, Constant, ConstantId, Detail, Flags, Function, FunctionId,
    Global, GlobalId, Instruction, InstructionId, MODEL_VERSION, Model, ModelError, Module,
    ModuleId, Name, Opcode, Operand, Outline, Parameter, Position, PositionId, SiteInfo, Skipped,
    Text, Type, TypeId, TypeInfo,
};
use raddle_trace::wire::{Ordering, Role, SiteKind};

const TYPES: u32 = 4;
const CONSTANTS: u32 = 5;
const GLOBALS: u32 = 2;
const POSITIONS: u32 = 6;
const FUNCTIONS: u32 = 3;
const SITES: u32 = 7;
const BLOCKS: u32 = 3;
const INSTRUCTIONS_A_BLOCK: u32 = 4;

fn text() -> impl Strategy<Value = Text> {
    "[a-zé<>:_]{0,12}".prop_map(Text::from)
}

fn type_id() -> impl Strategy<Value = TypeId> {
    (0..TYPES).prop_map(TypeId)
}

fn constant_id() -> impl Strategy<Value = ConstantId> {
    (0..CONSTANTS).prop_map(ConstantId)
}

fn block_id() -> impl Strategy<Value = BlockId> {
    (0..BLOCKS).prop_map(BlockId)
}

fn instruction_id() -> impl Strategy<Value = InstructionId> {
    (0..BLOCKS * INSTRUCTIONS_A_BLOCK).prop_map(InstructionId)
}

fn position_id() -> impl Strategy<Value = Option<PositionId>> {
    proptest::option::of((0..POSITIONS).prop_map(PositionId))
}

fn type_info() -> impl Strategy<Value = TypeInfo> {
    let ty = prop_oneof![
        Just(Type::Void),
        any::<u32>().prop_map(Type::Int),
        Just(Type::X86Fp80),
        any::<u32>().prop_map(Type::Pointer),
        (type_id(), any::<u32>(), any::<bool>()).prop_map(|(element, len, scalable)| {
            Type::Vector {
                element,
                len,
                scalable,
            }
        }),
        (type_id(), any::<u64>()).prop_map(|(element, len)| Type::Array { element, len }),
        (
            proptest::collection::vec((type_id(), any::<u64>()), 0..4),
            any::<bool>()
        )
            .prop_map(|(fields, packed)| Type::Struct { fields, packed }),
        (
            type_id(),
            proptest::collection::vec(type_id(), 0..3),
            any::<bool>()
        )
            .prop_map(|(result, params, variadic)| Type::Function {
                result,
                params,
                variadic
            }),
        Just(Type::Other),
    ];
    (ty, any::<u64>(), any::<u64>()).prop_map(|(ty, size, store_size)| TypeInfo {
        ty,
        size,
        store_size,
    })
}

fn opcode() -> impl Strategy<Value = Opcode> {
    proptest::sample::select(Opcode::ALL)
}

fn constant() -> impl Strategy<Value = Constant> {
    let words = proptest::collection::vec(any::<u64>(), 0..3);
    let operands = proptest::collection::vec(constant_id(), 0..3);
    prop_oneof![
        (type_id(), words).prop_map(|(ty, words)| Constant::Int(ty, words)),
        type_id().prop_map(Constant::Zero),
        (type_id(), proptest::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(ty, bytes)| Constant::Data(ty, bytes)),
        (0..GLOBALS).prop_map(|id| Constant::Global(GlobalId(id))),
        (0..FUNCTIONS).prop_map(|id| Constant::Function(FunctionId(id))),
        (
            opcode(),
            type_id(),
            operands,
            proptest::option::of(type_id())
        )
            .prop_map(|(opcode, ty, operands, source)| Constant::Expression {
                opcode,
                ty,
                operands,
                source
            }),
        (type_id(), text()).prop_map(|(ty, text)| Constant::Assembly(ty, text)),
    ]
}

fn global() -> impl Strategy<Value = Global> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (
        text(),
        text(),
        type_id(),
        flags,
        proptest::option::of(constant_id()),
    )
        .prop_map(
            |(name, readable, ty, (constant, thread_local, external), initializer)| Global {
                name,
                readable,
                ty,
                constant,
                thread_local,
                external,
                initializer,
            },
        )
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        instruction_id().prop_map(Operand::Instruction),
        any::<u32>().prop_map(Operand::Argument),
        constant_id().prop_map(Operand::Constant),
        block_id().prop_map(Operand::Block),
        Just(Operand::Metadata),
    ]
}

fn detail() -> impl Strategy<Value = Detail> {
    let case = (constant_id(), block_id()).prop_map(|(value, target)| Case { value, target });
    prop_oneof![
        Just(Detail::None),
        any::<u8>().prop_map(Detail::Compare),
        type_id().prop_map(Detail::Address),
        (type_id(), any::<u32>()).prop_map(|(ty, align)| Detail::Alloca { ty, align }),
        any::<(u32, u8, u8, u8)>().prop_map(|(align, order, failure, operation)| {
            Detail::Memory {
                align,
                order,
                failure,
                operation,
            }
        }),
        proptest::collection::vec(block_id(), 0..3).prop_map(Detail::Branch),
        (block_id(), proptest::collection::vec(case, 0..3))
            .prop_map(|(default, cases)| Detail::Switch { default, cases }),
        (
            operand(),
            type_id(),
            proptest::option::of((block_id(), block_id()))
        )
            .prop_map(|(callee, ty, targets)| Detail::Call {
                callee,
                ty,
                targets
            }),
        proptest::collection::vec(any::<u32>(), 0..3).prop_map(Detail::Mask),
        any::<bool>().prop_map(Detail::LandingPad),
    ]
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let operands = proptest::collection::vec(operand(), 0..4);
    let sites = (0..SITES, 0..SITES).prop_map(|(a, b)| if a < b { a..b } else { 0..0 });
    (
        opcode(),
        type_id(),
        operands,
        detail(),
        any::<u16>(),
        sites,
        position_id(),
    )
        .prop_map(
            |(opcode, ty, operands, detail, flags, sites, position)| Instruction {
                opcode,
                ty,
                operands,
                detail,
                flags: Flags(flags),
                sites,
                position,
            },
        )
}

fn function() -> impl Strategy<Value = Function> {
    let param =
        (type_id(), proptest::option::of(text())).prop_map(|(ty, name)| Parameter { ty, name });
    let block = proptest::collection::vec(instruction(), INSTRUCTIONS_A_BLOCK as usize);
    let blocks = proptest::collection::vec(block, BLOCKS as usize);
    let params = proptest::collection::vec(param, 0..3);
    (
        text(),
        text(),
        position_id(),
        type_id(),
        params,
        any::<bool>(),
        blocks,
    )
        .prop_map(
            |(linkage_name, name, position, ty, params, instrumented, blocks)| Function {
                linkage_name,
                name,
                position,
                ty,
                params,
                instrumented,
                blocks: (0..)
                    .step_by(INSTRUCTIONS_A_BLOCK as usize)
                    .zip(blocks)
                    .map(|(first, instructions)| Block {
                        first,
                        instructions,
                    })
                    .collect(),
            },
        )
}

fn positions() -> impl Strategy<Value = Vec<Position>> {
    let one = (
        text(),
        text(),
        any::<u32>(),
        any::<u32>(),
        any::<Option<u32>>(),
    );
    proptest::collection::vec(one, POSITIONS as usize).prop_map(|all| {
        let make = |(index, (function, file, line, column, outer)): (
            usize,
            (Text, Text, u32, u32, Option<u32>),
        )| Position {
            function,
            file,
            line,
            column,
            inlined_at: outer
                .filter(|_| index > 0)
                .map(|outer| PositionId(outer % index as u32)),
        };
        all.into_iter().enumerate().map(make).collect()
    })
}

fn site() -> impl Strategy<Value = SiteInfo> {
    let kind = proptest::sample::select(&[SiteKind::Read, SiteKind::Cas, SiteKind::Exit][..]);
    let order = proptest::sample::select(&[Ordering::Plain, Ordering::SeqCst][..]);
    let role = proptest::sample::select(&[Role::None, Role::Lock, Role::Downgrade][..]);
    let instruction = proptest::option::of(instruction_id());
    let name = proptest::option::of(name());
    (
        kind,
        order,
        any::<u8>(),
        role,
        0..FUNCTIONS,
        instruction,
        position_id(),
        name,
    )
        .prop_map(
            |(kind, order, size, role, function, instruction, position, name)| SiteInfo {
                kind,
                order,
                size,
                role,
                function: FunctionId(function),
                instruction,
                position,
                name,
            },
        )
}

fn name() -> impl Strategy<Value = Name> {
    let parts = (text(), proptest::option::of(text()), any::<bool>());
    parts.prop_map(|(text, owner, is_global)| Name {
        text,
        owner,
        is_global,
    })
}

fn call() -> impl Strategy<Value = CallInfo> {
    (0..POSITIONS, name()).prop_map(|(position, object)| CallInfo {
        position: PositionId(position),
        object,
    })
}

fn module() -> impl Strategy<Value = Module> {
    let tables = (
        proptest::collection::vec(type_info(), TYPES as usize),
        proptest::collection::vec(constant(), CONSTANTS as usize),
        proptest::collection::vec(global(), GLOBALS as usize),
        positions(),
        proptest::collection::vec(function(), FUNCTIONS as usize),
        proptest::collection::vec(site(), SITES as usize),
        proptest::collection::vec(call(), 0..3),
    );
    (any::<u64>(), text(), text(), tables).prop_map(|(id, name, triple, tables)| Module {
        id,
        name,
        triple,
        data_layout: "e-m:e".into(),
        types: tables.0,
        constants: tables.1,
        globals: tables.2,
        positions: tables.3,
        functions: tables.4,
        sites: tables.5,
        calls: tables.6,
    })
}

fn model() -> impl Strategy<Value = Model> {
    let skipped = (text(), text()).prop_map(|(object, reason)| Skipped { object, reason });
    let skipped = proptest::collection::vec(skipped, 0..3);
    (proptest::collection::vec(module(), 0..3), skipped)
        .prop_map(|(modules, skipped)| Model::new(modules, skipped))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_gives_back_what_was_written(model in model()) {
        let back = Model::from_bytes(&model.to_bytes()).expect("a whole file");
        prop_assert_eq!(&back, &model);
        for module in model.modules() {
            for index in 0..SITES {
                let site = back.site(ModuleId(module.id), index).expect("every site is found");
                prop_assert_eq!(site.info(), &module.sites[index as usize]);
                prop_assert!(site.frames().count() <= POSITIONS as usize);
            }
        }
    }

    #[test]
    fn an_outline_names_sites_as_the_model_does(model in model()) {
        let bytes = model.to_bytes();
        let outline = Outline::from_bytes(&bytes).expect("a whole file");
        for module in model.modules() {
            for index in 0..SITES {
                let id = ModuleId(module.id);
                let site = outline.site(id, index).expect("every site is found");
                let whole = model.site(id, index).expect("every site is found");
                prop_assert_eq!(site.info(), whole.info());
                prop_assert_eq!(site.container(), whole.container());
                prop_assert!(site.frames().eq(whole.frames()));
            }
        }
        let positions = model.modules().iter().flat_map(|it| &it.positions);
        prop_assert!(outline.positions().eq(positions));
        let ids: Vec<ModuleId> = model.modules().iter().map(|it| ModuleId(it.id)).collect();
        prop_assert_eq!(Model::module_ids(&bytes).expect("a whole file"), ids);
    }

    #[test]
    fn a_cut_file_is_an_error(model in model(), cut in any::<prop::sample::Index>()) {
        let bytes = model.to_bytes();
        prop_assert!(Model::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn a_changed_byte_never_panics(model in model(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = model.to_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(model) = Model::from_bytes(&bytes) {
            for module in model.modules() {
                for index in 0..module.sites.len() as u32 {
                    let site = module.site(index).expect("it is in the table");
                    let _ = (site.function(), site.container(), site.line());
                }
            }
        }
    }
}

#[test]
fn errors_say_where() {
    assert!(matches!(
        Model::from_bytes(b"ELF"),
        Err(ModelError::NotAModel)
    ));
    let other = Model::from_bytes(b"RDLM\x7f");
    assert!(matches!(other, Err(ModelError::Version { found: 0x7f })));
    let mut bytes = Model::default().to_bytes();
    bytes.push(0);
    let trailing = Model::from_bytes(&bytes);
    assert!(matches!(
        trailing,
        Err(ModelError::Trailing { extra: 1, .. })
    ));
}

#[test]
fn what_was_left_alone_is_read_without_the_modules() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("program.raddle");
    for count in [0, 3, 5000] {
        let skipped = (0..count).map(|number| Skipped {
            object: format!("/usr/lib/vendor/object-{number}.o").into(),
            reason: "it has no bitcode".into(),
        });
        let model = Model::new(vec![Module::default()], skipped.collect());
        model.write(&path).expect("a file");
        let read = Model::read_skipped(&path).expect("a whole file");
        assert_eq!(read, model.skipped);
    }
    let version = u8::try_from(MODEL_VERSION).expect("a small number");
    let start = [b"RDLM", &[version, 5][..]].concat();
    std::fs::write(&path, start).expect("a file");
    let cut = Model::read_skipped(&path);
    assert!(matches!(cut, Err(ModelError::Truncated { .. })), "{cut:?}");
}

//! The hook functions of a module.

use std::mem::offset_of;

use raddle_trace::wire::{Mark, SLOT_BYTES, Slot};

use crate::error::Error;
use crate::llvm::{Module, Value};
use crate::settings::OptLevel;

/// How hooks are put into a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Everything inline: fastest to run.
    Inline,
    /// Event and branch hooks stay functions, which save the registers they use: quicker to
    /// compile, slower to run. For the toolchain's own libraries, of which most is never run.
    Outlined,
}

impl Style {
    /// How hard the code generator tries. The toolchain's libraries are optimised already, and
    /// generating their code is nearly all that a first build waits for.
    pub(super) fn code_level(self, opt: OptLevel) -> OptLevel {
        match self {
            Style::Inline => opt,
            Style::Outlined => OptLevel::O0,
        }
    }

    /// What is run once the hooks are in place. No pass moves an access across a hook, which may call the runtime.
    pub(super) fn after_hooks(self) -> &'static str {
        match self {
            Style::Inline => "always-inline,globaldce,function(mem2reg,early-cse,dce)",
            Style::Outlined => "always-inline,globaldce,function(mem2reg,dce)",
        }
    }
}

/// The hooks that move the cursor or the branch outcomes, in one of their two forms.
#[derive(Clone, Copy)]
pub(super) struct Family<'m> {
    pub(super) event: Value<'m>,
    pub(super) next: Value<'m>,
    pub(super) extra: Value<'m>,
    pub(super) branch: Value<'m>,
}

/// Handles of the hook functions linked into a module.
pub(super) struct Hooks<'m> {
    /// They take the function's [`Copies`](super::copies::Copies) before their other arguments.
    pub(super) inlined: Family<'m>,
    /// Calls, but for `extra`. They work on the thread-locals themselves.
    pub(super) called: Family<'m>,
    pub(super) reload: Value<'m>,
    pub(super) fill: Value<'m>,
    pub(super) fill_extra: Value<'m>,
    pub(super) panic: Value<'m>,
    pub(super) pin: Value<'m>,
}

/// Functions whose names begin so are Raddle's own.
pub(super) const PREFIX: &str = "__raddle_";

/// Which registers a module's code may keep vectors in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vectors {
    /// The lower halves of xmm0 to xmm15, of which the runtime keeps the first twelve.
    Sse,
    /// Any. What the runtime's own code and libc's leave of wider registers is not known.
    All,
}

/// Features of a processor by which code has no more than SSE's registers.
const SSE_FEATURES: &[&str] = &[
    "cmov", "crc32", "cx16", "cx8", "fxsr", "lzcnt", "mmx", "popcnt", "sahf", "sse", "sse2",
    "sse3", "sse4.1", "sse4.2", "ssse3", "x87",
];

/// Processors with these features alone.
const SSE_PROCESSORS: &[&str] = &["x86-64", "x86-64-v2"];

impl Vectors {
    fn of(module: &Module) -> Vectors {
        let is_narrow = |function: Value<'_>| {
            let processor = function.text_attribute("target-cpu");
            let features = function.text_attribute("target-features");
            let mut added = features.iter().flat_map(|it| it.split(','));
            processor.is_none_or(|it| SSE_PROCESSORS.contains(&it.as_str()))
                && added.all(|it| match it.strip_prefix('+') {
                    Some(feature) => SSE_FEATURES.contains(&feature),
                    None => true,
                })
        };
        let mut defined = module.functions().filter(|it| !it.is_declaration());
        match defined.all(is_narrow) {
            true => Vectors::Sse,
            false => Vectors::All,
        }
    }

    /// What inline assembly that enters the runtime does not keep. The code generator looks each name up among all
    /// registers of all classes, at each event: with the longer list that took a third of its time.
    fn clobbers(self) -> String {
        let mut names: Vec<String> = match self {
            Vectors::Sse => (12..16).map(|it| format!("xmm{it}")).collect(),
            Vectors::All => {
                let vectors = (0..32).map(|it| format!("xmm{it}"));
                vectors.chain((1..8).map(|it| format!("k{it}"))).collect()
            }
        };
        names.extend(["memory".to_owned(), "flags".to_owned()]);
        let names: Vec<String> = names.iter().map(|it| format!("~{{{it}}}")).collect();
        names.join(",")
    }
}

/// The hooks' IR, with the layouts' numbers in place.
pub(super) fn text(vectors: Vectors) -> String {
    include_str!("hooks.ll")
        .replace("{CLOBBERS}", &vectors.clobbers())
        .replace("{ADDR}", &offset_of!(Slot, addr).to_string())
        .replace("{VALUE}", &offset_of!(Slot, value).to_string())
        .replace("{SLOT}", &SLOT_BYTES.to_string())
        .replace("{EXTRA}", &(Mark::Extra as u16).to_string())
}

impl<'m> Hooks<'m> {
    /// Links the hooks into a module. Their linkage is `weak_odr` because the IR linker drops
    /// unreferenced `linkonce` bodies, and nothing refers to them yet.
    pub(super) fn link(module: &'m Module) -> Result<Hooks<'m>, Error> {
        module.link_text(&text(Vectors::of(module)))?;
        let find = |name: &str| {
            let name = format!("{PREFIX}{name}");
            module.function(&name).ok_or_else(|| Error::Llvm {
                doing: "linking hooks into",
                what: module.name().to_owned(),
                message: format!("{name} is missing"),
            })
        };
        let family = |suffix: &str| {
            let find = |name: &str| find(&format!("{name}{suffix}"));
            Ok::<_, Error>(Family {
                event: find("event")?,
                next: find("next")?,
                extra: find("extra")?,
                branch: find("branch")?,
            })
        };
        let called = family("")?;
        for function in [called.event, called.next, called.branch] {
            function.remove_attribute("alwaysinline");
            module.add_enum_attribute(function, "noinline");
            function.set_preserve_most();
        }
        Ok(Hooks {
            inlined: family("_at")?,
            called,
            reload: find("reload")?,
            fill: find("fill")?,
            fill_extra: find("fill_extra")?,
            panic: find("panicked")?,
            pin: find("pin")?,
        })
    }

    /// Lets the hooks' bodies be dropped once they are inlined everywhere.
    pub(super) fn make_internal(&self) {
        for function in self.bodies() {
            function.set_internal();
        }
    }

    /// Whether a function is a hook that leaves the copies of the thread-locals true.
    pub(super) fn keeps_copies(&self, function: Value<'m>) -> bool {
        let family = self.inlined;
        let keep = [family.event, family.next, family.extra, family.branch];
        keep.contains(&function) || [self.reload, self.fill, self.fill_extra].contains(&function)
    }

    fn bodies(&self) -> impl Iterator<Item = Value<'m>> {
        let families = [self.inlined, self.called];
        let moving = families.map(|it| [it.event, it.next, it.extra, it.branch]);
        let others = [
            self.reload,
            self.fill,
            self.fill_extra,
            self.panic,
            self.pin,
        ];
        moving.into_iter().flatten().chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_with_wider_registers_is_told_apart() {
        let of = |attributes: &str| {
            let text = format!(
                "declare void @other() \"target-cpu\"=\"znver4\"\ndefine void @f() {attributes} {{ ret void }}"
            );
            Vectors::of(&Module::parse_text(&text, "test").expect("valid IR"))
        };
        for narrow in [
            "",
            r#""target-cpu"="x86-64""#,
            r#""target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87""#,
            r#""target-features"="+sse4.2,-avx""#,
        ] {
            assert_eq!(of(narrow), Vectors::Sse, "{narrow}");
        }
        for wide in [
            r#""target-cpu"="znver4""#,
            r#""target-cpu"="x86-64-v3""#,
            r#""target-cpu"="x86-64" "target-features"="+sse2,+avx2""#,
            r#""target-features"="+fma""#,
        ] {
            assert_eq!(of(wide), Vectors::All, "{wide}");
        }
    }
}

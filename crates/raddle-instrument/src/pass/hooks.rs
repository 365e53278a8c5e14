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
}

/// Handles of the hook functions linked into a module. The first four take the function's
/// [`Copies`](super::copies::Copies) before their other arguments, if there are such copies.
pub(super) struct Hooks<'m> {
    pub(super) event: Value<'m>,
    pub(super) next: Value<'m>,
    pub(super) extra: Value<'m>,
    pub(super) branch: Value<'m>,
    pub(super) reload: Value<'m>,
    pub(super) fill: Value<'m>,
    pub(super) fill_extra: Value<'m>,
    pub(super) panic: Value<'m>,
    /// Bodies that nobody calls from outside the hooks.
    others: Vec<Value<'m>>,
}

/// Functions whose names begin so are Raddle's own.
pub(super) const PREFIX: &str = "__raddle_";

/// The hooks' IR, with the layouts' numbers in place.
pub(super) fn text() -> String {
    include_str!("hooks.ll")
        .replace("{ADDR}", &offset_of!(Slot, addr).to_string())
        .replace("{VALUE}", &offset_of!(Slot, value).to_string())
        .replace("{SLOT}", &SLOT_BYTES.to_string())
        .replace("{EXTRA}", &(Mark::Extra as u16).to_string())
}

impl<'m> Hooks<'m> {
    /// Links the hooks into a module. Their linkage is `weak_odr` because the IR linker drops
    /// unreferenced `linkonce` bodies, and nothing refers to them yet.
    pub(super) fn link(module: &'m Module, style: Style) -> Result<Hooks<'m>, Error> {
        module.link_text(&text())?;
        let find = |name: &str| {
            let name = format!("{PREFIX}{name}");
            module.function(&name).ok_or_else(|| Error::Llvm {
                doing: "linking hooks into",
                what: module.name().to_owned(),
                message: format!("{name} is missing"),
            })
        };
        let (own, other) = match style {
            Style::Inline => ("_at", ""),
            Style::Outlined => ("", "_at"),
        };
        let of_style = |name: &str| find(&format!("{name}{own}"));
        let others = ["event", "next", "extra", "branch"].map(|name| format!("{name}{other}"));
        let hooks = Hooks {
            event: of_style("event")?,
            next: of_style("next")?,
            extra: of_style("extra")?,
            branch: of_style("branch")?,
            reload: find("reload")?,
            fill: find("fill")?,
            fill_extra: find("fill_extra")?,
            panic: find("panicked")?,
            others: others
                .iter()
                .map(|name| find(name))
                .collect::<Result<_, _>>()?,
        };
        if style == Style::Outlined {
            for function in [hooks.event, hooks.next, hooks.branch] {
                function.remove_attribute("alwaysinline");
                module.add_enum_attribute(function, "noinline");
                function.set_preserve_most();
            }
        }
        Ok(hooks)
    }

    /// Lets the hooks' bodies be dropped once they are inlined everywhere.
    pub(super) fn make_internal(&self) {
        for function in self.bodies() {
            function.set_internal();
        }
    }

    /// Whether a function is a hook that leaves the copies of the thread-locals true.
    pub(super) fn keeps_copies(&self, function: Value<'m>) -> bool {
        function != self.panic && self.bodies().any(|body| body == function)
    }

    fn bodies(&self) -> impl Iterator<Item = Value<'m>> {
        let called = [
            self.event,
            self.next,
            self.extra,
            self.branch,
            self.reload,
            self.fill,
            self.fill_extra,
            self.panic,
        ];
        called.into_iter().chain(self.others.iter().copied())
    }
}

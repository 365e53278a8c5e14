//! From program counters back to source positions.
//!
//! Programs are loaded without address randomisation, but a position-independent executable still
//! has a bias that its file doesn't tell. The runtime reports where the `raddle_sites` section of
//! each image was; the difference to the section's address in the file is the bias. Counters in
//! shared libraries stay unnamed.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection, ReadCache};
use raddle_trace::packages::Packages;
use raddle_trace::position::SourcePosition;
use raddle_trace::wire::{Image, SITES_SECTION};

/// Whether a position is in the language's own libraries, which is rarely where the user wants to
/// be pointed at.
pub fn is_library(position: &SourcePosition) -> bool {
    raddle_model::is_library_file(&position.file)
}

/// The innermost position that is the user's own code, else that of a package, else the innermost one of all. What the
/// compiler has made up itself has no line, and is passed over where anything else is known.
pub fn interesting<'a>(
    positions: &'a [SourcePosition],
    packages: &Packages,
) -> Option<&'a SourcePosition> {
    let is_language = |it: &&SourcePosition| raddle_model::is_language_file(&it.file);
    let is_own = |it: &&SourcePosition| !is_library(it) && !packages.is_dependency(&it.file);
    let with_line = || positions.iter().filter(|it| it.line != 0);
    with_line()
        .find(is_own)
        .or_else(|| with_line().find(|it| !is_language(it)))
        .or_else(|| positions.iter().find(|it| !is_language(it)))
        .or_else(|| with_line().next())
        .or_else(|| positions.first())
}

/// The innermost position in a package's code, if it is the user's code that called it: where a dependency did what
/// the interesting position stands for.
pub fn inside_package<'a>(
    positions: &'a [SourcePosition],
    packages: &Packages,
) -> Option<&'a SourcePosition> {
    let is_language = |it: &SourcePosition| raddle_model::is_language_file(&it.file);
    let shown = interesting(positions, packages)?;
    let inner = positions.iter().take_while(|it| *it != shown);
    inner
        .into_iter()
        .find(|it| it.line != 0 && !is_language(it))
}

/// The inlining chain of a site, innermost first.
pub fn site_positions(site: raddle_model::Site<'_>) -> Vec<SourcePosition> {
    let frames = site.frames().map(|frame| SourcePosition {
        function: frame.function.to_owned(),
        file: frame.file.to_owned(),
        line: frame.line,
        column: frame.column,
    });
    frames.collect()
}

/// Names the program counters of one executable.
pub struct Symbols {
    loader: Option<addr2line::Loader>,
    layout: Layout,
    images: Vec<Image>,
}

/// Where an executable was loaded.
#[derive(Clone, Copy, Default)]
struct Layout {
    /// How far from the addresses in its file.
    bias: u64,
    /// End of its highest section, as an address in its file.
    end: u64,
}

impl Symbols {
    /// Opens an executable that was loaded with these images. A file without debug information
    /// gives symbols that know nothing.
    pub fn load(binary: &Path, images: &[Image]) -> Symbols {
        Symbols {
            loader: addr2line::Loader::new(binary).ok(),
            layout: layout(binary, images).unwrap_or_default(),
            images: images.to_vec(),
        }
    }

    /// The images of the run that they are for.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The functions that a return address lies in, innermost inlined one first.
    pub fn return_address(&self, address: u64) -> Vec<SourcePosition> {
        // The call is before the address it returns to, which may be another line already.
        self.program_counter(address.wrapping_sub(1))
    }

    /// The functions that an instruction lies in, innermost inlined one first.
    pub fn program_counter(&self, address: u64) -> Vec<SourcePosition> {
        let Some(loader) = &self.loader else {
            return Vec::new();
        };
        let probe = address.wrapping_sub(self.layout.bias);
        if probe >= self.layout.end {
            return Vec::new();
        }
        let mut frames = Vec::new();
        if let Ok(mut iter) = loader.find_frames(probe) {
            while let Ok(Some(frame)) = iter.next() {
                let name = frame.function.as_ref().and_then(|it| it.raw_name().ok());
                let location = frame.location.as_ref();
                let file = location.and_then(|it| it.file);
                frames.push(SourcePosition {
                    function: name.map(|it| demangle(&it)).unwrap_or_default(),
                    file: file.unwrap_or_default().to_owned(),
                    line: location.and_then(|it| it.line).unwrap_or(0),
                    column: location.and_then(|it| it.column).unwrap_or(0),
                });
            }
        }
        if frames.is_empty() {
            let function = loader.find_symbol(probe).map(demangle);
            frames.extend(function.map(|function| SourcePosition {
                function,
                ..SourcePosition::default()
            }));
        }
        frames
    }

    /// A whole stack of return addresses, innermost first, without the counters nobody can name.
    pub fn stack(&self, addresses: &[u64]) -> Vec<SourcePosition> {
        let frames = addresses.iter().flat_map(|it| self.return_address(*it));
        frames.filter(|it| !it.file.is_empty()).collect()
    }
}

fn layout(binary: &Path, images: &[Image]) -> Option<Layout> {
    let bytes = ReadCache::new(fs::File::open(binary).ok()?);
    let file = object::File::parse(&bytes).ok()?;
    let section = file.section_by_name(SITES_SECTION)?;
    // The executable is the image whose section is as long as the file says; its constructors
    // run after those of its libraries, so it's the last such one.
    let image = images.iter().rev().find(|it| it.len == section.size())?;
    let ends = file
        .sections()
        .map(|it| it.address().saturating_add(it.size()));
    Some(Layout {
        bias: image.start.wrapping_sub(section.address()),
        end: ends.max()?,
    })
}

/// The source name of a Rust or C++ symbol, or the symbol itself.
pub fn demangle(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    // A parser of types would take a C function's `f` for `float`.
    let is_mangled = symbol.starts_with("_Z");
    let parsed = is_mangled.then(|| cpp_demangle::Symbol::new(symbol).ok());
    let name = parsed.flatten().and_then(|it| it.demangle().ok());
    name.unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_languages_are_demangled() {
        let rust = "_ZN4core9panicking9panic_fmt17h0123456789abcdefE";
        assert_eq!(demangle(rust), "core::panicking::panic_fmt");
        assert_eq!(demangle("_ZN3Foo3barEi"), "Foo::bar(int)");
        assert_eq!(demangle("main"), "main");
        assert_eq!(demangle("f"), "f");
    }

    fn at(file: &str, line: u32) -> SourcePosition {
        SourcePosition {
            file: file.into(),
            line,
            ..SourcePosition::default()
        }
    }

    #[test]
    fn the_users_own_code_is_more_interesting_than_the_library() {
        let none = Packages::default();
        let library = at("/rustc/abc/library/std/src/panicking.rs", 0);
        let stack = [library.clone(), at("bank.rs", 0), at("main.rs", 0)];
        assert_eq!(interesting(&stack, &none), Some(&stack[1]));
        let only = std::slice::from_ref(&library);
        assert_eq!(interesting(only, &none), Some(&library));
    }

    #[test]
    fn a_packages_code_is_told_beside_the_users() {
        let core = at("/rustc/abc/library/core/src/sync/atomic.rs", 9);
        let own = at("/ws/src/main.rs", 7);
        let packages = Packages::parse("own /ws\ndependency /ws/vendor/spin\ndependency /spin\n");
        // From a registry, from a repository, vendored, beside the workspace.
        for dir in [
            "/home/me/.cargo/registry/src/index/spin-0.9.0",
            "/home/me/.cargo/git/checkouts/spin-1/0a1b",
            "/ws/vendor/spin",
            "/spin",
        ] {
            let glue = at(&format!("{dir}/src/lib.rs"), 0);
            let package = at(&format!("{dir}/src/mutex.rs"), 3);
            let stack = [core.clone(), glue, package.clone(), own.clone()];
            assert_eq!(interesting(&stack, &packages), Some(&own), "{dir}");
            assert_eq!(inside_package(&stack, &packages), Some(&package), "{dir}");
            let without = &stack[..3];
            let shown = interesting(without, &packages);
            assert_eq!(shown, Some(&package), "{dir}: the line counts");
            assert_eq!(inside_package(without, &packages), None, "{dir}");
        }
        assert_eq!(inside_package(&[core, own], &packages), None);
    }

    #[test]
    fn a_file_without_symbols_names_nothing() {
        let symbols = Symbols::load(Path::new("/dev/null"), &[]);
        assert_eq!(symbols.stack(&[0x1000]), []);
    }
}

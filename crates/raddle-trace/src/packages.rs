//! Which source files belong to packages that the checked program depends on.
//!
//! Packages from a registry are known by their paths. Those that a manifest names by `path =`, and vendored ones, may lie
//! anywhere: their directories are listed when the program is built, and so are those of the packages that are checked.

use std::path::Path;

/// A package that a program was built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Where its manifest is.
    pub dir: String,
    /// Whether it is of the workspace that is checked, and not only a dependency.
    pub is_own: bool,
}

/// The packages that a program was built from, as far as their paths do not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packages(pub Vec<Package>);

/// How the lines of a list begin.
const OWN: &str = "own ";
const DEPENDENCY: &str = "dependency ";

impl Packages {
    /// Whether a file is a dependency's. It belongs to the package whose directory is the nearest: one may lie in another.
    #[must_use]
    pub fn is_dependency(&self, file: &str) -> bool {
        let holds = |it: &&Package| Path::new(file).starts_with(&it.dir);
        let nearest = self.0.iter().filter(holds).max_by_key(|it| it.dir.len());
        nearest.is_some_and(|it| !it.is_own)
    }

    /// The list as text, a package a line.
    #[must_use]
    pub fn print(&self) -> String {
        let lines = self.0.iter().map(|it| {
            let start = if it.is_own { OWN } else { DEPENDENCY };
            format!("{start}{}\n", it.dir)
        });
        lines.collect()
    }

    /// Reads the text back; lines that say nothing are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let package = |line: &str| {
            let own = line.strip_prefix(OWN).map(|dir| (dir, true));
            let (dir, is_own) = own.or(line.strip_prefix(DEPENDENCY).map(|dir| (dir, false)))?;
            let dir = dir.to_owned();
            Some(Package { dir, is_own })
        };
        Self(text.lines().filter_map(package).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_nearest_package() {
        let text = "own /ws\ndependency /ws/vendor/deque\nown /lib/fuzz\ndependency /lib\nnoise\n";
        let packages = Packages::parse(text);
        assert_eq!(packages.print(), text.replace("noise\n", ""));
        for (file, expected) in [
            ("/ws/src/main.rs", false),
            ("/ws/vendor/deque/src/lib.rs", true),
            ("/ws/vendor/deque-of-mine/src/lib.rs", false),
            ("/lib/src/lib.rs", true),
            ("/lib/fuzz/src/main.rs", false),
            ("/elsewhere/main.rs", false),
            ("", false),
        ] {
            assert_eq!(packages.is_dependency(file), expected, "{file}");
        }
    }
}

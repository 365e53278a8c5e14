//! Which program of a package is meant.

use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Result, bail};
use clap::Args;
use raddle_instrument::CargoExecutable;
use raddle_run::program::Program;
use raddle_trace::run::Cwd;

use super::cargo;
use crate::launch::Surroundings;
use crate::untraced;

/// Cargo's options that say what is built, and how.
#[derive(Args)]
pub struct PackageArgs {
    /// The package; of `test`, several
    #[arg(long, short)]
    package: Vec<String>,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<OsString>,
    /// Features to activate
    #[arg(long, short = 'F')]
    features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    no_default_features: bool,
    /// Build in release mode
    #[arg(long, short)]
    release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    profile: Option<String>,
    /// One more argument for Cargo
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    cargo_arg: Vec<OsString>,
}

impl PackageArgs {
    /// The same for Cargo.
    pub fn to_cargo(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        let mut add = |name: &str, value: OsString| args.extend([name.into(), value]);
        self.package
            .iter()
            .for_each(|it| add("--package", it.into()));
        self.features
            .iter()
            .for_each(|it| add("--features", it.into()));
        let manifest = self.manifest_path.iter();
        manifest.for_each(|it| add("--manifest-path", it.clone()));
        self.profile
            .iter()
            .for_each(|it| add("--profile", it.into()));
        let switches = [
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
        ];
        let set = switches.into_iter().filter(|(_, is_set)| *is_set);
        args.extend(set.map(|(name, _)| name.into()));
        args.extend(self.cargo_arg.iter().cloned());
        args
    }
}

/// Which program of the package.
#[derive(Args)]
pub struct TargetArgs {
    /// Name of the binary to run
    #[arg(long)]
    bin: Option<String>,
    /// Name of the example to run
    #[arg(long, conflicts_with = "bin")]
    example: Option<String>,
    /// Name of the integration test to run, as one program
    #[arg(long, conflicts_with_all = ["bin", "example"])]
    test: Option<String>,
    /// Run the library's unit tests, as one program
    #[arg(long, conflicts_with_all = ["bin", "example", "test"])]
    lib: bool,
    #[command(flatten)]
    package: PackageArgs,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl TargetArgs {
    /// Builds the program, and puts it into its surroundings.
    pub fn program(&self, surroundings: &Surroundings) -> Result<Program> {
        let command = match self.kind() {
            "test" => "test",
            _ => "build",
        };
        let executables = cargo(command, &self.build_args())?;
        let executable = self.pick(&executables)?;
        let program = prepare(executable, self.args.clone(), surroundings)?;
        untraced::tell(&program);
        Ok(program)
    }

    fn kind(&self) -> &'static str {
        match self {
            TargetArgs { test: Some(_), .. } | TargetArgs { lib: true, .. } => "test",
            TargetArgs {
                example: Some(_), ..
            } => "example",
            _ => "bin",
        }
    }

    fn build_args(&self) -> Vec<OsString> {
        let named = [
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--test", &self.test),
        ];
        let mut args: Vec<OsString> = Vec::new();
        for (name, value) in named {
            args.extend(value.iter().flat_map(|it| [name.into(), it.into()]));
        }
        args.extend(self.lib.then(|| "--lib".into()));
        args.extend((self.kind() == "test").then(|| "--no-run".into()));
        args.extend(self.package.to_cargo());
        args
    }

    /// The one program that was meant.
    fn pick<'a>(&self, executables: &'a [CargoExecutable]) -> Result<&'a CargoExecutable> {
        let kind = self.kind();
        let mut fits: Vec<_> = executables.iter().filter(|it| it.kind == kind).collect();
        if fits.iter().any(|it| it.is_default) {
            fits.retain(|it| it.is_default || self.bin.is_some());
        }
        match fits.as_slice() {
            [one] => Ok(one),
            [] => bail!("the package has no {kind} to run"),
            several => {
                let names: Vec<_> = several.iter().map(|it| it.name.as_str()).collect();
                bail!("which one? Choose with --{kind}: {}", names.join(", "))
            }
        }
    }
}

/// Makes an executable of Cargo's ready to run, as Cargo would run it.
pub fn prepare(
    executable: &CargoExecutable,
    args: Vec<OsString>,
    surroundings: &Surroundings,
) -> Result<Program> {
    let mut program = Program::new(&executable.built.binary, args)?;
    surroundings.apply(&mut program)?;
    let is_set = |name: &OsString| surroundings.env.iter().any(|(it, _)| it == name);
    let added = executable.env.iter().filter(|(name, _)| !is_set(name));
    let mut env: BTreeMap<_, _> = program.env.into_iter().collect();
    env.extend(added.cloned());
    program.env = env.into_iter().collect();
    if executable.kind == "test" && !executable.dir.as_os_str().is_empty() {
        program.cwd = Cwd::Path(executable.dir.clone());
    }
    Ok(program)
}

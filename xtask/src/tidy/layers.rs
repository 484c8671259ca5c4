//! Who may depend on whom.

use anyhow::{Context, Result};

use super::{Finding, Repo};
use crate::cargo::{self, Metadata, Package};
use crate::process;

/// One of our packages and what it may use.
struct Layer {
    name: &'static str,
    /// Tests may use any package of a lower rank, whichever way the arrows go.
    rank: u8,
    ours: &'static [&'static str],
    external: &'static [&'static str],
}

const LAYERS: [Layer; 18] = [
    Layer {
        name: "fizeau-core",
        rank: 0,
        ours: &[],
        external: &["schemars", "serde", "thiserror"],
    },
    Layer { name: "fizeau-pareto", rank: 0, ours: &[], external: &["thiserror"] },
    Layer {
        name: "fizeau-workload",
        rank: 1,
        ours: &["fizeau-core"],
        external: &[
            "csv-core",
            "jiff",
            "libm",
            "rand",
            "serde",
            "serde_json",
            "thiserror",
            "tiktoken-rs",
            "tokenizers",
        ],
    },
    Layer {
        name: "fizeau-metrics",
        rank: 1,
        ours: &["fizeau-core"],
        external: &["hdrhistogram", "libm", "schemars", "serde", "statrs", "thiserror"],
    },
    Layer {
        name: "fizeau-roofline",
        rank: 1,
        ours: &["fizeau-core"],
        external: &["csv", "regex-lite", "schemars", "serde", "serde_json", "thiserror", "toml"],
    },
    Layer {
        name: "fizeau-transport",
        rank: 1,
        ours: &["fizeau-core"],
        external: &[
            "bytes",
            "futures-util",
            "httparse",
            "hyper",
            "hyper-util",
            "jiff",
            "libc",
            "memchr",
            "rustix",
            "rustls",
            "serde",
            "serde_json",
            "thiserror",
            "tokio",
            "tokio-rustls",
            "tracing",
            "webpki-roots",
        ],
    },
    Layer {
        name: "fizeau-sim",
        rank: 2,
        ours: &["fizeau-roofline", "fizeau-core"],
        // All but thiserror for the half behind HTTP; that they stay there is for `runtimes` to see.
        external: &[
            "httparse",
            "jiff",
            "mio",
            "rcgen",
            "rustix",
            "rustls",
            "serde",
            "serde_json",
            "thiserror",
            "tracing",
        ],
    },
    Layer {
        name: "fizeau-probe",
        rank: 2,
        ours: &["fizeau-roofline", "fizeau-core"],
        external: &[
            "libc",
            "libloading",
            "matrixmultiply",
            "schemars",
            "serde",
            "serde_json",
            "thiserror",
        ],
    },
    Layer {
        name: "fizeau-telemetry",
        rank: 2,
        ours: &["fizeau-roofline", "fizeau-core"],
        // Both that reach another machine are behind features.
        external: &[
            "memchr",
            "nvml-wrapper",
            "rmp-serde",
            "schemars",
            "serde",
            "serde_json",
            "thiserror",
            "ureq",
        ],
    },
    Layer {
        name: "fizeau-record",
        rank: 3,
        ours: &[
            "fizeau-workload",
            "fizeau-metrics",
            "fizeau-roofline",
            "fizeau-telemetry",
            "fizeau-pareto",
            "fizeau-core",
        ],
        external: &["schemars", "serde", "serde_json", "textwrap", "thiserror"],
    },
    Layer {
        name: "fizeau-interop",
        rank: 4,
        ours: &["fizeau-record", "fizeau-workload", "fizeau-metrics", "fizeau-core"],
        external: &["csv", "jiff", "serde", "serde_json", "thiserror"],
    },
    Layer {
        name: "fizeau-experiment",
        rank: 5,
        ours: &[
            "fizeau-harness",
            "fizeau-record",
            "fizeau-telemetry",
            "fizeau-workload",
            "fizeau-transport",
            "fizeau-metrics",
            "fizeau-roofline",
            "fizeau-pareto",
            "fizeau-sim",
            "fizeau-core",
        ],
        external: &[
            "flate2",
            "jiff",
            "ratatui",
            "rustix",
            "serde",
            "serde_json",
            "sha2",
            "thiserror",
            "tokio",
        ],
    },
    Layer {
        name: "fizeau-harness",
        rank: 4,
        ours: &["fizeau-workload", "fizeau-transport", "fizeau-metrics", "fizeau-core"],
        external: &["futures-util", "rustix", "thiserror", "tokio"],
    },
    Layer {
        name: "fizeau-report",
        // Its tests show what interop imported.
        rank: 5,
        ours: &[
            "fizeau-record",
            "fizeau-probe",
            "fizeau-metrics",
            "fizeau-pareto",
            "fizeau-roofline",
            "fizeau-telemetry",
            "fizeau-core",
        ],
        external: &[
            "ab_glyph",
            "minijinja",
            "parquet",
            "plotters",
            "plotters-backend",
            "png",
            "serde",
            "serde_json",
            "thiserror",
        ],
    },
    Layer {
        name: "fizeau",
        rank: 6,
        ours: &[
            "fizeau-core",
            "fizeau-experiment",
            "fizeau-harness",
            "fizeau-interop",
            "fizeau-metrics",
            "fizeau-pareto",
            "fizeau-probe",
            "fizeau-record",
            "fizeau-report",
            "fizeau-roofline",
            "fizeau-sim",
            "fizeau-telemetry",
            "fizeau-transport",
            "fizeau-workload",
        ],
        external: &[],
    },
    Layer {
        name: "fizeau-cli",
        rank: 7,
        ours: &["fizeau"],
        external: &[
            "clap",
            "clap_complete",
            "clap_mangen",
            "indicatif",
            "serde",
            "serde_json",
            "shlex",
            "terminal_size",
            "tokio",
            "tracing-subscriber",
        ],
    },
    Layer { name: "fizeau-benches", rank: 7, ours: &["fizeau"], external: &[] },
    // Nothing of ours: it must build while they do not.
    Layer {
        name: "xtask",
        rank: 7,
        ours: &[],
        external: &[
            "anyhow",
            "clap",
            "hyper",
            "hyper-util",
            "serde",
            "serde_json",
            "sha2",
            "tokio",
            "toml",
        ],
    },
];

/// The crates that must stay free of sockets and runtimes, without their optional features.
const PURE: [&str; 10] = [
    "fizeau-core",
    "fizeau-interop",
    "fizeau-metrics",
    "fizeau-pareto",
    "fizeau-record",
    "fizeau-report",
    "fizeau-roofline",
    "fizeau-sim",
    "fizeau-telemetry",
    "fizeau-workload",
];
const RUNTIMES: [&str; 6] = ["async-std", "hyper", "mio", "smol", "socket2", "tokio"];

fn layer(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

/// Dependencies among our own packages that the map does not have.
pub(super) fn arrows<'a>(packages: impl Iterator<Item = &'a Package>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let Some(from) = layer(&package.name) else {
            findings.push(Finding::new(
                &package.name,
                "is not on the map: give it a layer in xtask/src/tidy/layers.rs",
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(to) = layer(&dependency.name) else {
                continue;
            };
            let for_tests = dependency.kind.as_deref() == Some("dev");
            if from.ours.contains(&to.name) || (for_tests && to.rank < from.rank) {
                continue;
            }
            let what =
                if for_tests { "its tests may use only lower layers" } else { "it may use only" };
            let which =
                if for_tests { String::new() } else { format!(" [{}]", from.ours.join(", ")) };
            findings
                .push(Finding::new(from.name, format!("depends on {}; {what}{which}", to.name)));
        }
    }
    findings
}

/// Packages of others that a crate of ours uses outside its tests, though it was not allowed them.
pub(super) fn externals(repo: &Repo) -> Vec<Finding> {
    repo.metadata.ours().flat_map(unlisted).collect()
}

fn unlisted(package: &Package) -> Vec<Finding> {
    let Some(from) = layer(&package.name) else {
        return Vec::new();
    };
    let used = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
    used.filter(|d| layer(&d.name).is_none() && !from.external.contains(&d.name.as_str()))
        .map(|d| {
            let allowed = from.external.join(", ");
            Finding::new(from.name, format!("depends on {}; allowed are [{allowed}]", d.name))
        })
        .collect()
}

/// Runtimes that a pure crate pulls in, at whatever depth.
///
/// # Errors
/// If cargo cannot tell.
pub(super) fn runtimes(metadata: &Metadata) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in metadata.ours().filter(|p| PURE.contains(&p.name.as_str())) {
        let mut tree = cargo::command();
        tree.args(["tree", "--no-default-features", "--edges", "normal", "--prefix", "none"]);
        tree.args(["--package", &package.name]).current_dir(cargo::root());
        let tree = process::output_of(&mut tree)
            .with_context(|| format!("cargo tree failed for {}", package.name))?;
        for found in runtimes_in(&tree) {
            let message = format!(
                "pulls in {found} without any feature; `cargo tree -p {} -i {found}` \
                 shows how",
                package.name
            );
            findings.push(Finding::new(&package.name, message));
        }
    }
    Ok(findings)
}

/// The runtimes among the lines `NAME VERSION ...` of `cargo tree`.
fn runtimes_in(tree: &str) -> Vec<&'static str> {
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    RUNTIMES.into_iter().filter(|runtime| names.contains(runtime)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Dependency;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
        };
        Package {
            name: name.to_owned(),
            manifest_path: format!("crates/{name}/Cargo.toml").into(),
            dependencies: dependencies.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    fn arrows_of(package: &Package) -> usize {
        arrows([package].into_iter()).len()
    }

    #[test]
    fn arrows_go_down_the_map_only() {
        assert_eq!(arrows_of(&package("fizeau-sim", &[("fizeau-core", None), ("serde", None)])), 0);
        assert_eq!(arrows_of(&package("fizeau-core", &[("fizeau-metrics", None)])), 1);
        assert_eq!(arrows_of(&package("fizeau-pareto", &[("fizeau-core", None)])), 1, "not drawn");
        assert_eq!(
            arrows_of(&package("fizeau-cli", &[("fizeau-core", None)])),
            1,
            "past the facade"
        );
        assert_eq!(arrows_of(&package("fizeau-new", &[])), 1, "not on the map");
    }

    #[test]
    fn tests_may_use_lower_layers_but_no_upper_ones() {
        assert_eq!(arrows_of(&package("fizeau-harness", &[("fizeau-sim", Some("dev"))])), 0);
        assert_eq!(arrows_of(&package("fizeau-harness", &[("fizeau-sim", None)])), 1);
        assert_eq!(arrows_of(&package("fizeau-transport", &[("fizeau-sim", Some("dev"))])), 1);
        assert_eq!(arrows_of(&package("fizeau-benches", &[("fizeau", Some("dev"))])), 0);
    }

    #[test]
    fn each_layer_stands_above_all_it_uses() {
        for from in &LAYERS {
            for name in from.ours {
                let to = layer(name).unwrap();
                assert!(to.rank < from.rank, "{} -> {name}", from.name);
            }
        }
    }

    #[test]
    fn an_external_package_must_be_listed_unless_for_tests() {
        assert_eq!(unlisted(&package("fizeau-core", &[("serde", None)])), []);
        assert_eq!(unlisted(&package("fizeau-core", &[("proptest", Some("dev"))])), []);
        assert_eq!(unlisted(&package("fizeau-core", &[("tokio", None)])).len(), 1);
        assert_eq!(unlisted(&package("fizeau-core", &[("cc", Some("build"))])).len(), 1);
    }

    #[test]
    fn a_runtime_is_seen_at_any_depth() {
        assert_eq!(runtimes_in("fizeau-core v0.1.0 (crates/core)\nserde v1.0.0\n"), [""; 0]);
        assert_eq!(runtimes_in("a v1.0.0\ntokio v1.54.1 (*)\ntokio-util v0.7.0\n"), ["tokio"]);
    }
}

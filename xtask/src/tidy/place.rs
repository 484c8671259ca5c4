//! What the documentation of each library says of its place among the others, of its features and of the compiler: `place.md` beside
//! its manifest, which its `lib.rs` takes in, and which `cargo xtask tidy --write` writes.

use std::collections::BTreeMap;

use super::{Finding, Repo};
use crate::cargo::Package;

/// Who may use whom: a crate uses only what stands below it.
const LAYERS: [&[&str]; 7] = [
    &["cli"],
    &["fizeau"],
    &["experiment", "report", "interop"],
    &["harness", "record"],
    &["sim", "probe", "telemetry"],
    &["workload", "transport", "metrics", "roofline", "pareto"],
    &["core"],
];

/// How the crate's documentation takes the page in.
const TAKEN: &str = "#![doc = include_str!(\"../place.md\")]";

/// Pages that are not what they should be, and libraries that do not take theirs in.
pub(super) fn told(repo: &Repo) -> Vec<Finding> {
    let lacks = |(path, page): (String, String)| {
        let library = path.replace("place.md", "src/lib.rs");
        let text = |path: &str| repo.file(path).map_or("", |file| file.text.as_str());
        if text(&path) != page {
            return Some(Finding::new(path, "is not as it would be: `cargo xtask tidy --write`"));
        }
        let is_taken = text(&library).lines().any(|line| line == TAKEN);
        (!is_taken).then(|| Finding::new(library, format!("its documentation lacks `{TAKEN}`")))
    };
    written(repo).into_iter().filter_map(lacks).collect()
}

/// The pages, by their paths.
pub(super) fn written(repo: &Repo) -> BTreeMap<String, String> {
    let libraries = repo.metadata.libraries();
    let page = |package: &Package| {
        let name = package.folder().file_name()?.to_string_lossy().into_owned();
        let manifest = repo.file(&format!("crates/{name}/Cargo.toml"))?;
        Some((format!("crates/{name}/place.md"), page(&name, package, &manifest.text)))
    };
    libraries.filter_map(page).collect()
}

fn page(name: &str, package: &Package, manifest: &str) -> String {
    let used = package.dependencies.iter().filter(|used| used.kind.is_none());
    let used: Vec<&str> =
        used.map(|used| used.name.as_str()).filter(|name| is_ours(name)).collect();
    let uses = match used.as_slice() {
        [] => "This one uses no other.".to_owned(),
        _ => format!("This one uses `{}`.", used.join("`, `")),
    };
    let features = match features(manifest).as_slice() {
        [] => String::new(),
        rows => format!("# Features\n\n| feature | what it adds |\n|---|---|\n{}\n", rows.concat()),
    };
    let rust = package.rust_version.as_deref().unwrap_or("unknown");
    format!(
        "# Its place\n\n```text\n{}```\n\nA crate uses only what stands below it, each may be used alone, and `fizeau` has all of them. {uses}\n\n\
         {features}It takes Rust {rust} or later, which rises with a minor version only.\n",
        picture(name)
    )
}

fn is_ours(name: &str) -> bool {
    name.starts_with("fizeau")
}

/// The layers, with brackets around this crate.
fn picture(name: &str) -> String {
    let word =
        |layer: &&str| if *layer == name { format!("[{layer}]") } else { (*layer).to_owned() };
    let line =
        |layer: &&[&str]| format!("{:^56}", layer.iter().map(word).collect::<Vec<_>>().join("   "));
    LAYERS.iter().map(|layer| format!("{}\n", line(layer).trim_end())).collect()
}

/// A row for each feature of a manifest, with the comment above it; one without has that of the feature before.
fn features(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let (mut about, mut is_open, mut rows) = (String::new(), false, Vec::new());
    for line in lines.take_while(|line| !line.starts_with('[')) {
        match (line.strip_prefix("# "), line.split_once(" = [")) {
            (Some(more), _) if is_open => about = format!("{about} {more}"),
            (Some(first), _) => about = first.to_owned(),
            (None, Some((feature, _))) if feature != "default" => {
                rows.push(format!("| `{feature}` | {about} |\n"));
            }
            _ => {}
        }
        is_open = line.starts_with('#');
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_the_comment_above_them() {
        let manifest = "[package]\n[features]\n# Not this.\ndefault = []\n# One,\n# in two lines.\na = []\nb = [\n    \"dep:c\",\n]\n# Two.\nc = []\n\n[dependencies]\nd = [1]\n";
        let rows = [
            "| `a` | One, in two lines. |\n",
            "| `b` | One, in two lines. |\n",
            "| `c` | Two. |\n",
        ];
        assert_eq!(features(manifest), rows);
    }

    #[test]
    fn the_picture_marks_the_crate_and_has_each_once() {
        let picture = picture("core");
        assert!(picture.contains("[core]") && !picture.contains("[sim]"), "{picture}");
        let mut all: Vec<&str> = LAYERS.concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), LAYERS.concat().len());
    }

    #[test]
    fn the_picture_is_that_of_the_manifests() {
        let repo = Repo::read().unwrap();
        let height = |name: &str| {
            let name = name.strip_prefix("fizeau-").unwrap_or(name);
            LAYERS.iter().position(|layer| layer.contains(&name)).unwrap()
        };
        for package in repo.metadata.published() {
            let used = package.dependencies.iter().filter(|used| used.kind.is_none());
            for used in used.filter(|used| is_ours(&used.name)) {
                assert!(
                    height(&package.name) < height(&used.name),
                    "{} {}",
                    package.name,
                    used.name
                );
            }
        }
    }
}

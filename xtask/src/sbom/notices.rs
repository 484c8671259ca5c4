//! What whoever passes the program on has to pass on with it: the licences and notices of all that it is made of, as their authors wrote them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// How the names of such files begin, in capitals.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The texts of the folders of all parts, each once, below the names of those whose it is. A part without such a file is named at the end.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn text<'a>(parts: impl Iterator<Item = (String, &'a Path)>) -> Result<String> {
    let (mut whose, mut without) = (BTreeMap::<String, Vec<String>>::new(), Vec::new());
    for (name, folder) in parts {
        let texts = texts(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        if texts.is_empty() {
            without.push(name.clone());
        }
        for text in texts {
            whose.entry(text).or_default().push(name.clone());
        }
    }
    let rule = "=".repeat(80);
    let one = |(text, names): (&String, &Vec<String>)| {
        format!("{rule}\n{}\n{rule}\n\n{}\n\n", names.join(", "), text.trim_end())
    };
    let all: String = whose.iter().map(one).collect();
    let rest = if without.is_empty() { "none" } else { &without.join(", ") };
    Ok(format!("{all}{rule}\nWithout a file of their own: {rest}\n"))
}

/// What is in the files of a folder that are so called.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        // `OFL.txt` is the licence of the font.
        path.is_file() && (name == "OFL.TXT" || NAMES.iter().any(|known| name.starts_with(known)))
    });
    paths.sort();
    let read = |path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned());
    paths.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::cargo;

    #[test]
    fn each_text_stands_once_with_all_whose_it_is() {
        let root = cargo::root();
        let report = root.join("crates/report");
        let (one, other) = (root.join("crates/core"), report.join("assets/echarts"));
        let parts = [("a", &one), ("b", &report), ("echarts", &other), ("c", &root.join("docs"))];
        let text = text(parts.iter().map(|(name, at)| ((*name).to_owned(), at.as_path()))).unwrap();
        assert_eq!(text.matches("\na, b\n").count(), 2, "MIT and Apache");
        assert!(text.contains("Apache ECharts") && text.ends_with("of their own: c\n"), "{text}");
    }
}

//! What others made and we carry is as they made it, with its licence.

use std::collections::HashSet;
use std::fs;

use super::{Finding, Repo};
use crate::vendor::{FOLDER, LIST, Vendored, sum};

/// Files that are not what the list says, and files that it does not name.
pub(super) fn unchanged(repo: &Repo) -> Vec<Finding> {
    let folder = repo.root.join(FOLDER);
    let list = match Vendored::read(&folder) {
        Ok(list) => list,
        Err(error) => return vec![Finding::new(format!("{FOLDER}/{LIST}"), format!("{error:#}"))],
    };
    let mut findings = Vec::new();
    for file in list.files() {
        let place = format!("{FOLDER}/{}", file.name);
        match fs::read(folder.join(&file.name)) {
            Ok(bytes) if sum(&bytes) == file.sha256 => {}
            Ok(_) => findings.push(Finding::new(
                place,
                "is not what was vendored: `cargo xtask vendor` fetches it again",
            )),
            Err(error) => findings.push(Finding::new(place, format!("cannot be read: {error}"))),
        }
    }
    let named: HashSet<&str> = list.files().map(|file| file.name.as_str()).chain([LIST]).collect();
    let there =
        repo.files.iter().filter_map(|file| file.path.strip_prefix(FOLDER)?.strip_prefix('/'));
    let strange = there.filter(|name| !named.contains(name));
    findings.extend(
        strange.map(|name| Finding::new(format!("{FOLDER}/{name}"), format!("is not in {LIST}"))),
    );
    findings
}

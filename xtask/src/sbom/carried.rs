//! What of others lies in the tree and goes into the program: the scripts of the page, and the font of the pictures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tidy::FONT;
use crate::vendor::{FOLDER, Package, Vendored};

/// The font, as its list has it.
#[derive(Deserialize)]
struct Font {
    name: String,
    version: String,
    licence: String,
    file: Vec<FontFile>,
}

#[derive(Deserialize)]
struct FontFile {
    name: String,
    sha256: String,
}

/// The folders in which their licences lie, from the root.
pub(super) const FOLDERS: [&str; 2] = [FOLDER, FONT.path];

/// Each as a component.
///
/// # Errors
/// If a list of what is vendored cannot be read.
pub(super) fn components(root: &Path) -> Result<Vec<Value>> {
    let scripts = Vendored::read(&root.join(FOLDER))?;
    let font =
        fs::read_to_string(root.join(FONT.path).join(FONT.list)).context("no list of fonts")?;
    let font: Font = toml::from_str(&font).context("cannot read the list of fonts")?;
    let files = font.file.iter().map(|it| file(&it.name, &it.sha256)).collect();
    let font = component(&font.name, Some(&font.version), &font.licence, files);
    Ok(scripts.packages.iter().flat_map(of_package).chain([font]).collect())
}

/// A package, and what of others is inside it.
fn of_package(package: &Package) -> Vec<Value> {
    let files = package.files.iter().map(|it| file(&it.name, &it.sha256)).collect();
    let mut whole = component(&package.name, Some(&package.version), &package.licence, files);
    whole["purl"] = format!("pkg:npm/{}@{}", package.name, package.version).into();
    let within = package.within.iter();
    let within = within.map(|it| component(&it.name, it.version.as_deref(), &it.licence, vec![]));
    std::iter::once(whole).chain(within).collect()
}

fn component(name: &str, version: Option<&str>, licence: &str, files: Vec<Value>) -> Value {
    let at = version.map(|version| format!("@{version}")).unwrap_or_default();
    let mut component = json!({
        "type": "library",
        "bom-ref": format!("vendored:{name}{at}"),
        "name": name,
        "licenses": [{ "expression": licence }],
    });
    if let Some(version) = version {
        component["version"] = version.into();
    }
    if !files.is_empty() {
        component["components"] = files.into();
    }
    component
}

fn file(name: &str, sha256: &str) -> Value {
    json!({ "type": "file", "name": name, "hashes": [{ "alg": "SHA-256", "content": sha256 }] })
}

#[cfg(test)]
mod tests {
    use super::components;
    use crate::cargo;

    #[test]
    fn what_the_page_and_the_pictures_carry_is_listed() {
        let all = components(&cargo::root()).unwrap();
        let names: Vec<_> = all.iter().filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(names, ["echarts", "d3", "tslib", "zrender", "arimo"]);
        assert_eq!(all[0]["components"][0]["name"], "echarts.common.min.js");
        assert_eq!(all[4]["licenses"][0]["expression"], "OFL-1.1");
    }
}

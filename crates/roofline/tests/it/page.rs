//! `docs/speed-of-light.md` and `docs/calibration.md` say what the code does: their tables and names. Its examples are doctests of the crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fizeau_roofline::{Constant, Format, KnownModel, LimitingResource};

const PAGE: &str = include_str!("../../../../docs/speed-of-light.md");
const CALIBRATION: &str = include_str!("../../../../docs/calibration.md");

/// The rows of the table whose head row begins with these cells, without the head.
fn table(head: &[&str]) -> Vec<Vec<&'static str>> {
    table_of(PAGE, head)
}

fn table_of(page: &'static str, head: &[&str]) -> Vec<Vec<&'static str>> {
    let begins = format!("| {} |", head.join(" | "));
    let mut lines = page.lines().skip_while(|line| !line.starts_with(&begins));
    assert!(lines.next().is_some(), "no table begins with {head:?}");
    let body = lines.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect();
    body.map(cells).collect()
}

/// What stands in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `count` in billions with as many digits as `printed` has.
fn billions(count: u64, printed: &str) -> String {
    let digits = printed.split('.').nth(1).map_or(0, str::len);
    format!("{:.digits$}", count as f64 / 1e9)
}

#[test]
fn every_model_has_its_counts_on_the_page() {
    let rows = table(&["model", "total", "active", "streamed", "cache elements"]);
    let named: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    for known in KnownModel::all() {
        assert!(named.contains(&known.name), "{} has no row", known.name);
    }
    for row in &rows {
        let model = KnownModel::named(row[0]).unwrap().model().unwrap();
        let counts = model.parameters();
        for (count, printed) in [counts.total, counts.active, counts.streamed].iter().zip(&row[1..])
        {
            assert_eq!(billions(*count, printed), **printed, "{}", row[0]);
        }
        // Two bytes each.
        let elements = model.kv_bytes_per_token().get() / 2.0;
        assert_eq!(elements.to_string(), row[4], "cache of {}", row[0]);
    }
}

#[test]
fn formats_have_the_sizes_on_the_page() {
    let rows = table(&["format", "bits", "source"]);
    assert!(rows.len() > 8);
    for row in rows {
        let name = code(row[0]).next().unwrap();
        let format: Format = name.parse().unwrap();
        assert_eq!(format.to_string(), name);
        assert_eq!(format.bits_per_element().to_string(), row[1], "{name}");
    }
}

#[test]
fn constants_have_the_ranges_on_the_page() {
    let rows = table_of(CALIBRATION, &["constant", "symbol", "unit", "from", "to"]);
    let all: Vec<Constant> = Constant::all().collect();
    assert_eq!(rows.len(), all.len());
    for (row, constant) in rows.iter().zip(all) {
        assert_eq!(code(row[0]).next(), Some(constant.as_str()));
        assert_eq!(row[2], constant.unit(), "{constant}");
        let range: (f64, f64) = (row[3].parse().unwrap(), row[4].parse().unwrap());
        assert_eq!(range, constant.range(), "{constant}");
    }
}

#[test]
fn every_limit_is_on_the_page() {
    let all = [
        LimitingResource::Weights,
        LimitingResource::Kv,
        LimitingResource::Compute,
        LimitingResource::Link,
        LimitingResource::Capacity,
        LimitingResource::Power,
    ];
    let page: BTreeSet<&str> = PAGE.lines().flat_map(code).collect();
    for limit in all {
        assert!(page.contains(limit.as_str()), "{}", limit.as_str());
    }
}

/// `Type::name` in backticks is a name that the crate has.
#[test]
fn every_name_of_code_on_the_page_exists() {
    let mut sources = String::new();
    read_into(&mut sources, &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let is_name = |text: &&str| {
        text.split_once("::").is_some_and(|(of, name)| {
            let plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            of.starts_with(|c: char| c.is_ascii_uppercase()) && plain(of) && plain(name)
        })
    };
    let names: BTreeSet<&str> = PAGE.lines().flat_map(code).filter(is_name).collect();
    assert!(names.len() > 15, "{names:?}");
    for path in names {
        let (of, name) = path.split_once("::").unwrap();
        let defines = |kind: &str| {
            let ends = [" ", "<", "("];
            ends.iter().any(|end| sources.contains(&format!("pub {kind} {of}{end}")))
        };
        let has_type = ["struct", "enum"].into_iter().any(defines);
        assert!(has_type, "{path}: no type {of}");
        // A method, a field or a variant.
        let found = [
            format!("fn {name}("),
            format!("{name}: "),
            format!("    {name},"),
            format!("    {name}("),
        ];
        assert!(found.iter().any(|text| sources.contains(text)), "{path} is not there");
    }
}

fn read_into(sources: &mut String, folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_into(sources, &path);
        } else {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn no_row_of_a_table_is_longer_or_shorter_than_its_head() {
    let mut width = None;
    for line in PAGE.lines() {
        width = if line.starts_with('|') {
            let is_rule = line.starts_with("|---");
            let bars =
                if is_rule { line.matches("---").count() } else { line.split(" | ").count() };
            assert_eq!(width.unwrap_or(bars), bars, "{line}");
            Some(bars)
        } else {
            None
        };
    }
}

//! What other tools call a figure: the page's tables against the code.

use std::collections::{BTreeMap, BTreeSet};

use fizeau_interop::{Peer, PeerSettings, PeerTerm};
use fizeau_metrics::{Metric, PercentileRule};

use super::page::{all_code, code, rows, table};
use crate::tapes::tape;

/// Names that need what no tape holds, so that the code has no figure of them.
const WITHOUT_FIGURE: [(Peer, &str); 1] = [(Peer::AiPerf, "effective_latency")];

/// A figure's name without the statistic and the groups around it.
fn stem(peer: Peer, name: &str) -> String {
    let is_percentile = |word: &str| {
        word.strip_prefix('p').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_statistic = |word: &str| {
        is_percentile(word)
            || ["avg", "mean", "median", "std", "stddev", "min", "max", "count"].contains(&word)
    };
    match peer {
        Peer::VllmPython | Peer::VllmRust | Peer::Sglang => {
            let name = name.split('.').next().unwrap_or(name);
            match name.split_once('_') {
                Some((word, rest)) if is_statistic(word) && name.ends_with("_ms") => {
                    rest.to_owned()
                }
                _ => name.to_owned(),
            }
        }
        Peer::LoadGen => {
            let name = name.strip_suffix(" (ns)").unwrap_or(name);
            let name = name.split_once(" percentile ").map_or(name, |(_, rest)| rest);
            let heads = ["Min ", "Max ", "Mean "];
            let name = heads.iter().find_map(|head| name.strip_prefix(head)).unwrap_or(name);
            name.to_lowercase()
        }
        Peer::EvalScope => {
            let name = name.strip_prefix("Avg ").unwrap_or(name);
            let name = name.strip_suffix(" (fde259d)").unwrap_or(name);
            match name.rsplit_once(' ') {
                Some((rest, word)) if word.ends_with('%') => rest.to_owned(),
                _ => name.to_owned(),
            }
        }
        _ => {
            let groups = [
                "successful",
                "incomplete",
                "errored",
                "total",
                "successes",
                "latency",
                "throughput",
            ];
            let is_plain = |word: &&str| {
                !is_statistic(word) && !groups.contains(word) && *word != "percentiles"
            };
            let words: Vec<&str> = name.split('.').collect();
            match words.iter().find(|word| is_plain(word)) {
                Some(word) if *word != "failures" => (*word).to_owned(),
                _ => name.to_owned(),
            }
        }
    }
}

/// A name as the page has it, in the form that [`stem`] gives.
fn as_stem(peer: Peer, name: &str) -> String {
    if peer == Peer::LoadGen { name.to_lowercase() } else { name.to_owned() }
}

/// For each of the tool's names, ours: none, one, or in a few cases more.
fn names(peer: Peer) -> BTreeMap<String, BTreeSet<&'static str>> {
    let tapes = [tape(0, &[(20, 1), (30, 1), (40, 1)]), tape(5, &[(25, 1), (35, 1)])];
    let goals = "ttft:500 tpot:50 e2el:1000".parse().unwrap_or_default();
    let settings = PeerSettings { goals, max_concurrency: Some(1), ..PeerSettings::default() };
    let mut names: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    for figure in peer.figures(&tapes, &settings).figures {
        names.entry(stem(peer, &figure.name)).or_default().extend(figure.ours);
    }
    names
}

/// The cell of each tool.
type Cells = BTreeMap<&'static str, &'static str>;

/// The tables of names: each column that has one of our names.
fn columns() -> Vec<(&'static str, Cells)> {
    let mut columns = Vec::new();
    for head in rows().filter(|row| row[0] == "tool") {
        let body = table(&head);
        for (at, title) in head.iter().enumerate() {
            let cell = |row: &Vec<&'static str>| Some((code(row[0]).next()?, row[at]));
            columns.extend(
                code(title).next().map(|name| (name, body.iter().filter_map(cell).collect())),
            );
        }
    }
    columns
}

#[test]
fn every_link_from_a_tools_name_to_ours_is_in_the_tables() {
    let columns = columns();
    assert!(columns.len() >= 14, "{columns:?}");
    for peer in Peer::ALL {
        for (name, ours) in names(peer) {
            for ours in ours {
                let (_, cells) = columns
                    .iter()
                    .find(|(column, _)| *column == ours)
                    .unwrap_or_else(|| panic!("no table has a column `{ours}` ({peer:?} {name})"));
                let cell = cells[peer.key()];
                let found = code(cell).any(|word| as_stem(peer, word) == name);
                assert!(found, "{peer:?} {name} is our {ours}; the table has {cell}");
            }
        }
    }
}

#[test]
fn every_name_in_the_tables_is_the_tools_own() {
    for (column, cells) in columns() {
        for peer in Peer::ALL {
            let names = names(peer);
            let cell = cells.get(peer.key()).unwrap_or_else(|| panic!("{column}: no row {peer:?}"));
            for name in code(cell).filter(|name| Peer::from_key(name).is_none()) {
                // Groups of GuideLLM stand in the cells, too.
                let is_group = ["successful", "errored", "incomplete", "total"].contains(&name);
                let is_known = is_group || WITHOUT_FIGURE.contains(&(peer, name));
                assert!(
                    is_known || names.contains_key(&as_stem(peer, name)),
                    "{peer:?} has no {name} ({column})"
                );
            }
        }
    }
}

#[test]
fn every_figure_of_every_tool_can_be_found_on_the_page() {
    let page: BTreeSet<String> = all_code().into_iter().map(str::to_lowercase).collect();
    let mut missing = Vec::new();
    for peer in Peer::ALL {
        let names = names(peer).into_keys();
        missing.extend(
            names.filter(|name| !page.contains(&name.to_lowercase())).map(|name| (peer, name)),
        );
    }
    assert!(missing.is_empty(), "docs/metrics.md does not name {missing:?}");
}

#[test]
fn every_name_that_differs_is_the_tools_own() {
    for row in table(&["its name", "tool", "what it is, by our symbols"]) {
        let peer = code(row[1]).next().and_then(Peer::from_key);
        let peer = peer.unwrap_or_else(|| panic!("{} is no tool", row[1]));
        let name = code(row[0]).next().unwrap_or(row[0]);
        let is_known = WITHOUT_FIGURE.contains(&(peer, name));
        assert!(is_known || names(peer).contains_key(&as_stem(peer, name)), "{peer:?} {name}");
    }
}

#[test]
fn the_names_of_definitions_are_on_the_page() {
    let page: BTreeSet<String> = all_code().into_iter().map(str::to_lowercase).collect();
    for concept in
        [PeerTerm::Ttft, PeerTerm::Tpot, PeerTerm::Itl, PeerTerm::E2el, PeerTerm::Throughput]
    {
        for definition in concept.definitions().iter().filter(|tool| !tool.name.is_empty()) {
            let name = stem(definition.peer, definition.name).to_lowercase();
            assert!(page.contains(&name), "{:?} {:?}: {name}", definition.peer, concept);
        }
    }
}

/// What can be asked for on a command line by a word.
#[test]
fn every_word_that_can_be_asked_for_is_on_the_page() {
    let page = all_code();
    let words = PeerTerm::ALL.map(PeerTerm::key).into_iter();
    let words = words.chain(PercentileRule::ALL.map(PercentileRule::key));
    let words = words.chain(Metric::series().map(|metric| metric.entry().key)).chain(["itl_p99"]);
    let missing: Vec<_> = words.filter(|word| !page.contains(word)).collect();
    assert!(missing.is_empty(), "docs/metrics.md does not say what {missing:?} is");
}

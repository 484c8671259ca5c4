//! The page that walks from a sweep to a purchase prints what it says.

use std::fs::{copy, read_to_string};
use std::path::Path;

use crate::page;
use crate::stand::{Scratch, json, run};

#[test]
fn each_command_of_the_walk_prints_what_stands_there() {
    let scratch = Scratch::new("deciding");
    let ended = page::holds("deciding.md", &scratch);
    assert!(ended.len() >= 8, "{}", ended.len());
    for (step, ended) in ended.iter().enumerate() {
        assert_eq!(ended.code, Some(0), "step {step}: {ended:?}");
    }
    the_readme_shows_its_frontier(&scratch);
    let search = json(scratch.path("runs/search/search.json"));
    assert_eq!(search["schema"], "fizeau.search/2");
}

/// In one folder: a later page shows what an earlier one made.
#[test]
fn each_page_that_shows_an_output_shows_what_is_printed() {
    let scratch = Scratch::new("shown");
    for page in ["sweep.md", "simulate.md", "pictures.md", "faults.md", "calibration.md"] {
        let ended = page::shows(page, &scratch);
        assert!(
            !ended.is_empty() && ended.iter().all(|ended| ended.code == Some(0)),
            "{page}: {ended:?}"
        );
    }
}

/// The picture of the README is the frontier of this page's sweep. With `FIZEAU_WRITE_PAGES` set it is written instead.
fn the_readme_shows_its_frontier(scratch: &Scratch) {
    let (drawn, shown) =
        (scratch.path("frontier.svg"), Path::new(page::DOCS).join("images/frontier.svg"));
    let ended =
        run(&["report", &scratch.path("runs/h100"), "--chart", "frontier", "--svg", &drawn]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        copy(&drawn, &shown).unwrap();
    }
    assert!(read_to_string(drawn).unwrap() == read_to_string(shown).unwrap(), "another is drawn");
}

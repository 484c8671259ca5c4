//! The page that walks from a sweep to a purchase prints what it says.

use crate::page;
use crate::stand::{Scratch, json};

#[test]
fn each_command_of_the_walk_prints_what_stands_there() {
    let scratch = Scratch::new("deciding");
    let ended = page::holds("deciding.md", &scratch);
    assert!(ended.len() >= 8, "{}", ended.len());
    for (step, ended) in ended.iter().enumerate() {
        assert_eq!(ended.code, Some(0), "step {step}: {ended:?}");
    }
    let search = json(scratch.path("runs/search/search.json"));
    assert_eq!(search["schema"], "fizeau.search/1");
}

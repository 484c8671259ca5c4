//! Queries of the speed of light, and measured levels for a fit.

use std::collections::HashMap;
use std::path::Path;

use fizeau_experiment::{FitSources, SampleError, SystemQuery};
use fizeau_roofline::MeasuredTable;

#[test]
fn the_levels_of_a_stored_run_are_samples_on_its_own_system() {
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    let samples = SystemQuery::default().samples_of_run(Path::new(run)).unwrap();
    assert_eq!(samples.len(), 2);
    assert!(samples.iter().any(Result::is_ok), "{samples:?}");
    let error = SystemQuery::default().samples_of_run(Path::new("nothing")).unwrap_err();
    assert!(error.to_string().starts_with("nothing/sweep.json: "), "{error}");
}

#[test]
fn a_model_that_is_not_known_is_named_with_its_line() {
    let text = "model,hardware,isl,osl,concurrency,tpot_ms\n\
                llama-3.1-8b,h100-sxm,1024,128,8,9.5\n\
                mine,h100-sxm,1024,128,8,9.5\n\
                llama-3.1-8b,mine,1024,128,8,9.5\n";
    let table = MeasuredTable::read(text).unwrap();
    let mut sources = FitSources::new(HashMap::new());
    let found: Vec<_> = table.levels.iter().map(|level| sources.sample(level)).collect();
    assert!(found[0].is_ok(), "{found:?}");
    assert!(matches!(&found[1], Err(SampleError::Model { line: 3, model, .. }) if model == "mine"));
    assert!(matches!(&found[2], Err(SampleError::Device { line: 4, .. })), "{found:?}");
}

//! The figures of every built-in model, as they were: what changes them is to be meant.
//!
//! They are this crate's own; what holds them to be right are the other tests. `FIZEAU_BLESS=1` writes them anew.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::path::Path;

use fizeau_core::Tokens;
use fizeau_roofline::{Deployment, Device, Figures, KnownModel, System, UniformLoad};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/figures.txt");

/// How a model is spread: by name, and on which device.
fn spreads() -> Vec<(&'static str, Deployment)> {
    let one = Deployment::SINGLE;
    vec![
        ("h200", one),
        ("h200", one.with_tensor(8).unwrap()),
        ("h200", one.with_tensor(4).unwrap().with_pipeline(2).unwrap()),
        ("h200", one.with_tensor(8).unwrap().with_attention_groups(8).unwrap()),
        ("b200", one.with_tensor(8).unwrap().with_expert_groups(8).unwrap()),
        ("tpu-v5p", one.with_tensor(16).unwrap()),
    ]
}

fn loads() -> [UniformLoad; 3] {
    [(512, 128, 1), (700, 1, 9), (4_096, 256, 64)].map(|(input, output, concurrency)| {
        let concurrency = NonZeroU64::new(concurrency).unwrap();
        UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency)
    })
}

fn words(of: &Figures) -> String {
    let [ttft, e2el] = [of.ttft, of.e2el].map(|time| time.to_millis().get());
    format!("{ttft:.6} {e2el:.6} {:.6} {:.6}", of.requests_per_s.get(), of.batch)
}

/// A line for each model, spread and load: TTFT and E2EL in ms, requests/s and batch, of the bound and as expected.
fn table() -> String {
    let mut table = String::new();
    for known in KnownModel::all() {
        for (device, deployment) in spreads() {
            let device = Device::named(device).unwrap();
            let model = known.model().unwrap();
            let Ok(system) = System::new(model, device.clone(), deployment) else { continue };
            for load in loads() {
                let (bound, expected) =
                    (system.bound_figures(&load), system.expected_figures(&load));
                let (input, output) = (load.input_tokens, load.output_tokens);
                let of = format!(
                    "{} {} {deployment} {input}/{output}/{}",
                    known.name, device.name, load.concurrency
                );
                writeln!(table, "{of}: {} | {}", words(&bound), words(&expected)).unwrap();
            }
        }
    }
    table
}

#[test]
fn the_figures_of_each_built_in_model_are_as_they_were() {
    let (table, path) = (table(), Path::new(FILE));
    if std::env::var_os("FIZEAU_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &table).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap();
    for (now, before) in table.lines().zip(known.lines()) {
        assert_eq!(now, before);
    }
    assert_eq!(table.lines().count(), known.lines().count());
}

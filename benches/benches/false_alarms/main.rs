//! How often a server is told from itself, and how often it is told from one that is 3, 5 or 10 % slower.
//!
//! `cargo xtask bench false-alarms` does so for an engine simulated in virtual time, whose runs differ by 2 %, and for the
//! embedded engine over HTTP; `cargo xtask engine run -- cargo xtask bench false-alarms` for a real engine too. Words name some of
//! it: `ab` (A/B runs alone), `simulated`, `embedded`, `engine`, or the folder of an A/B run of one server against itself, or
//! of several such runs, one after the other. `--runs N` and `--requests N` say how many runs and how large; `--keep DIR` keeps those
//! of a server there, so that they can be counted again.
#![allow(clippy::unwrap_used, reason = "shared with a test")]

#[path = "../../../crates/fizeau/tests/it/ab/counts.rs"]
mod counts;
mod rates;
mod runs;
#[path = "../../../crates/fizeau/tests/it/ab/weather.rs"]
mod weather;

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::Parser;
use counts::{Design, FEW, alarm, count};
use fizeau::sim::Scenario;
use fizeau::sim::http::{Server, ServerConfig};
use runs::Many;
use weather::{Size, USUAL, Weather};

#[derive(Debug, Parser)]
struct Args {
    /// What to look at.
    what: Vec<String>,
    /// How many runs of each server; two hundred pairs are made of them.
    #[arg(long, default_value_t = 400)]
    runs: u32,
    /// How many requests a run has.
    #[arg(long, default_value_t = 200)]
    requests: u64,
    /// Where runs of a server are kept, in a folder of its name; by default they are removed.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// What cargo passes.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let many = Many { runs: args.runs, requests: args.requests };
    let kept = |name: &str| args.keep.as_ref().map(|folder| folder.join(name));
    let engine = std::env::var("FIZEAU_BASE_URL").ok();
    let named = match (args.what.is_empty(), &engine) {
        (true, None) => ["ab", "simulated", "embedded"].map(str::to_owned).into(),
        (true, Some(_)) => vec!["engine".to_owned()],
        (false, _) => args.what.clone(),
    };
    for what in named {
        match &*what {
            "ab" => rounds(),
            "simulated" => rates::print("simulated, runs differ by 2 %", &runs::simulated(many)),
            "embedded" => {
                let scenario = Scenario::llama_3_1_8b_h100()?;
                let config = ServerConfig::new(scenario.engine()).with_model("llama");
                let server = Server::bind(([127, 0, 0, 1], 0).into(), config)?.spawn()?;
                rates::print(
                    "embedded engine",
                    &runs::measured(&server.base_url(), "llama", many, kept(&what))?,
                );
            }
            "engine" => {
                let url = engine.clone().ok_or("FIZEAU_BASE_URL says where the engine is")?;
                let model = std::env::var("FIZEAU_MODEL")?;
                let name = std::env::var("FIZEAU_ENGINE").unwrap_or_else(|_| url.clone());
                rates::print(&name, &runs::measured(&url, &model, many, kept(&what))?);
            }
            folder => rates::print(folder, &runs::stored(Path::new(folder))?),
        }
    }
    Ok(())
}

/// A/B runs in rounds, by how many rounds and which design.
fn rounds() {
    for (rounds, requests) in [(5, FEW), (10, FEW), (10, 100)] {
        let [alarms] = count(1_000, Size { rounds, requests }, USUAL, |turns| {
            [alarm(turns, Design::Alternating)]
        });
        println!("{alarms:4} of 1,000 A/B runs of {rounds} rounds of {requests} requests a side");
    }
    let warming = Weather { drift_a_minute: 0.5, ..USUAL };
    let designs = [Design::Alternating, Design::SameFirst, Design::OneAfterTheOther];
    let alarms = count(200, Size { rounds: 10, requests: FEW }, warming, |turns| {
        designs.map(|design| alarm(turns, design))
    });
    for (design, alarms) in designs.iter().zip(alarms) {
        println!("{alarms:4} of 200 runs on a machine that slows by half in a minute: {design:?}");
    }
}

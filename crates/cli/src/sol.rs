//! `fizeau sol`: how fast a model can be on a device.

mod line;
mod points;
mod query;
mod systems;

use fizeau::report::{Answer, SolLine};

use crate::args::SolArgs;
use crate::exit::{Exit, Fail};
use crate::say::say;
use query::Query;
use systems::Systems;

pub(crate) fn run(args: &SolArgs) -> Result<Exit, Fail> {
    let query = Query::of(args);
    if let Some(path) = &args.points {
        return points::run(path, &query);
    }
    let mut systems = Systems::default();
    let system = systems.get(&query.system).map_err(Fail::usage)?;
    let load = query.load.load().map_err(Fail::usage)?;
    let answer = Answer::of(system, &load);
    let mut text = Vec::new();
    SolLine { answer: &answer, notes: &[] }.write_to(&mut text).map_err(Fail::broken)?;
    say(String::from_utf8_lossy(&text))?;
    Ok(Exit::Good)
}

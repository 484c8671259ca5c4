//! `fizeau sol`: how fast a model can be on a device.

mod line;
mod points;
mod query;
mod systems;

use fizeau::report::{Answer, SolView};
use fizeau::roofline::{Device, Model, System};

use crate::args::{SolArgs, SystemArgs};
use crate::exit::{Exit, Fail};
use crate::say::say;
use query::{Query, SystemQuery};
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
    let name = query.system.model_config.as_deref().unwrap_or_default();
    let view = SolView { name, system, load: &load, answer: &answer, notes: &[] };
    say(view.text(width()))?;
    Ok(Exit::Good)
}

/// `model` on `device` as flags have them spread, stored and served.
pub(crate) fn system(model: Model, device: Device, args: &SystemArgs) -> Result<System, String> {
    systems::system_of(model, device, &SystemQuery::of(args))
}

/// The width of the terminal; 80 where there is none.
fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

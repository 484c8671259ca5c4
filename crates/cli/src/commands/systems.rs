//! `fizeau sweep --system A=URL --system B=URL`: several systems, one after the other, and the frontier of all.

use fizeau::experiment::{NamedUrl, WallTime};

use crate::args::{ParetoArgs, SweepArgs};
use crate::commands::pareto;
use crate::commands::shared::folder;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

/// Sweeps each, and says what is on the frontier. A system that cannot be used does not keep the others from their turn.
pub(crate) fn run(args: &SweepArgs) -> Result<Exit, Fail> {
    let systems = NamedUrl::all(&args.system).given_as("--system")?;
    refuse_if!(
        args.measure.target.is_typed(),
        "--system: it names the endpoints; leave out --base-url, --host and --port"
    );
    let out = args.measure.verdict.out.as_ref();
    let out = folder::given_or_usual(out, WallTime::now(), "sweep");
    refuse_if!(out.join("run.json").exists(), "--out: {} already holds a run", out.display());
    let mut worst = Exit::Good;
    let mut is_any = false;
    for NamedUrl { name, url, .. } in systems {
        let mut args = SweepArgs { system: Vec::new(), ..args.clone() };
        args.measure.target.base_url = url.split(',').map(str::to_owned).collect();
        args.measure.verdict.out = Some(out.join(&name));
        say(format!("{name}:"))?;
        match crate::commands::sweep::run(&args) {
            Ok(Exit::Interrupted) => return Ok(Exit::Interrupted),
            Ok(exit) => {
                is_any = true;
                worst = if worst == Exit::Good { exit } else { worst };
            }
            Err(fail) if fail.exit == Exit::Usage => return Err(fail),
            Err(fail) => {
                tell!("error: {name}: {fail}");
                worst = fail.exit;
            }
        }
    }
    if is_any {
        say("")?;
        let inputs = vec![out.display().to_string()];
        pareto::run(&ParetoArgs { inputs, ..ParetoArgs::default() })?;
    }
    Ok(worst)
}

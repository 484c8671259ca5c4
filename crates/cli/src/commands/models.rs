//! `fizeau models`: what is known of models, and what is understood of a config.

use fizeau::report::Shown;
use fizeau::roofline::{KnownModel, ModelSheet as Sheet};

use crate::args::ModelsArgs;
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{pretty, say_either};

pub(crate) fn run(args: &ModelsArgs) -> Result<Exit, Fail> {
    match &args.model {
        Some(name) => {
            let loaded = speed::model_of(name, name)?;
            let name = loaded.known.map_or(name.as_str(), |known| known.name);
            let sheet = Sheet::of(name, loaded.known, &loaded.model);
            say_either(args.json, || pretty(&sheet), || Shown(&sheet).text(&loaded.model))?;
        }
        None => {
            let sheet = |known: &'static KnownModel| {
                known.model().map(|model| Sheet::of(known.name, Some(known), &model))
            };
            let sheets = KnownModel::all().iter().map(sheet).collect::<Result<Vec<_>, _>>();
            let sheets = sheets.map_err(Fail::broken)?;
            say_either(args.json, || pretty(&sheets), || Shown(&sheets).text())?;
        }
    }
    Ok(Exit::Good)
}

//! A run as other tools see it, a word as they mean it, and percentiles as they read them.

use fizeau::interop::{LevelTapes, Peer, PeerTerm, TermExplanation};
use fizeau::metrics::{Percent, PercentileRule};
use fizeau::record::LevelView;
use fizeau::report::{PeerTables, PercentileTable, PercentileTally};
use serde::Serialize;

use super::{ReportRequest, WIDTH, note_cut};
use crate::args::ViewArgs;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

/// One document, or each with a line that names the level, where there are several.
fn show<T: Serialize>(
    asked: &ReportRequest<'_>,
    schema: &str,
    levels: &[LevelView<T>],
    text: impl Fn(&T) -> String,
) -> Result<Exit, Fail> {
    if asked.json {
        say(asked.reader.run().levels_json(schema, levels).map_err(Fail::broken)?)?;
        return Ok(Exit::Good);
    }
    for level in levels {
        let heading = level.level().map(|name| format!("level {name}\n")).unwrap_or_default();
        say(format!("{heading}{}", text(level.content())))?;
    }
    Ok(Exit::Good)
}

/// Each level with what `of` says of its tapes.
fn each<T>(
    asked: &ReportRequest<'_>,
    of: impl Fn(&LevelTapes) -> T,
) -> Result<Vec<LevelView<T>>, Fail> {
    let view = |stored| {
        let all = LevelTapes::read(&asked.reader, stored).map_err(Fail::usage)?;
        note_cut(stored.path(), all.cut);
        Ok(LevelView::new(stored, all.cut, of(&all)))
    };
    asked.reader.run().levels().iter().map(view).collect()
}

/// `--as`
pub(super) fn tools(asked: &ReportRequest<'_>, names: &[String]) -> Result<Exit, Fail> {
    let is_wanted = |peer: &Peer| names.iter().any(|name| name == "all" || name == peer.key());
    let wanted: Vec<Peer> = Peer::ALL.into_iter().filter(is_wanted).collect();
    let levels = each(asked, |all| {
        let block = wanted.contains(&Peer::VllmPython).then(|| all.vllm().block());
        PeerTables { tools: all.peers(&wanted), block }
    })?;
    show(asked, "fizeau.peers/1", &levels, |tools| {
        tools.text(WIDTH, asked.trust.output.verbosity())
    })
}

/// `--explain`
pub(super) fn explain(asked: &ReportRequest<'_>, concept: PeerTerm) -> Result<Exit, Fail> {
    let levels = each(asked, |all| TermExplanation::of(concept, &all.tapes, &all.settings))?;
    show(asked, "fizeau.explanation/1", &levels, |explanation| explanation.text(WIDTH))
}

/// `--percentile-rule`, `--percentiles`
pub(super) fn percentiles(asked: &ReportRequest<'_>, view: &ViewArgs) -> Result<Exit, Fail> {
    let rule = view.percentile_rule.as_deref().and_then(PercentileRule::from_key);
    let wanted: Vec<Percent> = match &*view.percentiles {
        [] => vec![Percent::P50, Percent::P90, Percent::P99],
        given => {
            let checked = given.iter().map(|percent| Percent::new(*percent));
            checked.collect::<Result<_, _>>().named("--percentiles")?
        }
    };
    let mut levels: Vec<LevelView<PercentileTable>> = Vec::new();
    for stored in asked.reader.run().levels() {
        let mut tally = PercentileTally::new(rule.unwrap_or_default(), wanted.clone());
        let cut = stored.each_tape(|tape| tally.add(&tape)).map_err(Fail::usage)?;
        note_cut(stored.path(), cut);
        levels.push(LevelView::new(stored, cut, tally.table()));
    }
    show(asked, "fizeau.percentiles/1", &levels, PercentileTable::text)
}

//! A run as other tools see it, a word as they mean it, and percentiles as they read them.

use fizeau::core::Tape;
use fizeau::interop::{Concept, OwnFigures, Peer, PeerSettings};
use fizeau::interop::{Detail, Explanation, Selection, VllmRun, VllmTally, beside_ours};
use fizeau::metrics::{Percent, PercentileRule};
use fizeau::record::{Cut, PeerComparison, StoredLevel, StoredLevelContext};
use fizeau::report::Shown;
use fizeau::report::{PercentileTable, PercentileTally};
use serde::Serialize;

use super::{Asked, WIDTH, document, each_tape};
use crate::args::ViewArgs;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

/// A level's name, and what is said of it.
#[derive(Serialize)]
struct Of<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    /// What was left over of its tapes, where their file was cut: the figures are of a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Left>,
    #[serde(flatten)]
    said: T,
}

/// What a cut file holds.
#[derive(Serialize)]
struct Left {
    whole_tapes: u64,
    rest_bytes: u64,
}

impl<T> Of<T> {
    fn new(level: &StoredLevel, cut: Option<Cut>, said: T) -> Self {
        let name = level.name();
        let left = |cut: Cut| Left { whole_tapes: cut.whole, rest_bytes: cut.rest_bytes };
        let cut = cut.map(left);
        Self { level: Some(name.to_owned()).filter(|name| !name.is_empty()), cut, said }
    }
}

/// Each with a line that names the level, where there are several.
fn show<T>(levels: &[Of<T>], text: impl Fn(&T) -> String) -> Result<Exit, Fail> {
    for Of { level, said, .. } in levels {
        let heading = level.as_ref().map(|name| format!("level {name}\n")).unwrap_or_default();
        say(format!("{heading}{}", text(said)))?;
    }
    Ok(Exit::Good)
}

/// All tapes of a level at once: definitions look at them more than once.
struct All {
    tapes: Vec<Tape>,
    cut: Option<Cut>,
    settings: PeerSettings,
}

impl All {
    fn of(level: &StoredLevel, asked: &Asked<'_>) -> Result<Self, Fail> {
        let context = StoredLevelContext::read(asked.reader.run(), level).map_err(Fail::usage)?;
        let mut tapes = Vec::new();
        let cut = each_tape(level, |tape| tapes.push(tape))?;
        let settings =
            PeerSettings { goals: asked.reader.goals().clone(), max_concurrency: context.cap };
        Ok(Self { tapes, cut, settings })
    }
}

/// Some tools' figures.
#[derive(Serialize)]
struct Tools {
    tools: Vec<PeerComparison>,
    /// vLLM's own block, where its figures are among them.
    #[serde(skip)]
    block: Option<String>,
}

impl Tools {
    fn text(&self) -> String {
        let note = "Its peaks here are of every instant (requests) and of any second (tokens), not\nof fixed seconds as its own are (below).";
        let block = self.block.iter().map(|block| format!("{block}\n{note}"));
        let tables = self.tools.iter().map(|tool| Shown(tool).text(WIDTH));
        block.chain(tables).collect::<Vec<_>>().join("\n\n")
    }
}

/// `--as`
pub(super) fn tools(asked: &Asked<'_>, names: &[String]) -> Result<Exit, Fail> {
    let is_wanted = |peer: &Peer| names.iter().any(|name| name == "all" || name == peer.key());
    let wanted: Vec<Peer> = Peer::ALL.into_iter().filter(is_wanted).collect();
    let mut levels = Vec::new();
    for stored in asked.reader.run().levels() {
        let All { tapes, cut, settings } = All::of(stored, asked)?;
        let own = OwnFigures::of(&tapes, &settings);
        let one = |peer: &Peer| beside_ours(&peer.figures(&tapes, &settings), &own);
        let tools = wanted.iter().map(one).collect();
        let block = wanted.contains(&Peer::VllmPython).then(|| {
            let mut vllm =
                VllmTally::new(&Selection::default(), asked.reader.goals(), Detail::Brief);
            tapes.iter().for_each(|tape| vllm.add(tape));
            let of = StoredLevelContext::read(asked.reader.run(), stored).map_err(Fail::usage)?;
            Ok::<_, Fail>(vllm.finish(VllmRun::of(&of.setup, &of.asked, of.cap)).block())
        });
        levels.push(Of::new(stored, cut, Tools { tools, block: block.transpose()? }));
    }
    if asked.json {
        return document("fizeau.peers/1", asked.reader.run(), &levels).map(|()| Exit::Good);
    }
    show(&levels, Tools::text)
}

/// `--explain`
pub(super) fn explain(asked: &Asked<'_>, concept: Concept) -> Result<Exit, Fail> {
    let mut levels = Vec::new();
    for stored in asked.reader.run().levels() {
        let All { tapes, cut, settings } = All::of(stored, asked)?;
        levels.push(Of::new(stored, cut, Explanation::of(concept, &tapes, &settings)));
    }
    if asked.json {
        return document("fizeau.explanation/1", asked.reader.run(), &levels).map(|()| Exit::Good);
    }
    show(&levels, |explanation| explanation.text(WIDTH))
}

/// `--percentile-rule`, `--percentiles`
pub(super) fn percentiles(asked: &Asked<'_>, view: &ViewArgs) -> Result<Exit, Fail> {
    let rule = view.percentile_rule.as_deref().and_then(PercentileRule::from_key);
    let wanted: Vec<Percent> = match &*view.percentiles {
        [] => vec![Percent::P50, Percent::P90, Percent::P99],
        given => {
            let checked = given.iter().map(|percent| Percent::new(*percent));
            checked.collect::<Result<_, _>>().named("--percentiles")?
        }
    };
    let mut levels: Vec<Of<PercentileTable>> = Vec::new();
    for stored in asked.reader.run().levels() {
        let mut tally = PercentileTally::new(rule.unwrap_or_default(), wanted.clone());
        let cut = each_tape(stored, |tape| tally.add(&tape))?;
        levels.push(Of::new(stored, cut, tally.table()));
    }
    if asked.json {
        return document("fizeau.percentiles/1", asked.reader.run(), &levels).map(|()| Exit::Good);
    }
    show(&levels, PercentileTable::text)
}

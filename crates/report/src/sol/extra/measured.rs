//! Measured figures beside the answer: the share of the bound, what is expected of the engine, and what would explain the difference.

use std::num::NonZeroU64;

use fizeau_record::text::number;
use fizeau_roofline::{
    Bound, BoundShare, BoundViolation, Constant, DeploymentError, Figures, LoadAnalysis,
    LoadAnalysisError, MeasuredFigure, MeasuredFigures, PredictionGap, PredictionInput,
    PredictionRemedy, Predictor, RequestLengths, Scope, SpeedOfLightShares, System,
};
use serde_json::{Map, Value, json};

use super::{OwnTable, SolExtra, SolServing, SolSubject};
use crate::sol::fit::shown_in;
use crate::sol::grid::Grid;
use crate::sol::tables::whole_or_not;

/// What figures were measured of: a load, on a system that serves it so.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredLoad<'a> {
    /// The load on the system.
    pub subject: SolSubject<'a>,
    /// How it is served.
    pub serving: SolServing<'a>,
    /// What is known of it.
    pub answer: &'a LoadAnalysis,
    /// What predicts the engine; none without a calibration. Of anything but plain serving it predicts nothing.
    pub predictor: Option<&'a Predictor>,
}

/// Why figures cannot be held against the bound of a load.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasuredLoadError {
    /// It has no bound.
    #[error(transparent)]
    NoBound(#[from] LoadAnalysisError),
    /// So many instances are more than a deployment may have.
    #[error(transparent)]
    Instances(#[from] DeploymentError),
}

/// What of measured figures is beyond the bound, and what lies between them and what is expected of the engine.
struct Comparison<'a> {
    /// The system that it is held against.
    system: &'a System,
    measured: &'a MeasuredFigures,
    /// What is possible under the load, whatever of it runs at once.
    bound: Bound,
    /// The bound of the sequences that run, which measured figures are shares of.
    figures: &'a Figures,
    /// What is under balanced routing of a mixture of experts; none where that is the bound.
    evenly_routed: Option<&'a Figures>,
    violation: Option<BoundViolation>,
    /// What predicts the engine, and what would explain each figure; none without a calibration.
    gaps: Option<(&'a Predictor, Vec<PredictionGap>)>,
}

impl SolExtra {
    /// What was measured of a load: the share of the bound that each figure reaches, and beside a prediction which constant or input would
    /// explain it.
    ///
    /// # Errors
    /// If the load has no bound.
    pub fn measured(
        of: &MeasuredLoad<'_>,
        measured: &MeasuredFigures,
    ) -> Result<Self, MeasuredLoadError> {
        let MeasuredLoad { subject, serving, answer, predictor } = of;
        let load = subject.load;
        let served = serving.bound(subject)?;
        let is_plain = served.is_none();
        let (system, figures) =
            served.as_ref().map_or((subject.system, &answer.bound), |of| (&of.0, &of.1));
        let mut lengths = RequestLengths::for_model(system.model());
        lengths.add_cached(load.input_tokens, load.cached_tokens, load.output_tokens);
        // What is not predicted is refused by name in the answer itself.
        let predictor = predictor.filter(|_| is_plain);
        Ok(Self::compared(&Comparison {
            system,
            measured,
            bound: Bound::over(system, &lengths, load.concurrency)?,
            figures,
            evenly_routed: answer.evenly_routed.as_ref().filter(|_| is_plain),
            violation: system.bound_violation(&lengths, load.concurrency, measured)?,
            gaps: predictor.and_then(|own| Some((own, own.gaps(load, measured).ok()?))),
        }))
    }

    fn compared(of: &Comparison<'_>) -> Self {
        let shares_of = |figures| of.measured.percent_of(&as_bound(&of.bound, figures));
        let (of_bound, evenly) = (shares_of(of.figures), of.evenly_routed.map(shares_of));
        let mut fields = Map::new();
        let held = as_bound(&of.bound, of.figures);
        let predicted: &[&str] = if of.gaps.is_some() { &["predicted", "from", "to"] } else { &[] };
        let even: &[&str] = if evenly.is_some() { &["of even"] } else { &[] };
        let mut grid =
            Grid::new(&[&["Measured", ""], predicted, &["bound"], even, &["of bound"]].concat());
        for (figure, measured) in of.measured.each() {
            let gap =
                of.gaps.as_ref().and_then(|(_, gaps)| gaps.iter().find(|gap| gap.figure == figure));
            let shares: Vec<_> =
                evenly.iter().chain([&of_bound]).map(|of| share(of, figure)).collect();
            let limit = bound_of(&held, figure);
            grid.row(cells(figure, [measured, limit], of.gaps.as_ref().map(|_| gap), &shares));
            fields.insert(figure.as_str().to_owned(), entry([measured, limit], gap, &shares));
        }
        let mut lines = grid.lines();
        lines.push(held_against(of));
        if evenly.is_some() {
            lines.push("  Of even: of the bound at even routing.".to_owned());
        }
        if let Some(violation) = &of.violation {
            lines.push(format!("  {violation}"));
            let name = if violation.is_proof() { "impossible" } else { "undecided" };
            fields.insert(name.to_owned(), violation.to_string().into());
        } else if of_bound.is_impossible() {
            lines.push(format!(
                "  Above 100 % of that bound fewer than {} ran at once{}: one alone has a bound of {} ms for TPOT.",
                number(of.figures.batch),
                match of.system.serving().tokens_per_step {
                    NonZeroU64::MIN => "",
                    _ => ", or more of what was drafted was accepted",
                },
                number(of.bound.single_tpot.to_millis().get())
            ));
        }
        if let Some((predictor, gaps)) = &of.gaps {
            lines.extend(gaps.iter().flat_map(|gap| explained(gap, predictor)));
        }
        Self::with_own("measured", OwnTable { lines, fields })
    }
}

/// The bound with these figures in place of its own.
const fn as_bound(bound: &Bound, figures: &Figures) -> Bound {
    let mut held = *bound;
    held.ttft = figures.ttft;
    held.single_tpot = figures.step;
    held.e2el = figures.e2el;
    held.output_tokens_per_s = figures.output_tokens_per_s;
    held.requests_per_s = figures.requests_per_s;
    held
}

const fn share(of: &SpeedOfLightShares, figure: MeasuredFigure) -> Option<BoundShare> {
    match figure {
        MeasuredFigure::Ttft => of.ttft,
        MeasuredFigure::Tpot => of.tpot_alone,
        MeasuredFigure::E2el => of.e2el,
        MeasuredFigure::OutputTokens => of.output_tokens_per_s,
        _ => of.requests_per_s,
    }
}

/// A figure of the bound, in its unit.
fn bound_of(bound: &Bound, figure: MeasuredFigure) -> f64 {
    match figure {
        MeasuredFigure::Ttft => bound.ttft.to_millis().get(),
        MeasuredFigure::Tpot => bound.single_tpot.to_millis().get(),
        MeasuredFigure::E2el => bound.e2el.to_millis().get(),
        MeasuredFigure::OutputTokens => bound.output_tokens_per_s.get(),
        _ => bound.requests_per_s.get(),
    }
}

/// Which load the bounds are of.
fn held_against(of: &Comparison<'_>) -> String {
    let running = whole_or_not(of.figures.batch);
    format!("  Bounds are for {running} running; that of TTFT is for a prompt alone.")
}

/// The share of the bound is the last of `shares`; before it stands that at even routing, where there is one. Without predictions
/// there is no `gap` to any figure.
fn cells(
    figure: MeasuredFigure,
    [measured, bound]: [f64; 2],
    gap: Option<Option<&PredictionGap>>,
    shares: &[Option<BoundShare>],
) -> Vec<String> {
    let of = |gap: &PredictionGap| {
        [gap.predicted.value(), gap.predicted.low(), gap.predicted.high()].map(number)
    };
    let shown = gap.into_iter().flat_map(|gap| gap.map_or_else(Default::default, of));
    let share = |share: &Option<BoundShare>| share.map_or_else(String::new, |of| of.to_string());
    let first = [format!("  {}", named(figure)), number(measured)];
    first.into_iter().chain(shown).chain([number(bound)]).chain(shares.iter().map(share)).collect()
}

const fn named(figure: MeasuredFigure) -> &'static str {
    match figure {
        MeasuredFigure::Ttft => "TTFT, ms",
        MeasuredFigure::Tpot => "TPOT, ms",
        MeasuredFigure::E2el => "E2EL, ms",
        MeasuredFigure::OutputTokens => "output tokens/s",
        _ => "requests/s",
    }
}

/// Marks a constant that would have to be as it is not on accelerators.
const UNUSUAL: &str = "*";

/// What is said of a figure that is not as expected.
fn explained(gap: &PredictionGap, predictor: &Predictor) -> Vec<String> {
    let name = named(gap.figure).split(',').next().unwrap_or_default();
    let scope = predictor.scope();
    if gap.is_expected() {
        return vec![format!("  {name} is inside the 90 % interval of {scope}")];
    }
    let pace = gap.remedies.iter().find_map(|remedy| {
        let phase = match remedy.input {
            PredictionInput::PrefillPace => "prefill runs",
            PredictionInput::DecodePace => "decoding runs",
            _ => return None,
        };
        Some(format!("your {phase} at {} times what {}", number(remedy.needed), reached(scope)))
    });
    let rest: Vec<&PredictionRemedy> =
        gap.remedies.iter().filter(|remedy| !is_pace(remedy)).collect();
    let said = pace.unwrap_or_else(|| "no pace of one phase explains it".to_owned());
    let mut lines = vec![String::new(), format!("{name}: {said}.")];
    if rest.is_empty() {
        lines.push("No constant or input alone would explain it.".to_owned());
        return lines;
    }
    lines.push(format!(
        "Each of these alone would explain it ({UNUSUAL} is not usual on accelerators):"
    ));
    let mut grid = Grid::new(&["", "", "given", "needed", "TTFT, ms", "TPOT, ms", ""]).with_notes();
    for remedy in rest {
        grid.row(remedy_cells(remedy));
    }
    lines.extend(grid.lines());
    lines
}

/// Who reaches what is predicted.
fn reached(scope: &Scope) -> String {
    match scope {
        Scope::Engine { device, engine } => format!("{engine} reaches on {device}"),
        Scope::All => "is usual".to_owned(),
        scope => format!("{scope} reaches"),
    }
}

const fn is_pace(remedy: &PredictionRemedy) -> bool {
    matches!(remedy.input, PredictionInput::PrefillPace | PredictionInput::DecodePace)
}

fn remedy_cells(remedy: &PredictionRemedy) -> Vec<String> {
    let (title, unit, scale) = match remedy.input {
        PredictionInput::Constant(constant) => {
            let (unit, scale) = shown_in(constant);
            (constant.title(), if unit == "times" { "x" } else { unit }, scale)
        }
        PredictionInput::Concurrency => ("requests in flight", "", 1.0),
        _ => ("tokens computed of a prompt", "", 1.0),
    };
    let is_count =
        matches!(remedy.input, PredictionInput::Concurrency | PredictionInput::PromptTokens);
    let shown = |value: f64| if is_count { format!("{value:.0}") } else { number(value * scale) };
    let [ttft, tpot] = [remedy.ttft, remedy.tpot].map(|time| number(time.to_millis().get()));
    vec![
        format!("  {title}"),
        unit.to_owned(),
        shown(remedy.given),
        shown(remedy.needed),
        ttft,
        tpot,
        unusual(remedy),
    ]
}

/// That a constant is not so on accelerators.
fn unusual(remedy: &PredictionRemedy) -> String {
    let is_outside = |constant: Constant| {
        let (low, high) = constant.range();
        !(low..=high).contains(&remedy.needed)
    };
    match remedy.input {
        PredictionInput::Constant(constant) if is_outside(constant) => UNUSUAL.to_owned(),
        _ => String::new(),
    }
}

fn entry(
    [measured, bound]: [f64; 2],
    gap: Option<&PredictionGap>,
    shares: &[Option<BoundShare>],
) -> Value {
    let remedy = |remedy: &PredictionRemedy| {
        json!({
            "input": remedy.input.as_str(),
            "given": remedy.given,
            "needed": remedy.needed,
            "deviations": remedy.deviations,
            "ttft_ms": remedy.ttft.to_millis().get(),
            "tpot_ms": remedy.tpot.to_millis().get(),
        })
    };
    let names = ["bound_share", "even_routing_share"];
    let shares = names.iter().zip(shares.iter().rev());
    let mut fields = Map::from_iter([
        ("measured".to_owned(), measured.into()),
        ("bound".to_owned(), bound.into()),
    ]);
    fields.extend(shares.map(|(name, of)| ((*name).to_owned(), of.map(BoundShare::get).into())));
    if let Some(gap) = gap {
        let of = gap.predicted;
        let predicted = json!({"value": of.value(), "low": of.low(), "high": of.high()});
        fields.insert("predicted".to_owned(), predicted);
        fields.insert("is_expected".to_owned(), gap.is_expected().into());
        fields.insert("remedies".to_owned(), gap.remedies.iter().map(remedy).collect());
    }
    fields.into()
}

//! Two figures against each other: what each level reached, what no other beats, and what the hardware could do.

use fizeau_pareto::{Objective, frontier};

use super::axis::Axis;
use super::ink::Ink;
use super::parts;
use super::sheet::{
    AxisPoint, DotShape, HEIGHT, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH,
};
use super::speed_of_light::{AxisReach, curves, is_within, within};
use crate::charts::description::ChartDescription;
use crate::{ChartCurvePoint, ChartFigure, ChartGoal, ChartLevelPosition, ChartRun};
use fizeau_record::text::listed;

/// What is drawn against what.
pub(super) struct Tradeoff {
    pub(super) title: String,
    /// The names of the figures.
    pub(super) across: String,
    pub(super) up: String,
    /// What the axes show, the vertical one without the unit of a latency.
    pub(super) across_title: String,
    pub(super) up_title: String,
    /// What is better on each.
    pub(super) directions: [Objective; 2],
    /// The same figures of what the hardware could do.
    pub(super) of_light: fn(&ChartCurvePoint) -> AxisPoint,
    /// How far those are followed beyond what was measured.
    pub(super) reach: [AxisReach; 2],
    /// What is noted on those, where they are drawn: a sentence without its point.
    pub(super) light_note: &'static str,
}

/// A level that has both figures and may be compared with others.
struct TradeoffPoint {
    level: usize,
    across: ChartFigure,
    up: ChartFigure,
}

impl TradeoffPoint {
    fn at(&self) -> AxisPoint {
        (self.across.value, self.up.value)
    }

    /// The low ends of both intervals and the high ones; its own figure where one has none.
    fn interval(&self) -> Option<(AxisPoint, AxisPoint)> {
        let ends = |of: ChartFigure| (of.low.unwrap_or(of.value), of.high.unwrap_or(of.value));
        let ((left, right), (low, high)) = (ends(self.across), ends(self.up));
        (left < right || low < high).then_some(((left, low), (right, high)))
    }
}

impl Tradeoff {
    /// The picture of `runs`, or why there is none.
    pub(super) fn sheet(&self, runs: &[ChartRun]) -> Result<Sheet, String> {
        let spots: Vec<Vec<TradeoffPoint>> = runs.iter().map(|run| self.spots(run)).collect();
        if spots.iter().all(Vec::is_empty) {
            return Err(self.missing_reason(runs));
        }
        let (unit, per) = self.unit(runs, &spots);
        let mut panel = self.panel(runs, &spots, unit, per);
        for (index, run) in runs.iter().enumerate() {
            if let Some(ink) = parts::light_ink(runs, index) {
                self.draw_speed_of_light(&mut panel, run, ink, per);
            }
        }
        for goal in self.goals(runs) {
            let (at, text) = (goal.limit / per, format!("goal: {}", goal.text));
            panel.marks.push(Mark::Limit { at, text, ink: Ink::Goal });
        }
        for (index, (run, spots)) in runs.iter().zip(&spots).enumerate() {
            self.levels(&mut panel, run, spots, LevelColours::of(runs, index), per);
        }
        let notes = self.notes(runs, [panel.x.ends(), panel.y.ends().map(|end| end * per)]);
        Ok(Sheet {
            title: self.title.clone(),
            subtitle: parts::subtitle(runs),
            description: self.description(runs, &spots),
            size: (WIDTH, HEIGHT),
            columns: 1,
            panels: vec![panel],
            key: self.key(runs, &spots),
            notes,
        })
    }

    fn spots(&self, run: &ChartRun) -> Vec<TradeoffPoint> {
        let compared = run.levels.iter().enumerate();
        let compared = compared.filter(|(_, level)| level.position != ChartLevelPosition::LeftOut);
        let spot = |(index, level): (usize, &crate::ChartLevel)| {
            let (across, up) = (level.figures.get(&self.across)?, level.figures.get(&self.up)?);
            Some(TradeoffPoint { level: index, across, up })
        };
        compared.filter_map(spot).collect()
    }

    fn missing_reason(&self, runs: &[ChartRun]) -> String {
        let mut reasons = runs.iter().flat_map(|run| &run.levels);
        match reasons.find_map(|level| level.left_out.clone()) {
            Some(reason) => format!("no level can be compared: {reason}"),
            None => format!("no level has {} and {}", self.across, self.up),
        }
    }

    /// The unit of the vertical axis and how many of the figure's own it is: seconds read better than five-digit milliseconds.
    fn unit(&self, runs: &[ChartRun], spots: &[Vec<TradeoffPoint>]) -> (&'static str, f64) {
        if !self.up.ends_with("_ms") {
            return ("", 1.0);
        }
        let measured = spots.iter().flatten().map(|spot| spot.up.value);
        let goals = self.goals(runs).map(|goal| goal.limit);
        parts::latency_unit(measured.chain(goals))
    }

    fn panel(
        &self,
        runs: &[ChartRun],
        spots: &[Vec<TradeoffPoint>],
        unit: &'static str,
        per: f64,
    ) -> Panel {
        let all = || spots.iter().flatten();
        let ends = |of: ChartFigure| [Some(of.value), of.low, of.high].into_iter().flatten();
        let mut across: Vec<f64> = all().flat_map(|spot| ends(spot.across)).collect();
        let goals = self.goals(runs).map(|goal| goal.limit);
        let mut up: Vec<f64> = all().flat_map(|spot| ends(spot.up)).chain(goals).collect();
        for (x, y) in self.light_shown(runs, [&across, &up]) {
            across.push(x);
            up.push(y);
        }
        let up: Vec<f64> = up.into_iter().map(|value| value / per).collect();
        let stand_in = all().any(|spot| spot.up.stand_in);
        let greatest = if stand_in { " (* greatest of fewer than 100)" } else { "" };
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        Panel {
            x: Axis::suited(&across, 8),
            y: Axis::suited(&up, 7),
            x_title: Some(self.across_title.clone()),
            y_title: format!("{}{unit}{greatest}", self.up_title),
            right: None,
            marks: Vec::new(),
        }
    }

    /// What the hardware could do, as far as it is followed beyond `measured`: values across and up.
    fn light_shown(&self, runs: &[ChartRun], measured: [&[f64]; 2]) -> Vec<AxisPoint> {
        let all = || runs.iter().flat_map(curves).map(|(curve, _)| curve.iter().map(self.of_light));
        let starts = |of: fn(AxisPoint) -> f64| {
            all().map(move |at| at.map(of).fold(f64::INFINITY, f64::min))
        };
        let ([across, up], [x, y]) = (self.reach, measured);
        let ranges = [across.span(x, starts(|at| at.0)), up.span(y, starts(|at| at.1))];
        all().flatten().filter(|at| is_within(*at, ranges)).collect()
    }

    fn draw_speed_of_light(&self, panel: &mut Panel, run: &ChartRun, ink: Ink, per: f64) {
        let ranges = [panel.x.ends(), panel.y.ends()];
        for (curve, dash) in curves(run) {
            let places: Vec<AxisPoint> =
                curve.iter().map(self.of_light).map(|(x, y)| (x, y / per)).collect();
            let (places, stroke) = (within(&places, ranges), Stroke::thin(ink, dash));
            panel.marks.push(Mark::Line { places, stroke });
        }
    }

    fn levels(
        &self,
        panel: &mut Panel,
        run: &ChartRun,
        spots: &[TradeoffPoint],
        look: LevelColours,
        per: f64,
    ) {
        let scaled = |(x, y): AxisPoint| (x, y / per);
        let best = self.best(spots);
        for (low, high) in spots.iter().filter_map(TradeoffPoint::interval) {
            let (low, high) = (scaled(low), scaled(high));
            panel.marks.push(Mark::Interval { low, high, ink: look.best });
        }
        let mut line: Vec<AxisPoint> = best
            .iter()
            .filter_map(|index| spots.get(*index))
            .map(|spot| scaled(spot.at()))
            .collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        panel.marks.push(Mark::line(line, Stroke::solid(look.best)));
        let mut labels = Vec::new();
        for (index, spot) in spots.iter().enumerate() {
            let (at, is_best) = (scaled(spot.at()), best.contains(&index));
            let is_chosen = run.operating == Some(spot.level);
            let (ink, shape) = if is_best { (look.best, DotShape::Full) } else { look.beaten };
            panel.marks.push(Mark::Dot { at, ink, shape });
            if is_chosen {
                panel.marks.push(Mark::Dot { at, ink: look.chosen, shape: DotShape::Ring });
            }
            let label = run.levels.get(spot.level).map(|level| level.label.as_str());
            let star = if spot.up.stand_in { "*" } else { "" };
            let mut texts = vec![format!("{}{star}", label.unwrap_or_default())];
            // Beside other runs the ring says it, and the key.
            if is_chosen && look.is_alone {
                texts.insert(0, format!("operating point: {}{star}", label.unwrap_or_default()));
            }
            let shape = if is_chosen { DotShape::Ring } else { shape };
            let is_soft = look.is_alone && !is_best && !is_chosen;
            let ink = if is_soft { Ink::Soft } else { look.label };
            labels.push((is_chosen, Mark::Label { at, texts, ink, shape }));
        }
        // The longest label has the first choice of places.
        labels.sort_by_key(|label| !label.0);
        panel.marks.extend(labels.into_iter().map(|label| label.1));
    }

    /// The spots that no other of the same run beats.
    fn best(&self, spots: &[TradeoffPoint]) -> Vec<usize> {
        let figures: Vec<[f64; 2]> =
            spots.iter().map(|spot| [spot.across.value, spot.up.value]).collect();
        // Only a NaN makes a point unfit, and figures are finite.
        frontier(&figures, &self.directions).unwrap_or_default()
    }

    /// The goals that limit the vertical figure, each once.
    fn goals<'a>(&self, runs: &'a [ChartRun]) -> impl Iterator<Item = &'a ChartGoal> + use<'a> {
        parts::goals(runs, &self.up)
    }

    fn key(&self, runs: &[ChartRun], spots: &[Vec<TradeoffPoint>]) -> Vec<KeyEntry> {
        let mut key = parts::run_key(runs);
        let (ink, shape) = LevelColours::of(runs, 0).beaten;
        let [chart, ..] = ChartDescription::all();
        let name = |line: &str| chart.line(line).name;
        if runs.len() == 1 {
            key.push(KeyEntry::new(Sign::Line(Stroke::solid(Ink::Series(0))), name("frontier")));
        }
        if spots.iter().any(|spots| self.best(spots).len() < spots.len()) {
            key.push(KeyEntry::new(Sign::Dot(ink, shape), name("dominated")));
        }
        if runs.iter().any(|run| run.operating.is_some()) {
            let ring = Sign::Dot(LevelColours::of(runs, 0).chosen, DotShape::Ring);
            key.push(KeyEntry::new(ring, name("operating")));
        }
        if spots.iter().flatten().any(|spot| spot.interval().is_some()) {
            let ink = Ink::Series(0);
            key.push(KeyEntry::new(Sign::Box(ink), "95 % intervals"));
        }
        key.extend(parts::light_key(runs));
        key
    }

    fn notes(&self, runs: &[ChartRun], axes: [[f64; 2]; 2]) -> Vec<String> {
        let mut notes = vec![parts::labels_note(runs)];
        let mut light = runs.iter().flat_map(curves).flat_map(|(curve, _)| curve).peekable();
        if light.peek().is_some() {
            let is_cut = light.map(self.of_light).any(|at| !is_within(at, axes));
            let more = if is_cut { ", and go on beyond the axes" } else { "" };
            notes.push(format!("{}{more}.", self.light_note));
        }
        notes.extend(parts::left_out_note(runs));
        vec![notes.join(" ")]
    }

    fn description(&self, runs: &[ChartRun], spots: &[Vec<TradeoffPoint>]) -> String {
        let mut out = parts::labels_note(runs);
        for (run, spots) in runs.iter().zip(spots) {
            let best = self.best(spots).into_iter().filter_map(|index| spots.get(index));
            let said = |spot: &TradeoffPoint| {
                let label = run.levels.get(spot.level).map(|level| level.label.as_str());
                let number = fizeau_record::text::number;
                let (x, y) = (number(spot.across.value), number(spot.up.value));
                format!("{} ({x}, {y})", label.unwrap_or_default())
            };
            let best: Vec<String> = best.map(said).collect();
            let whose = if run.name.is_empty() { String::new() } else { format!("{}: ", run.name) };
            out.push_str(&format!(
                " {whose}On the frontier, with {} and {}: {}.",
                self.across,
                self.up,
                listed(&best)
            ));
        }
        out
    }
}

/// The colours of a run's levels.
#[derive(Clone, Copy)]
struct LevelColours {
    best: Ink,
    beaten: (Ink, DotShape),
    label: Ink,
    chosen: Ink,
    is_alone: bool,
}

impl LevelColours {
    /// Beside others a run has one colour; alone, what is beaten is grey.
    fn of(runs: &[ChartRun], index: usize) -> Self {
        let best = Ink::Series(index);
        if runs.len() == 1 {
            let beaten = (Ink::Grey, DotShape::Full);
            return Self { best, beaten, label: Ink::Text, chosen: Ink::Chosen, is_alone: true };
        }
        // A ring of green would seem to be of the third run.
        let beaten = (best, DotShape::Hollow);
        Self { best, beaten, label: best, chosen: Ink::Text, is_alone: false }
    }
}

//! What a reader came for: where to run, at what margin, for how much, how far from the speed of light, and what limits it.

use fizeau_metrics::{Metric, Statistic};
use fizeau_roofline::LimitedBy;
use serde::Serialize;

use super::table::{ends, rounded};
use crate::Shown;
use crate::table::{TablePlace, places};
use crate::{ChartFigure, ChartLevel, ChartRun};
use fizeau_record::text::{percent, supported};
use fizeau_record::{
    GoalResult, LevelReport, OperatingDecision, OperatingPoint, SpeedOfLight, SweepReport,
};
use fizeau_record::{goal_limit, goal_name, text};

/// The answers, and at which load those are that are not about the operating point.
#[derive(Debug, Serialize)]
pub(super) struct Answers {
    pub(super) answers: [Answer; 5],
    /// Of what load the figures are where there is no operating point; empty where there is one.
    pub(super) at: String,
}

/// An answer in a few words, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Answer {
    pub(super) name: &'static str,
    pub(super) headline: String,
    pub(super) lines: Vec<String>,
    /// Whether there is one; otherwise the headline says that there is none.
    pub(super) is_known: bool,
}

/// The level that answers are of.
#[derive(Clone, Copy)]
struct AnswerLevel<'a> {
    index: usize,
    level: &'a LevelReport,
    chart: &'a ChartLevel,
}

impl Answers {
    pub(super) fn of(report: &SweepReport, run: &ChartRun) -> Self {
        let (level, why) = anchor(report);
        let at = level.and_then(|index| {
            Some(AnswerLevel {
                index,
                level: report.levels().get(index)?,
                chart: run.levels.get(index)?,
            })
        });
        let said = match (at, why) {
            (Some(at), why) if !why.is_empty() => {
                format!("Cost, speed of light and limit are those at {}, {why}.", at.chart.load)
            }
            _ => String::new(),
        };
        let answers = [
            point(report, run),
            margin(report),
            cost(report, at),
            speed_of_light(report, at),
            limit(at),
        ];
        Self { answers, at: said }
    }
}

impl Answer {
    fn known(name: &'static str, headline: String, lines: Vec<String>) -> Self {
        Self { name, headline, lines, is_known: true }
    }

    fn absent(name: &'static str, headline: &str, why: impl Into<String>) -> Self {
        Self { name, headline: headline.to_owned(), lines: vec![why.into()], is_known: false }
    }
}

/// The level that answers are of, and why it where it is not the operating point.
fn anchor(report: &SweepReport) -> (Option<usize>, &'static str) {
    let point = report.operating_point();
    if let OperatingPoint::Missed { nearest: Some(nearest), .. } = point {
        return (Some(*nearest), "which comes nearest to the goals");
    }
    if let Some(level) = point.level() {
        return (Some(level), "");
    }
    (most_throughput(report), "which gives the most throughput")
}

/// The level with the most output tokens per second, of those that may be compared.
pub(super) fn most_throughput(report: &SweepReport) -> Option<usize> {
    let rate = |level: &LevelReport| level.summary.throughput.output_tokens_per_s.get();
    let compared = report.levels().iter().enumerate().filter(|(_, l)| l.left_out().is_none());
    compared.max_by(|a, b| rate(a.1).total_cmp(&rate(b.1))).map(|(index, _)| index)
}

fn point(report: &SweepReport, run: &ChartRun) -> Answer {
    const NAME: &str = "Operating point";
    let point = report.operating_point();
    if let (OperatingPoint::NoGoal, [only]) = (point, &*run.levels) {
        let mut lines = vec![rates(only)];
        lines.extend(tails(only));
        lines.push("no goal given".to_owned());
        return Answer::known("The only level", only.load.clone(), lines);
    }
    if let Some(level) = point.level().and_then(|index| run.levels.get(index)) {
        let mut lines = vec![rates(level)];
        lines.extend(point.goals().iter().map(goal));
        lines.extend(report.assumed_goals());
        let loose = report.decisions().first().is_some_and(OperatingDecision::is_loose_only);
        lines.extend(loose.then(|| "met at the loose end of the goals only".to_owned()));
        return Answer::known(NAME, level.load.clone(), lines);
    }
    match point {
        OperatingPoint::NoGoal if report.levels().is_empty() => {
            Answer::absent(NAME, "none", "no level was measured")
        }
        OperatingPoint::NoGoal => {
            Answer::absent(NAME, "no goal given", "for example 'p99 ttft<500ms'")
        }
        _ => {
            let words = report.operating_words();
            let (headline, rest) = words.split_once([':', ',']).unwrap_or((&words, ""));
            let mut answer = Answer::absent(NAME, headline, rest.trim());
            answer.lines.extend(report.assumed_goals());
            answer
        }
    }
}

/// `7.1 requests/s, 283 output tokens/s`.
pub(super) fn rates(level: &ChartLevel) -> String {
    let rate = |TablePlace { metric, statistic, .. }: &TablePlace| {
        let figure = level.figures.get(metric.column(*statistic)?.as_str())?;
        Some(format!("{} {}", rounded(figure), metric.entry().name.concat()))
    };
    let places = places().0;
    let rates = places.iter().filter(|place| !place.metric.is_latency());
    rates.filter_map(rate).collect::<Vec<_>>().join(", ")
}

/// `p99 TTFT 441 ms, p99 TPOT 12.1 ms, p99 E2EL 2140 ms`; none where no latency is known.
pub(super) fn tails(level: &ChartLevel) -> Option<String> {
    let tail = |metric: Metric| {
        let figure = level.figures.get(metric.column(Statistic::P99)?.as_str())?;
        let statistic = if figure.stand_in { "greatest" } else { "p99" };
        Some(format!("{statistic} {} {} ms", metric.entry().label, rounded(figure)))
    };
    let tails: Vec<String> = Metric::tabled().filter_map(tail).collect();
    (!tails.is_empty()).then(|| tails.join(", "))
}

/// `p99 TTFT 441 ms, goal < 500 ms`.
fn goal(result: &GoalResult) -> String {
    let goal = result.outcome.goal;
    let Some(value) = result.measured_words() else {
        return format!("{}: not known", goal.describe());
    };
    let (name, limit) = (goal_name(&goal), goal_limit(&goal));
    format!("{name} {value}, goal {limit}")
}

fn margin(report: &SweepReport) -> Answer {
    const NAME: &str = "Margin";
    let point = report.operating_point();
    let margins = point.goals().iter().filter_map(|goal| Some((goal.margin()?, goal)));
    let least = margins.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|least| least.0.is_finite());
    match (point, least) {
        (OperatingPoint::Met { .. }, Some((by, nearest))) => {
            let goal = nearest.outcome.goal.describe();
            let several = point.goals().len() > 1;
            let which = if several { ", the goal nearest to its limit" } else { "" };
            Answer::known(NAME, percent(by), vec![format!("to {goal}{which}")])
        }
        (OperatingPoint::Missed { .. }, Some((by, worst))) if by < 0.0 => {
            let goal = worst.outcome.goal.describe();
            Answer::absent(NAME, &format!("missed by {}", percent(-by)), goal)
        }
        (OperatingPoint::NoGoal, _) => Answer::absent(NAME, "none", "there is no goal to keep"),
        _ => Answer::absent(NAME, "none", "there is no operating point"),
    }
}

fn cost(report: &SweepReport, at: Option<AnswerLevel<'_>>) -> Answer {
    const NAME: &str = text::MILLION;
    let Some(at) = at else { return Answer::absent(NAME, "not known", "nothing was measured") };
    let cost = match report.cost_at(at.index) {
        Ok(cost) => cost,
        Err(why) => return Answer::absent(NAME, "not known", why.to_string()),
    };
    let hours = format!("{} device-hours", supported(cost.device_hours.value, None));
    let Some((usd, rate)) = cost.usd.zip(report.price()) else {
        let lines = vec!["without a price of the device".to_owned()];
        return Answer::known(NAME, hours, lines);
    };
    let interval = ChartFigure {
        value: usd.value,
        low: usd.interval.map(|ends| ends.low),
        high: usd.interval.map(|ends| ends.high),
        stand_in: false,
    };
    let ends = ends(interval).map(|[low, high]| format!("{low} to {high} USD"));
    let lines = ends.into_iter().chain([hours, text::at_price(rate)]).collect();
    Answer::known(NAME, format!("{} USD", usd.usd()), lines)
}

fn speed_of_light(report: &SweepReport, at: Option<AnswerLevel<'_>>) -> Answer {
    const NAME: &str = "Speed of light";
    let share = at.and_then(|at| Some((at, at.level.speed_of_light.output_share()?)));
    if let Some((at, share)) = share
        && let SpeedOfLight::Known(light) = &at.level.speed_of_light
    {
        let bound = supported(light.bound.output_tokens_per_s.get(), None);
        let of_bound = format!("{bound} output tokens/s, which nothing can beat at this load");
        let mut lines = match light.even_routing {
            None => vec![format!("of {of_bound}")],
            Some(even) => {
                let most = supported(even.output_tokens_per_s.get(), None);
                vec![
                    format!(
                        "of {most} output tokens/s, the most where tokens choose experts evenly"
                    ),
                    format!("the bound is {of_bound}"),
                ]
            }
        };
        let expected = light.expected.as_ref().ok();
        lines.extend(expected.map(|expected| {
            let rate = supported(expected.figures.output_tokens_per_s.get(), None);
            format!("the roofline model expects {rate} output tokens/s")
        }));
        return Answer::known(NAME, percent(share.get()), lines);
    }
    let reasons = Shown(report).speed_of_light_reasons().join("; ");
    let why = if reasons.is_empty() { "nothing was measured".to_owned() } else { reasons };
    Answer::absent(NAME, "not computed", why)
}

fn limit(at: Option<AnswerLevel<'_>>) -> Answer {
    const NAME: &str = "What limits it";
    let Some(light) = at.and_then(|at| at.level.speed_of_light.comparison()) else {
        return Answer::absent(NAME, "not known", "a speed of light is needed to say");
    };
    let headline = match light.bound.limited_by {
        LimitedBy::Compute => "compute",
        LimitedBy::KvTraffic => "memory: KV cache",
        LimitedBy::WeightTraffic => "memory: weights",
        _ => light.bound.limited_by.as_str(),
    };
    let mut lines = vec!["sets the bound on throughput at this load".to_owned()];
    lines.extend(light.expected.as_ref().ok().map(|expected| {
        let by = expected.limited_by;
        format!("prefill: {}; decode: {}", by.prefill, by.decode)
    }));
    Answer::known(NAME, headline.to_owned(), lines)
}

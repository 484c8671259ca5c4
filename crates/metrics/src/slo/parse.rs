//! Reading goals.

use std::fmt;
use std::str::FromStr;

use super::{Comparison, Goal, Slo};
use crate::{BetterDirection, Metric, Statistic};

/// Why a text is not a set of goals. The message names the goal at fault and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SloError(String);

fn wrong(piece: &str, what: impl fmt::Display) -> SloError {
    SloError(format!("goal `{piece}`: {what}"))
}

impl TryFrom<String> for Slo {
    type Error = SloError;

    fn try_from(text: String) -> Result<Self, SloError> {
        text.parse()
    }
}

impl From<Slo> for String {
    fn from(slo: Slo) -> Self {
        slo.to_string()
    }
}

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, SloError> {
        let goals: Result<Vec<Goal>, SloError> = text.split(',').map(goal).collect();
        goals.map(|goals| Self { goals })
    }
}

const SHAPE: &str = "write `[statistic] metric<number[unit]`, for instance `p99 ttft<500ms`";

fn goal(piece: &str) -> Result<Goal, SloError> {
    let piece = piece.trim();
    if piece.is_empty() {
        let empty =
            "a goal is missing: write goals separated by commas, for instance `p99 ttft<500ms`";
        return Err(SloError(empty.to_owned()));
    }
    let (words, comparison, amount) = split(piece)?;
    let words: Vec<&str> = words.split_whitespace().collect();
    let (statistic, name) = match words[..] {
        [name] => (None, name),
        [name, statistic] if is_swapped(name, statistic) => {
            let rest = piece.split_once(statistic).map_or("", |(_, rest)| rest.trim());
            let right = format!("the statistic comes first; write `{statistic} {name}{rest}`");
            return Err(wrong(piece, right));
        }
        [statistic, name] => (Some(statistic), name),
        _ => return Err(wrong(piece, SHAPE)),
    };
    let (tight, loose) = ends(amount);
    let metric = metric(
        piece,
        name,
        parse_number(piece, tight.0, if tight.0.is_empty() { amount } else { tight.0 })?,
    )?;
    let limit_of = |(number, unit)| in_unit_of(metric, piece, number, unit);
    let goal = Goal {
        statistic: parse_statistic(piece, statistic, metric)?,
        metric,
        comparison,
        limit: limit_of(tight)?,
        loosest: loose.map(limit_of).transpose()?,
    };
    check_direction(piece, &goal)?;
    check_least(piece, &goal)?;
    check_range(piece, &goal)?;
    let over = |limit: f64| match comparison {
        Comparison::Greater => limit >= 1.0,
        _ => limit > 1.0,
    };
    if matches!(metric, Metric::GoodShare | Metric::FailedShare)
        && (over(goal.limit) || goal.loosest.is_some_and(over))
    {
        return Err(wrong(
            piece,
            "a share goes from 0 to 1 and cannot be above 1; for requests per second write `goodput_per_s`",
        ));
    }
    let is_all = |limit: f64| limit >= 1.0;
    if metric == Metric::FailedShare && (is_all(goal.limit) || goal.loosest.is_some_and(is_all)) {
        return Err(wrong(
            piece,
            "a share of 1 is all requests, so that it says nothing; write `failed<1%` for one in a hundred",
        ));
    }
    Ok(goal)
}

/// Whether the statistic stands behind its metric.
fn is_swapped(name: &str, statistic: &str) -> bool {
    Metric::named(name).is_some() && Statistic::named(statistic).is_some()
}

/// Refuses a sign the wrong way round: that a latency or failures be many, or throughput and good requests few.
fn check_direction(piece: &str, goal: &Goal) -> Result<(), SloError> {
    use BetterDirection::{HigherIsBetter, LowerIsBetter};
    let direction = goal.metric.direction();
    let (right, side) = match (goal.comparison, direction) {
        (Comparison::Greater, LowerIsBetter) => (Comparison::Less, "below"),
        (Comparison::GreaterOrEqual, LowerIsBetter) => (Comparison::LessOrEqual, "below"),
        (Comparison::Less, HigherIsBetter) => (Comparison::Greater, "above"),
        (Comparison::LessOrEqual, HigherIsBetter) => (Comparison::GreaterOrEqual, "above"),
        _ => return Ok(()),
    };
    let what = match (goal.metric, goal.metric.is_latency(), direction) {
        (_, true, _) => "a latency",
        (_, false, LowerIsBetter) => "the share of failed requests",
        (Metric::GoodShare, ..) => "the share of good requests",
        (_, false, HigherIsBetter) => "throughput",
    };
    let right = piece.replacen(goal.comparison.as_str(), right.as_str(), 1);
    Err(wrong(piece, format_args!("{what} must stay {side} its limit; write `{right}`")))
}

/// Refuses to ask for less than nothing, which no server gives.
fn check_least(piece: &str, goal: &Goal) -> Result<(), SloError> {
    if goal.comparison != Comparison::Less || goal.limit > 0.0 {
        return Ok(());
    }
    let right = piece.replacen('<', "<=", 1);
    Err(wrong(piece, format_args!("nothing is below 0; write `{right}`")))
}

fn check_range(piece: &str, goal: &Goal) -> Result<(), SloError> {
    let Some(loosest) = goal.loosest else { return Ok(()) };
    let (is_looser, looser) = match goal.comparison {
        Comparison::Less | Comparison::LessOrEqual => (loosest > goal.limit, "higher"),
        Comparison::Greater | Comparison::GreaterOrEqual => (loosest < goal.limit, "lower"),
    };
    let comparison = goal.comparison.as_str();
    match is_looser {
        true => Ok(()),
        false => Err(wrong(
            piece,
            format_args!(
                "a range begins with the tight limit, and with `{comparison}` the loose one is \
                 {looser}; swap the two, or give one limit"
            ),
        )),
    }
}

/// The words before the comparison, the comparison, what follows it.
fn split(piece: &str) -> Result<(&str, Comparison, &str), SloError> {
    let all = [
        // The longer signs first: the shorter ones are their beginnings.
        Comparison::LessOrEqual,
        Comparison::GreaterOrEqual,
        Comparison::Less,
        Comparison::Greater,
    ];
    let found = all.into_iter().find_map(|comparison| {
        let (words, amount) = piece.split_once(comparison.as_str())?;
        Some((words, comparison, amount.trim()))
    });
    found.ok_or_else(|| wrong(piece, SHAPE))
}

/// The limit, and the loose end of a range; each a number and its unit, which the first end may leave to the second.
fn ends(amount: &str) -> ((&str, &str), Option<(&str, &str)>) {
    let Some((tight, loose)) = amount.split_once("..") else {
        return (number_and_unit(amount), None);
    };
    let (tight, loose) = (number_and_unit(tight.trim()), number_and_unit(loose.trim()));
    let unit = if tight.1.is_empty() { loose.1 } else { tight.1 };
    ((tight.0, unit), Some(loose))
}

/// A decimal number and what stands behind it.
fn number_and_unit(amount: &str) -> (&str, &str) {
    let end = amount.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = amount.split_at(end.unwrap_or(amount.len()));
    (number, unit.trim())
}

/// `shown` is what the error shows for `text`.
fn parse_number(piece: &str, text: &str, shown: &str) -> Result<f64, SloError> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| match shown {
        "" => wrong(piece, "it has no limit; write a positive decimal number, such as 500"),
        _ => {
            wrong(piece, format_args!("`{shown}` is not a limit; write a positive decimal number"))
        }
    })
}

fn metric(piece: &str, name: &str, limit: f64) -> Result<Metric, SloError> {
    if name == "failed" {
        return Ok(Metric::FailedShare);
    }
    if name == "goodput" {
        return Ok(if limit <= 1.0 { Metric::GoodShare } else { Metric::GoodputPerSec });
    }
    Metric::named(name).ok_or_else(|| {
        let names = Metric::goal_names();
        wrong(
            piece,
            format_args!("unknown metric `{name}`; the metrics are {names}, goodput, failed"),
        )
    })
}

fn parse_statistic(piece: &str, name: Option<&str>, metric: Metric) -> Result<Statistic, SloError> {
    let name = match (name, metric.is_latency()) {
        (None, true) => return Ok(Statistic::P99),
        (None, false) => return Ok(Statistic::Value),
        (Some(name), true) => name,
        (Some(name), false) => {
            let metric = metric.entry().key;
            return Err(wrong(
                piece,
                format_args!("{metric} is one number a level; drop `{name}`"),
            ));
        }
    };
    Statistic::named(name).ok_or_else(|| {
        let known = "the statistics are mean, p50, p90, p95, p99, p999, max";
        wrong(piece, format_args!("unknown statistic `{name}`; {known}"))
    })
}

/// The number in the metric's own unit. Shifted as text, so that `0.07s` is 70 ms to the last bit.
fn in_unit_of(metric: Metric, piece: &str, number: &str, unit: &str) -> Result<f64, SloError> {
    let exponent = match (metric.is_latency(), unit) {
        (true, "ns") => "e-6",
        (true, "us") => "e-3",
        (true, "s") => "e3",
        (true, "" | "ms") | (false, "") => "",
        (false, "%") if matches!(metric, Metric::GoodShare | Metric::FailedShare) => "e-2",
        (is_latency, _) => {
            let right = if is_latency { "ns, us, ms or s" } else { "a bare number" };
            let metric = metric.entry().key;
            if let Some((_, next)) = unit.split_once(' ') {
                let next = next.trim();
                return Err(wrong(piece, format_args!("put a comma before `{next}`")));
            }
            return Err(wrong(
                piece,
                format_args!("unknown unit `{unit}`; {metric} takes {right}"),
            ));
        }
    };
    parse_number(piece, &format!("{number}{exponent}"), number)
}

//! Goals as text.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Millis;

use super::{GoodputGoals, RequestGoal};

/// Why a text is not a set of goals for requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoodputError {
    /// A piece without a colon.
    #[error("goodput goal `{0}`: write `name:milliseconds`, for instance `ttft:500`")]
    NoColon(String),
    /// Names that are no metric of a request.
    #[error("unknown goodput goal {}: the names are {}{}", quoted(.0), names(), hint(.0))]
    UnknownNames(Vec<String>),
    /// A limit that is not a positive number.
    #[error(
        "goodput goal `{0}`: the limit must be a positive number of milliseconds, without a unit; goals are separated by spaces, as in \
         `ttft:300 tpot:20`"
    )]
    Limit(String),
    /// One name twice in a group.
    #[error("goodput goal `{0}` is given twice: keep one, or put `or` between them")]
    Twice(String),
    /// An `or` without goals on both sides.
    #[error("`or` needs goals on both sides, for instance `ttft:500 or e2el:2000`")]
    EmptyGroup,
}

impl FromStr for GoodputGoals {
    type Err = GoodputError;

    /// Reads goals separated by white space, and groups of them separated by `or`. An empty text gives no goals.
    fn from_str(text: &str) -> Result<Self, GoodputError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Ok(Self::NONE);
        }
        let mut unknown = Vec::new();
        let mut groups = Vec::new();
        for words in words.split(|word| word.eq_ignore_ascii_case("or")) {
            groups.push(group(words, &mut unknown)?);
        }
        if unknown.is_empty() {
            Ok(Self { groups })
        } else {
            Err(GoodputError::UnknownNames(unknown))
        }
    }
}

/// One group; names that are no metric go to `unknown`, so that one message has them all.
fn group(words: &[&str], unknown: &mut Vec<String>) -> Result<Vec<RequestGoal>, GoodputError> {
    if words.is_empty() {
        return Err(GoodputError::EmptyGroup);
    }
    let mut goals: Vec<RequestGoal> = Vec::new();
    for &word in words {
        let Some((name, limit)) = word.split_once(':') else {
            return Err(GoodputError::NoColon(word.to_owned()));
        };
        let key = key(name);
        let Some(metric) = RequestGoal::metrics().find(|metric| RequestGoal::key(*metric) == key)
        else {
            unknown.push(name.to_owned());
            continue;
        };
        let limit: f64 = limit.parse().unwrap_or(f64::NAN);
        if !(limit > 0.0 && limit.is_finite()) {
            return Err(GoodputError::Limit(word.to_owned()));
        }
        if goals.iter().any(|goal| goal.metric == metric) {
            return Err(GoodputError::Twice(name.to_owned()));
        }
        goals.push(RequestGoal { metric, limit: Millis::new(limit) });
    }
    Ok(goals)
}

impl fmt::Display for GoodputGoals {
    /// The text that gives the same goals: `ttft:500 tpot:50 or e2el:2000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.groups.iter().enumerate() {
            f.write_str(if i > 0 { " or " } else { "" })?;
            f.write_str(&spelled(group))?;
        }
        Ok(())
    }
}

impl TryFrom<String> for GoodputGoals {
    type Error = <Self as FromStr>::Err;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<GoodputGoals> for String {
    fn from(goals: GoodputGoals) -> Self {
        goals.to_string()
    }
}

impl fmt::Display for RequestGoal {
    /// `ttft:500`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::key(self.metric), self.limit.get())
    }
}

/// The goals of one group, as they would be written.
pub(super) fn spelled<'a>(goals: impl IntoIterator<Item = &'a RequestGoal>) -> String {
    goals.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn names() -> String {
    let mut names: Vec<&str> = RequestGoal::metrics().map(RequestGoal::key).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} and {last}", names.join(", "))
}

/// Ours for what AIPerf calls the same figure of a request, and else the name itself. Its `inter_token_latency` is a request's mean.
fn key(name: &str) -> &str {
    match name {
        "time_to_first_token" => "ttft",
        "time_to_first_output_token" => "first_visible",
        "inter_token_latency" => "tpot",
        "request_latency" => "e2el",
        own => own,
    }
}

/// For a word that others use of the gaps, of which a reply has many, and for AIPerf's for a rate where ours is a time.
fn hint(unknown: &[String]) -> &'static str {
    let has = |word: &str| unknown.iter().any(|name| name == word);
    match () {
        () if has("itl") => "; a reply has many gaps: `itl_p99` is the p99 of its own",
        () if has("output_token_throughput_per_user") => {
            "; so many tokens a second are 1000 milliseconds shared over them: 50 are `tpot:20`"
        }
        () => "",
    }
}

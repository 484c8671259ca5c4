//! From arguments to conversations, shared prefixes and a mix of models.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::{Seconds, Tokens};
use fizeau::workload::{ModelShare, Popularity, SharedPrefix, ThinkTime, Turns};

use crate::args::PrefixArgs;
use crate::exit::{Fail, Named};

/// `4` or `2-6`.
pub(crate) fn turns(text: &str) -> Result<Turns, Fail> {
    let number = |text: &str| text.trim().parse::<NonZeroU32>().ok();
    let turns = match text.split_once('-') {
        None => number(text).map(Turns::Fixed),
        Some((least, most)) => number(least)
            .zip(number(most))
            .filter(|(least, most)| least <= most)
            .map(|(least, most)| Turns::Uniform { least, most }),
    };
    turns.ok_or_else(|| {
        Fail::usage(format!("--turns {text}: give a number of turns such as 4, or a range as 2-6"))
    })
}

/// `2`, `exp:2` or `lognormal:2`.
pub(crate) fn think(text: &str) -> Result<ThinkTime, Fail> {
    let (law, number) = text.split_once(':').unwrap_or(("", text));
    let seconds = number.trim().parse().ok();
    let seconds = seconds.filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    let think = seconds.map(Seconds::new).and_then(|seconds| match law.trim() {
        "" => Some(ThinkTime::Fixed { seconds }),
        "exp" => Some(ThinkTime::Exponential { mean: seconds }),
        "lognormal" => Some(ThinkTime::LogNormal { median: seconds, sigma: SPREAD }),
        _ => None,
    });
    think.ok_or_else(|| {
        Fail::usage(format!(
            "--think-time {text}: give seconds, such as 2, exp:2 (their mean) or lognormal:2 (their median)"
        ))
    })
}

/// The spread of a log-normal think time: one in six thinks more than 2.2 times as long as the median.
const SPREAD: f64 = 0.8;

/// What prompts begin with that others begin with too.
pub(crate) fn prefix(args: &PrefixArgs) -> Result<SharedPrefix, Fail> {
    let (Some(groups), Some(tokens)) = (args.prefix_groups, args.prefix_len) else {
        return Ok(match args.random_prefix_len {
            0 => SharedPrefix::None,
            tokens => SharedPrefix::Common { tokens: Tokens::new(tokens) },
        });
    };
    if args.random_prefix_len > 0 {
        return Err(Fail::usage(
            "--random-prefix-len: it shares one prefix among all, --prefix-groups several: give one of them",
        ));
    }
    if tokens == 0 {
        return Err(Fail::usage("--prefix-len 0: give the prefixes at least 1 token"));
    }
    Ok(SharedPrefix::Groups {
        groups: NonZeroU64::new(groups)
            .ok_or_else(|| Fail::usage("--prefix-groups 0: give at least 1"))?,
        tokens: Tokens::new(tokens),
        share: args.prefix_share.unwrap_or(1.0),
        popularity: match args.prefix_zipf {
            None => Popularity::Uniform,
            Some(exponent) => Popularity::Zipf { exponent },
        },
    })
}

/// `a b=2`: names, and how often each comes.
pub(crate) fn models(shares: &[String]) -> Result<Vec<ModelShare>, Fail> {
    let share = |text: &String| {
        let flag = format!("--lora-modules {text}");
        let (name, weight) = match text.rsplit_once('=') {
            None => (text.as_str(), 1.0),
            Some((name, weight)) => (name, weight.trim().parse::<f64>().named(&flag)?),
        };
        if name.trim().is_empty() || !(weight.is_finite() && weight > 0.0) {
            return Err(Fail::usage(format!(
                "{flag}: write NAME or NAME=WEIGHT, with a weight above 0"
            )));
        }
        Ok(ModelShare { model: name.trim().into(), weight })
    };
    shares.iter().map(share).collect()
}

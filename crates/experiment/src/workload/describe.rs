//! A workload as a person reads it.

use fizeau_core::Tokens;
use fizeau_record::{RequestedLength, RequestedLengths};
use fizeau_workload::{
    ArrivalLaw, Length, Lengths, PlanSpec, PromptContent, RampShape, RampSpan, RateStage, Rescale,
    Sessions, Spacing, ThinkTime, Turns,
};

/// Lengths that a file has.
pub(super) fn of_file(what: &str) -> RequestedLength {
    RequestedLength::in_words(format!("as the {what} has them"))
}

/// Always `tokens`.
fn fixed(tokens: Tokens) -> RequestedLength {
    by_law(tokens.to_string(), tokens, tokens)
}

fn by_law(law: String, p50: Tokens, p90: Tokens) -> RequestedLength {
    RequestedLength { p50: Some(p50), p90: Some(p90), ..RequestedLength::in_words(law) }
}

/// `own` with the `prefix` that stands before each.
fn behind(own: RequestedLength, prefix: Tokens) -> RequestedLength {
    if prefix == Tokens::ZERO {
        return own;
    }
    RequestedLength {
        law: own.law.map(|law| format!("{law} behind a prefix of {prefix}")),
        p50: own.p50.map(|own| prefix + own),
        p90: own.p90.map(|own| prefix + own),
        mean: None,
    }
}

/// Of each turn; a whole prompt has those before it too, and its length is not known.
fn each_turn(turn: &RequestedLength) -> RequestedLength {
    RequestedLength::in_words(format!("each turn {}", turn.law.as_deref().unwrap_or_default()))
}

/// The prompt and output lengths that `spec` asks for; of a data set, `output` is what all outputs were set to.
pub(super) fn requested_lengths(spec: &PlanSpec, output: Option<Tokens>) -> RequestedLengths {
    let (input, output) = match &spec.content {
        PromptContent::Dataset { .. } => {
            let output = output.map_or_else(|| data_output(&spec.lengths), fixed);
            (of_file("data set"), output)
        }
        PromptContent::PrefixRepetition(of) => (fixed(of.prefix + of.suffix), fixed(of.output)),
        _ => {
            let (input, output) = laws(&spec.lengths);
            let has_turns = spec.sessions.is_some_and(|sessions| sessions.turns.most().get() > 1);
            let input = if has_turns { each_turn(&input) } else { input };
            (behind(input, spec.prefix_tokens()), output)
        }
    };
    RequestedLengths { input: Some(input), output: Some(output) }
}

/// What a data set does not say, the law of lengths does.
fn data_output(lengths: &Lengths) -> RequestedLength {
    let own = "as the data set has them";
    RequestedLength::in_words(format!("{own}, else {}", output_law(lengths)))
}

/// The law of output lengths as a person reads it.
pub(super) fn output_law(lengths: &Lengths) -> String {
    laws(lengths).1.law.unwrap_or_default()
}

fn laws(lengths: &Lengths) -> (RequestedLength, RequestedLength) {
    let (p50, p90) = (lengths.quantile(0.5), lengths.quantile(0.9));
    let (input, output) = match lengths {
        Lengths::Independent { input, output } => (law(input), law(output)),
        Lengths::Pairs(_) => (format!("pairs {lengths}"), format!("pairs {lengths}")),
    };
    (by_law(input, p50.input, p90.input), by_law(output, p50.output, p90.output))
}

/// A law of lengths as a person reads it.
fn law(length: &Length) -> String {
    match length {
        Length::Fixed(tokens) => tokens.to_string(),
        Length::Uniform { .. } | Length::UniformUpTo { .. } | Length::Between { .. } => {
            let (low, high) = length.bounds().into_inner();
            format!("uniform {low} to {high}")
        }
        law => law.to_string(),
    }
}

/// What arrives.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArrivalUnit {
    Requests,
    /// Conversations of several turns.
    Sessions,
}

/// Turns and think time, in words.
pub(super) fn turns(sessions: Option<&Sessions>) -> String {
    let Some(Sessions { turns, think }) = sessions else {
        return "as the data set has them, no think time but its own".to_owned();
    };
    let turns = match turns {
        Turns::Fixed(n) if n.get() == 1 => "as the data set has them".to_owned(),
        Turns::Fixed(n) => n.to_string(),
        Turns::Uniform { least, most } => format!("{least} to {most}"),
    };
    let think = match think {
        ThinkTime::None => "no think time".to_owned(),
        ThinkTime::Fixed { seconds } => format!("think time {} s", seconds.get()),
        ThinkTime::Exponential { mean } => format!("think time exponential, mean {} s", mean.get()),
        ThinkTime::LogNormal { median, sigma } => {
            format!("think time log-normal, median {} s, sigma {sigma}", median.get())
        }
    };
    format!("{turns}, {think}")
}

/// How requests arrive, in one line.
pub(super) fn arrivals(arrivals: &ArrivalLaw, what: ArrivalUnit) -> String {
    let a_second = match what {
        ArrivalUnit::Requests => "a second",
        ArrivalUnit::Sessions => "sessions a second",
    };
    match arrivals {
        ArrivalLaw::AllAtOnce => "all at once".to_owned(),
        ArrivalLaw::ClosedLoop => match what {
            ArrivalUnit::Requests => "closed loop: a request leaves when a slot is free".to_owned(),
            ArrivalUnit::Sessions => "closed loop: a session begins when a slot is free".to_owned(),
        },
        ArrivalLaw::Constant { rate } => format!("constant, {} {a_second}", rate.get()),
        ArrivalLaw::Gamma { rate, burstiness, rescale } => {
            let law = match burstiness.to_bits() == 1.0_f64.to_bits() {
                true => format!("Poisson, {} {a_second}", rate.get()),
                false => format!("gamma, {} {a_second}, burstiness {burstiness}", rate.get()),
            };
            match rescale {
                Rescale::None => law,
                Rescale::ToMean => format!("{law}, stretched to the mean"),
            }
        }
        ArrivalLaw::Ramp { from, to, shape, over, spacing } => {
            let shape = match shape {
                RampShape::Linear => "linear",
                RampShape::Exponential => "exponential",
            };
            let over = match over {
                RampSpan::Time(time) => format!("{} s", time.get()),
                RampSpan::Requests => "all requests".to_owned(),
            };
            let (from, to) = (from.get(), to.get());
            format!("{shape} ramp, {from} to {to} {a_second} over {over}{}", gaps(*spacing))
        }
        ArrivalLaw::Stages { stages, spacing } => {
            let stage =
                |stage: &RateStage| format!("{} for {} s", stage.rate.get(), stage.lasts.get());
            let stages: Vec<String> = stages.iter().map(stage).collect();
            format!("stages of {}, {a_second}{}", stages.join(", "), gaps(*spacing))
        }
        ArrivalLaw::OnOff { on, off, mean_on, mean_off } => format!(
            "bursts, {} {a_second} for {} s in the mean, then {} for {} s",
            on.get(),
            mean_on.get(),
            off.get(),
            mean_off.get()
        ),
        ArrivalLaw::Diurnal { mean, swing, period, spacing } => format!(
            "sine, {} {a_second} in the mean, {swing} of it up and down in {} s{}",
            mean.get(),
            period.get(),
            gaps(*spacing)
        ),
    }
}

fn gaps(spacing: Spacing) -> String {
    match spacing {
        Spacing::Even => ", even".to_owned(),
        Spacing::Random { burstiness } if burstiness.to_bits() == 1.0_f64.to_bits() => {
            String::new()
        }
        Spacing::Random { burstiness } => format!(", burstiness {burstiness}"),
    }
}

//! From arguments to a workload.

use std::sync::Arc;

use fizeau::core::{EosRule, PerSec, Tokens};
use fizeau::metrics::CacheExpectation;
use fizeau::report::{Asked, AskedArrivals};
use fizeau::transport::{PromptKind, Target};
use fizeau::workload::{
    Arrivals, Content, Length, Lengths, Seed, SharedPrefix, Spec, TextCodec, Wording,
};

use crate::args::{SamplingArgs, WorkloadArgs};
use crate::exit::{Fail, Named};
use crate::tokenizer;

/// What to ask, and the tokenizer to make it with.
pub(crate) struct Ask {
    pub(crate) spec: Spec,
    pub(crate) tokenizer: Option<Arc<dyn TextCodec>>,
}

/// The workload of `requests` requests of the given nominal lengths.
pub(crate) fn ask(
    args: &WorkloadArgs,
    target: &Target,
    requests: u64,
    (input, output): (u64, u64),
    arrivals: Arrivals,
) -> Result<Ask, Fail> {
    if args.dataset_name != "random" {
        return Err(Fail::usage(format!(
            "--dataset-name {}: not a dataset that fizeau has; it has random",
            args.dataset_name
        )));
    }
    let tokenizer = args.tokenizer.as_deref().map(tokenizer::load).transpose()?;
    let spec = Spec {
        arrivals,
        lengths: Lengths::Independent {
            input: length(input, args.random_range_ratio),
            output: length(output, args.random_range_ratio),
        },
        prefix: match args.random_prefix_len {
            0 => SharedPrefix::None,
            tokens => SharedPrefix::Common { tokens: Tokens::new(tokens) },
        },
        content: content(target, tokenizer.is_some()),
        eos: if args.no_ignore_eos { EosRule::Stop } else { EosRule::Ignore },
        seed: Seed(args.seed),
        ..Spec::new(requests).named("--num-prompts")?
    };
    Ok(Ask { spec, tokenizer })
}

fn length(nominal: u64, ratio: f64) -> Length {
    let nominal = Tokens::new(nominal);
    if ratio == 0.0 { Length::Fixed(nominal) } else { Length::Uniform { nominal, ratio } }
}

/// Token ids have a certain length and need no tokenizer, so they are taken wherever the endpoint does.
fn content(target: &Target, has_tokenizer: bool) -> Content {
    let wording = if has_tokenizer { Wording::Exact } else { Wording::Words };
    if target.takes_token_ids() && !has_tokenizer {
        Content::default()
    } else if target.route().takes(PromptKind::Chat) {
        Content::Chat(wording)
    } else {
        Content::Text(wording)
    }
}

/// Prompt and output lengths as a person reads them.
pub(crate) fn describe_lengths(lengths: &Lengths) -> (String, String) {
    match lengths {
        Lengths::Independent { input, output } => (describe(input), describe(output)),
        Lengths::Pairs(_) => ("pairs".to_owned(), "pairs".to_owned()),
    }
}

/// A length as a person reads it.
fn describe(length: &Length) -> String {
    match length {
        Length::Fixed(tokens) => tokens.to_string(),
        _ => {
            let (low, high) = length.bounds().into_inner();
            format!("uniform {low} to {high}")
        }
    }
}

/// How requests arrive, in one line.
pub(crate) fn describe_arrivals(arrivals: &Arrivals) -> String {
    match *arrivals {
        Arrivals::AllAtOnce => "all at once".to_owned(),
        Arrivals::ClosedLoop => "closed loop: a request leaves when a slot is free".to_owned(),
        Arrivals::Constant { rate } => format!("constant, {} a second", rate.get()),
        Arrivals::Gamma { rate, burstiness: 1.0, .. } => {
            format!("Poisson, {} a second", rate.get())
        }
        Arrivals::Gamma { rate, burstiness, .. } => {
            format!("gamma, {} a second, burstiness {burstiness}", rate.get())
        }
        _ => format!("{arrivals:?}"),
    }
}

/// What is asked for of the load, as figures. The hit rate is that of the mean prompt, once the prefix is in the cache.
pub(crate) fn asked(spec: &Spec) -> Asked {
    let law = |rate: PerSec, cv_squared: f64| AskedArrivals {
        rate: Some(rate),
        cv_squared: Some(cv_squared),
    };
    let arrivals = match spec.arrivals {
        Arrivals::ClosedLoop => None,
        Arrivals::Constant { rate } => Some(law(rate, 0.0)),
        Arrivals::Gamma { rate, burstiness, .. } => Some(law(rate, burstiness.recip())),
        _ => Some(AskedArrivals::default()),
    };
    let mean_input = match &spec.lengths {
        Lengths::Independent { input, .. } => {
            let (low, high) = input.bounds().into_inner();
            (low.get() as f64 + high.get() as f64) / 2.0
        }
        Lengths::Pairs(_) => return Asked { arrivals, cache: CacheExpectation::Reuse },
    };
    let prefix = spec.prefix.tokens().get() as f64;
    let cache = match spec.prefix {
        SharedPrefix::None => CacheExpectation::None,
        _ => CacheExpectation::Share(prefix / (prefix + mean_input)),
    };
    Asked { arrivals, cache }
}

/// Sampling fields of the request body, as a JSON object; only those that were given.
pub(crate) fn sampling_body(args: &SamplingArgs) -> Result<String, Fail> {
    let mut body = match &args.extra_body {
        None => serde_json::Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Fail::usage(format!("--extra-body: {error}; it takes a JSON object"))
        })?,
    };
    let floats = [
        ("temperature", args.temperature),
        ("top_p", args.top_p),
        ("min_p", args.min_p),
        ("frequency_penalty", args.frequency_penalty),
        ("presence_penalty", args.presence_penalty),
        ("repetition_penalty", args.repetition_penalty),
    ];
    for (name, value) in floats {
        if let Some(value) = value {
            body.insert(name.to_owned(), value.into());
        }
    }
    if let Some(top_k) = args.top_k {
        body.insert("top_k".to_owned(), top_k.into());
    }
    Ok(serde_json::Value::Object(body).to_string())
}

//! A line for each sampler, law and kind of content with a hash of what it gives: `cargo run -p fizeau-workload --example
//! fingerprint`. The lines are the same wherever, and with whatever else, this crate was built; `cargo xtask test` builds
//! it alone and within the whole workspace and compares.

use std::error::Error;
use std::fmt::Debug;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::{Nanos, PerSec, Prompt, RequestSource, Scheduled, Seconds, Stamp, Tape, Tokens};
use fizeau_workload::{
    ArrivalLaw, ArrivalProcess, Conversation, Dataset, Instants, Length, LengthBin, Lengths,
    ModelShare, Plan, PlanSource, PlanSpec, Popularity, PrefixRepetition, PromptContent,
    PromptForm, RampShape, RampSpan, RandomStream, RateStage, RecordOrder, RecordReuse, Rescale,
    Salt, Seed, Sessions, SharedPrefix, Spacing, TextSource, ThinkTime, Turn, Turns, VllmRandom,
    WeightedPair,
};

/// Requests of each plan.
const REQUESTS: u64 = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, sample) in SAMPLERS {
        let plan = Plan::builder(spec()?).arrivals(Sampler(*sample)).build()?;
        line("sampler", name, plan.schedule());
    }
    for (name, arrivals) in arrivals() {
        line("arrivals", name, Plan::new(PlanSpec { arrivals, ..spec()? })?.schedule());
    }
    for (name, lengths) in lengths() {
        let sizes = Plan::new(PlanSpec { lengths, ..spec()? })?
            .source()
            .map(|scheduled| (scheduled.request.input_tokens, scheduled.request.max_output_tokens));
        line("lengths", name, sizes);
    }
    for (name, content) in contents() {
        line("content", name, Plan::new(PlanSpec { content, ..spec()? })?.source());
    }
    for (name, spec) in wholes()? {
        let plan = Plan::new(spec)?;
        line("plan", name, all_turns(plan.source())?.into_iter().chain(plan.warmup(10)));
    }
    let plan = Plan::builder(records()?).dataset(Arc::new(dataset())).build()?;
    line("plan", "data set", all_turns(plan.source())?.into_iter());
    Ok(())
}

/// Every turn of every session, one after another: each request takes a second, and its reply is always the same.
fn all_turns(mut source: PlanSource) -> Result<Vec<Scheduled>, Box<dyn Error>> {
    let (mut all, mut end) = (Vec::new(), Nanos::ZERO);
    while let Some(first) = source.next_request()? {
        let mut next = Some(first);
        while let Some(scheduled) = next {
            end += Nanos::from_secs(1);
            let request = &scheduled.request;
            let mut tape = Tape::sent_at(Stamp::EPOCH);
            (tape.request, tape.session, tape.turn) = (request.id, request.session, request.turn);
            tape.text = Some("so it is".to_owned());
            next = source.after(&tape, end)?;
            all.push(scheduled);
        }
    }
    Ok(all)
}

fn line(kind: &str, name: &str, items: impl Iterator<Item: Debug>) {
    // FNV-1a over the debug form, in which floats have all their digits.
    let hash = items
        .flat_map(|item| format!("{item:?};").into_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    println!("{kind:<9} {name:<20} {hash:016x}");
}

type Sample = fn(&mut RandomStream) -> u64;

const SAMPLERS: &[(&str, Sample)] = &[
    ("whole numbers", RandomStream::next_u64),
    ("below 1000003", |draws| draws.below(1_000_003)),
    ("unit", |draws| draws.unit().to_bits()),
    ("exponential", |draws| draws.exponential().to_bits()),
    ("normal", |draws| draws.normal().to_bits()),
    ("gamma 0.1", |draws| draws.gamma(0.1).to_bits()),
    ("gamma 0.5", |draws| draws.gamma(0.5).to_bits()),
    ("gamma 4", |draws| draws.gamma(4.0).to_bits()),
];

/// The bits of a sampler, passed off as instants: a law of one's own is what is handed random numbers.
#[derive(Debug)]
struct Sampler(Sample);

impl ArrivalProcess for Sampler {
    fn instants(&self, sessions: u64, mut draws: RandomStream) -> Instants {
        let Self(sample) = *self;
        Box::new((0..sessions).map(move |_| Nanos::from_nanos(sample(&mut draws))))
    }
}

fn spec() -> Result<PlanSpec, Box<dyn Error>> {
    Ok(PlanSpec { lengths: Lengths::fixed(20, 5), seed: Seed(7), ..PlanSpec::new(REQUESTS)? })
}

fn arrivals() -> Vec<(&'static str, ArrivalLaw)> {
    let (from, to) = (PerSec::new(10.0), PerSec::new(200.0));
    let over = RampSpan::Time(Seconds::new(5.0));
    let spacing = Spacing::Random { burstiness: 0.7 };
    let gamma = |burstiness, rescale| ArrivalLaw::Gamma { rate: to, burstiness, rescale };
    let ramp = |shape, over, spacing| ArrivalLaw::Ramp { from, to, shape, over, spacing };
    let stages = [10.0, 0.0, 300.0].map(PerSec::new);
    let stages = stages.map(|rate| RateStage { rate, lasts: Seconds::new(2.0) }).to_vec();
    let (mean_on, mean_off) = (Seconds::new(0.3), Seconds::new(0.7));
    let (mean, period) = (to, Seconds::new(3.0));
    vec![
        ("all at once", ArrivalLaw::AllAtOnce),
        ("constant", ArrivalLaw::Constant { rate: PerSec::new(7.0) }),
        ("Poisson", ArrivalLaw::poisson(to)),
        ("gamma 0.5", gamma(0.5, Rescale::None)),
        ("gamma 4, stretched", gamma(4.0, Rescale::ToMean)),
        ("linear ramp", ramp(RampShape::Linear, over, spacing)),
        ("exponential ramp", ramp(RampShape::Exponential, over, spacing)),
        ("even ramp", ramp(RampShape::Exponential, over, Spacing::Even)),
        ("linear, requests", ramp(RampShape::Linear, RampSpan::Requests, spacing)),
        ("exponential, requests", ramp(RampShape::Exponential, RampSpan::Requests, spacing)),
        ("stages", ArrivalLaw::Stages { stages, spacing }),
        ("on/off", ArrivalLaw::OnOff { on: to, off: from, mean_on, mean_off }),
        ("diurnal", ArrivalLaw::Diurnal { mean, swing: 0.9, period, spacing }),
        ("even days", ArrivalLaw::Diurnal { mean, swing: 1.0, period, spacing: Spacing::Even }),
    ]
}

fn lengths() -> Vec<(&'static str, Lengths)> {
    let [least, mean, most] = [10, 200, 900].map(Tokens::new);
    let twice = |input: Length| Lengths::Independent { output: input.clone(), input };
    let bin = |from, to, weight| LengthBin { from, to, weight };
    let pair = |input, output, weight| WeightedPair { input, output, weight };
    vec![
        ("uniform", twice(Length::Uniform { nominal: mean, ratio: 0.3 })),
        ("uniform up to", twice(Length::UniformUpTo { most, ratio: 0.3 })),
        ("between", twice(Length::Between { least, most })),
        ("normal", twice(Length::Normal { mean, deviation: 80.0, least, most })),
        ("log-normal", twice(Length::LogNormal { median: mean, sigma: 0.8, least, most })),
        ("histogram", twice(Length::Histogram(vec![bin(least, mean, 0.3), bin(mean, most, 0.1)]))),
        ("pairs", Lengths::Pairs(vec![pair(least, most, 0.3), pair(mean, least, 0.1)])),
    ]
}

fn contents() -> Vec<(&'static str, PromptContent)> {
    let (form, short) = (PromptForm::TokenIds, Tokens::new(20));
    let random = VllmRandom {
        form,
        input: short,
        input_ratio: 0.5,
        output_ratio: 0.5,
        ..VllmRandom::default()
    };
    let repetition =
        PrefixRepetition { form, prefix: short, suffix: short, ..PrefixRepetition::default() };
    vec![
        ("token ids", PromptContent::TokenIds { range: 100..4_000 }),
        ("words", PromptContent::Text(TextSource::Words)),
        ("sonnets", PromptContent::Text(TextSource::Sonnet)),
        ("chat", PromptContent::Chat(TextSource::Words)),
        ("vLLM random", PromptContent::VllmRandom(random)),
        ("vLLM prefixes", PromptContent::PrefixRepetition(repetition)),
    ]
}

fn wholes() -> Result<Vec<(&'static str, PlanSpec)>, Box<dyn Error>> {
    let popularity = Popularity::Zipf { exponent: 1.1 };
    let groups = NonZeroU64::MIN.saturating_add(9);
    let prefix = SharedPrefix::Groups { groups, tokens: Tokens::new(8), share: 0.7, popularity };
    let turns = Turns::Uniform { least: NonZeroU32::MIN, most: NonZeroU32::MIN.saturating_add(4) };
    let arrivals = ArrivalLaw::poisson(PerSec::new(5.0));
    let (mean, median) = (Seconds::new(2.0), Seconds::new(3.0));
    let [slow, sessions] =
        [ThinkTime::Exponential { mean }, ThinkTime::LogNormal { median, sigma: 0.8 }]
            .map(|think| Some(Sessions { turns, think }));
    let content = PromptContent::Chat(TextSource::Words);
    let share = |model, weight| ModelShare { model: Arc::from(model), weight };
    let models = vec![share("a", 0.3), share("b", 0.1), share("c", 0.7)];
    Ok(vec![
        ("prefix groups", PlanSpec { prefix, ..spec()? }),
        ("exponential thoughts", PlanSpec { sessions: slow, content: content.clone(), ..spec()? }),
        ("log-normal thoughts", PlanSpec { sessions, arrivals, content, ..spec()? }),
        ("models", PlanSpec { models, ..spec()? }),
        ("salted", PlanSpec { salt: Salt(3), ..spec()? }),
    ])
}

/// Conversations of one to three turns.
fn dataset() -> Dataset {
    let turn = |text: String| Turn::new(Prompt::Text(text));
    let turns = |n: usize| (0..=n % 3).map(|m| turn(format!("{n} and {m}"))).collect();
    let conversations = (0..100).map(|n| Conversation { turns: turns(n) }).collect();
    Dataset { name: "made up".to_owned(), conversations, dropped: 0 }
}

fn records() -> Result<PlanSpec, Box<dyn Error>> {
    let (form, order, repeat) = (PromptForm::Chat, RecordOrder::Shuffled, RecordReuse::Allowed);
    Ok(PlanSpec {
        content: PromptContent::Dataset { form, order, repeat },
        salt: Salt(3),
        ..spec()?
    })
}

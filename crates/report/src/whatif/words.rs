//! What is said of configurations side by side.

use fizeau_metrics::{Metric, Verdict};
use fizeau_record::text::number;
use fizeau_record::{
    ChosenLevel, FrontierPosition, LatencyBasis, OperatingPoint, STAND_IN_NOTE, SweepReport,
    TailLatency, WhatIf, WhatIfVariant, variant_letter as letter,
};

use crate::Shown;
use crate::text::{input_lengths, output_lengths};

impl Shown<'_, WhatIf> {
    /// That the goals were assumed where they were, and the note on each configuration that has no level within them.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let remark = |(index, variant): (usize, &WhatIfVariant)| {
            let said = match &variant.outcome {
                Err(reason) => reason.to_string(),
                Ok(sweep) => match sweep.operating_point() {
                    OperatingPoint::Met { .. } | OperatingPoint::NoGoal => return None,
                    _ => {
                        let goals = sweep.goal_words().join("; ");
                        let words = sweep.operating_words();
                        if goals.is_empty() { words } else { format!("{words} ({goals})") }
                    }
                },
            };
            Some(format!("{}: {said}", letter(index)))
        };
        let remarks = self.variants().iter().enumerate().filter_map(remark);
        self.assumed_goals().into_iter().chain(remarks).collect()
    }

    /// What ran, and what it was asked, as far as that is the same for all.
    pub(crate) fn load_words(&self) -> String {
        let model = self.shared(|setup| setup.endpoint.model.clone());
        let device = self.shared(|setup| setup.hardware.clone()).flatten();
        let engine = match (model, device) {
            (Some(model), Some(device)) => Some(format!("{model} on {device}")),
            (model, device) => model.or(device),
        };
        let words = [
            engine,
            self.shared(|setup| setup.workload.dataset.clone()),
            self.shared(|setup| input_lengths(&setup.workload)),
            self.shared(|setup| output_lengths(&setup.workload)),
            self.shared(|setup| setup.workload.arrivals_words()),
            self.shared(|setup| format!("seed {}", setup.workload.seed_words())),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// How many configurations, in words.
    pub(crate) fn how_many(&self) -> String {
        match self.variants().len() {
            1 => "1 configuration".to_owned(),
            many => format!("{many} configurations"),
        }
    }

    /// What speaks against the figures: the verdict and its reasons, and what is therefore on no frontier. Nothing where all is
    /// valid.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for (letter, sweep) in self.lettered() {
            for (level, place) in sweep.with_positions() {
                if let FrontierPosition::LeftOut { reason } = place {
                    doubts.push(format!("! left out: {letter} at {} ({reason})", level.load));
                }
            }
        }
        if self.verdict() == Verdict::Valid {
            return doubts;
        }
        doubts.push(format!("Verdict: {}", self.verdict().as_str()));
        for (letter, sweep) in self.lettered() {
            for reason in Shown(sweep).reasons() {
                let own = format!("! left out: {letter} at ");
                let is_own =
                    |doubt: &String| doubt.starts_with(&own) && doubt.contains(reason.text);
                if !doubts.iter().any(is_own) {
                    let (verdict, text, at) = (reason.verdict.as_str(), reason.text, reason.at());
                    doubts.push(format!("  {letter} {verdict}: {text} (at {at})"));
                }
            }
        }
        doubts
    }

    /// Each sweep with the letter of its configuration.
    fn lettered(&self) -> impl Iterator<Item = (String, &SweepReport)> {
        let variants = self.variants().iter().enumerate();
        variants.filter_map(|(index, variant)| Some((letter(index), variant.sweep()?)))
    }
}

/// Load, requests/s, output tokens/s and those of a device.
pub(super) fn rates(chosen: &ChosenLevel<'_>) -> [String; 4] {
    let rates = &chosen.level.summary.throughput;
    [
        chosen.level.load.number(),
        number(rates.requests_per_s.get()),
        number(rates.output_tokens_per_s.get()),
        number(chosen.per_device),
    ]
}

/// What marks the greatest value in place of a p99; a star is on the frontier.
const GREATEST: &str = "^";

/// The tails of the latencies that have columns in tables, in milliseconds.
pub(super) fn tails(chosen: &ChosenLevel<'_>) -> Vec<String> {
    let ms = |tail: Option<TailLatency>| {
        let Some(tail) = tail else { return "-".to_owned() };
        let mark = if tail.basis == LatencyBasis::Max { GREATEST } else { "" };
        format!("{}{mark}", number(tail.ms()))
    };
    of_tabled(chosen).map(ms).collect()
}

fn of_tabled(chosen: &ChosenLevel<'_>) -> impl Iterator<Item = Option<TailLatency>> {
    let level = chosen.level;
    Metric::tabled().map(|metric| TailLatency::of(metric.distribution(&level.summary)?))
}

/// What the mark at a tail of these levels means; none where none has it.
pub(super) fn greatest_note(chosen: &[ChosenLevel<'_>]) -> Option<String> {
    let mut tails = chosen.iter().flat_map(of_tabled).flatten();
    tails.any(|tail| tail.basis == LatencyBasis::Max).then(|| format!("{GREATEST} {STAND_IN_NOTE}"))
}

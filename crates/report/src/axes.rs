//! The axes that people draw levels on.

use fizeau_pareto::{Axis, Objective};

use Objective::{Maximize, Minimize};
use fizeau_record::text::listed;

/// Two columns of a [`LevelTable`](crate::LevelTable) that people hold against each other, by a name.
///
/// ```
/// use fizeau_report::AxesPreset;
/// let preset = AxesPreset::named("throughput-latency:ttft").ok_or("no such axes")?;
/// let names: Vec<_> = preset.axes().iter().map(|axis| axis.name().to_owned()).collect();
/// assert_eq!(names, ["requests_per_s", "p99_ttft_ms"]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxesPreset {
    name: &'static str,
    axes: [(Objective, &'static str); 2],
}

const fn preset(name: &'static str, axes: [(Objective, &'static str); 2]) -> AxesPreset {
    AxesPreset { name, axes }
}

const REQUESTS: (Objective, &str) = (Maximize, "requests_per_s");
const TOKENS: (Objective, &str) = (Maximize, "output_tps");
const COST: (Objective, &str) = (Minimize, "cost_per_million_output");
const E2EL: (Objective, &str) = (Minimize, "p99_e2el_ms");
const TTFT: (Objective, &str) = (Minimize, "p99_ttft_ms");
const TPOT: (Objective, &str) = (Minimize, "p99_tpot_ms");

/// All of them; the first is what is drawn by default.
const PRESETS: [AxesPreset; 13] = [
    preset("throughput-latency", [REQUESTS, E2EL]),
    preset("throughput-latency:ttft", [REQUESTS, TTFT]),
    preset("throughput-latency:tpot", [REQUESTS, TPOT]),
    preset("tokens-latency", [TOKENS, E2EL]),
    preset("tokens-latency:ttft", [TOKENS, TTFT]),
    preset("tokens-latency:tpot", [TOKENS, TPOT]),
    preset("interactivity", [(Maximize, "output_tps_per_device"), (Maximize, "user_tps")]),
    preset("cost-latency", [COST, E2EL]),
    preset("cost-latency:ttft", [COST, TTFT]),
    preset("cost-latency:tpot", [COST, TPOT]),
    preset("energy-throughput", [(Minimize, "expected_energy_j_per_token"), TOKENS]),
    preset("quality-cost", [(Maximize, "quality"), COST]),
    preset("context-throughput", [(Maximize, "context_tokens"), TOKENS]),
];

impl AxesPreset {
    /// All of them; the first is what is drawn by default.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        &PRESETS
    }

    /// The one of this name; a latency's own may be named too, as in `cost-latency:e2el`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let has_e2el = |preset: &Self| preset.axes.contains(&E2EL);
        let plain = name.strip_suffix(":e2el");
        PRESETS
            .into_iter()
            .find(|preset| preset.name == name || (plain == Some(preset.name) && has_e2el(preset)))
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The columns, each with its direction.
    #[must_use]
    pub fn axes(&self) -> [Axis; 2] {
        self.axes.map(|(direction, column)| match direction {
            Maximize => Axis::maximize(column),
            Minimize => Axis::minimize(column),
        })
    }

    /// The columns in a line: `+requests_per_s, -p99_e2el_ms`; `+` where more is better.
    #[must_use]
    pub fn words(&self) -> String {
        let signed = self.axes.map(|(direction, column)| match direction {
            Maximize => format!("+{column}"),
            Minimize => format!("-{column}"),
        });
        signed.join(", ")
    }

    /// All names, for a message: `a, b and c`.
    #[must_use]
    pub fn names() -> String {
        listed(&PRESETS.map(|preset| preset.name.to_owned()))
    }
}

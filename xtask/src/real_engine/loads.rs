//! The loads, as data.

use std::time::Duration;

/// How the calibration calls the engine.
pub(crate) const ENGINE: &str = "real";

/// What the engines do that the simulator is told: they keep prompts' prefixes, and take so many tokens and no more.
pub(crate) const SCHEDULER: [&str; 3] =
    ["--enable-prefix-caching", "--max-num-batched-tokens", "2048"];

/// Requests that a 99th percentile takes.
const FOR_A_P99: f64 = 100.0;

/// The most tokens of a request: what the engines are started with (`xtask/engine/serve.py` and `serve_vllm.py`).
pub(crate) const CONTEXT: &str = "4096";

/// What comes in an open loop.
const USUAL: Lengths = Lengths { prompt: 250, output: 250, prefix: 0 };

/// By how much lengths differ where capacity is measured: requests that are all alike march in step and have their prompts read together, as those
/// that come when they like do not.
const SPREAD: &str = "0.25";

/// Tokens of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) prompt: u32,
    pub(crate) output: u32,
    /// Before the prompt, the same for a fourth of the requests.
    prefix: u32,
}

/// When requests are sent.
#[derive(Debug, Clone, Copy)]
enum Arrivals {
    /// As many in flight, as a share of those that the engine runs at once.
    Closed { share: f64 },
    /// At a share of the highest rate, with this burstiness.
    Open { share: f64, burstiness: f64 },
}

/// A load that no fit has seen.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    lengths: Lengths,
    arrivals: Arrivals,
}

/// What the engine does at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Capacity {
    /// Of the usual lengths.
    pub(crate) requests_per_s: f64,
}

/// All of them.
pub(crate) static LOADS: [Load; 8] = [
    closed("longer prompts", 1000, 100, 0.5),
    closed("shorter prompts, longer replies", 50, 400, 0.75),
    closed("a queue for a place", 120, 120, 1.5),
    open("30 % of capacity", 0.3, 1.0),
    open("60 % of capacity", 0.6, 1.0),
    open("80 % of capacity", 0.8, 1.0),
    open("60 % in bursts", 0.6, 0.25),
    Load {
        name: "shared prefixes",
        lengths: Lengths { prompt: 100, output: 150, prefix: 512 },
        arrivals: Arrivals::Closed { share: 0.5 },
    },
];

const fn closed(name: &'static str, prompt: u32, output: u32, share: f64) -> Load {
    let lengths = Lengths { prompt, output, prefix: 0 };
    Load { name, lengths, arrivals: Arrivals::Closed { share } }
}

const fn open(name: &'static str, share: f64, burstiness: f64) -> Load {
    Load { name, lengths: USUAL, arrivals: Arrivals::Open { share, burstiness } }
}

/// The flags of the load that shows what the engine does at most: twice as many requests as there are places, for about `length`.
pub(crate) fn saturating(slots: u32, length: Duration) -> Vec<String> {
    let mut flags = USUAL.flags();
    let (in_flight, seconds) = (2 * slots, length.as_secs());
    let more = format!(
        "--random-range-ratio {SPREAD} --max-concurrency {in_flight} --level-seconds {seconds} --seed 26"
    );
    flags.extend(more.split(' ').map(str::to_owned));
    flags
}

impl Lengths {
    fn flags(self) -> Vec<String> {
        let Self { prompt, output, prefix } = self;
        let mut flags = format!("--random-input-len {prompt} --random-output-len {output}");
        if prefix > 0 {
            flags += &format!(" --prefix-groups 4 --prefix-len {prefix}");
        }
        flags.split(' ').map(str::to_owned).collect()
    }

    /// What a request costs, in tokens of a reply: a token of a prompt costs a fraction of one.
    fn cost(self) -> f64 {
        f64::from(self.output) + f64::from(self.prompt) / 10.0
    }
}

impl Load {
    /// The flags of `fizeau bench` and `fizeau simulate`: both then draw the same requests at the same times, as many as take
    /// about `length`, and a hundred at least.
    pub(crate) fn flags(&self, capacity: Capacity, slots: u32, length: Duration) -> Vec<String> {
        let full = capacity.requests_per_s * USUAL.cost() / self.lengths.cost();
        let (rate, sent) = match self.arrivals {
            Arrivals::Closed { share } => {
                let in_flight = (f64::from(slots) * share).round();
                (full * share.min(1.0), format!("--max-concurrency {in_flight}"))
            }
            Arrivals::Open { share, burstiness } => {
                let rate = full * share;
                (rate, format!("--request-rate {rate:.3} --burstiness {burstiness}"))
            }
        };
        let requests = (rate * length.as_secs_f64()).round().max(FOR_A_P99);
        let mut flags = self.lengths.flags();
        let more = format!("{sent} --num-prompts {requests} --seed 26");
        flags.extend(more.split(' ').map(str::to_owned));
        flags
    }

    /// Its name in files.
    pub(crate) fn file(&self) -> String {
        self.name.replace(" %", "").replace(',', "").replace(' ', "-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_share_of_what_was_measured() {
        let capacity = Capacity { requests_per_s: 6.0 };
        let flags = LOADS.iter().map(|load| load.flags(capacity, 16, Duration::from_secs(20)));
        let flags: Vec<String> = flags.map(|flags| flags.join(" ")).collect();
        assert!(flags.iter().any(|line| line.contains("--request-rate 1.800 --burstiness 1 ")));
        assert!(flags.iter().any(|line| line.contains("--request-rate 3.600 --burstiness 0.25 ")));
        assert!(flags.iter().any(|line| line.contains("--max-concurrency 24 ")));
    }
}

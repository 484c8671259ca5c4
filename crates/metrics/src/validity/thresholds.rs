//! Where suspicion begins, and where belief ends.

use std::str::FromStr;

use fizeau_core::{Millis, Nanos};

/// Where suspicion begins, and where belief ends. A figure must be above its threshold to count against the level.
///
/// Each has a name of its own for command lines: [`Thresholds::set`].
///
/// ```
/// use fizeau_core::Millis;
/// use fizeau_metrics::Thresholds;
/// let limits: Thresholds = "lateness-suspect=5ms, cpu-suspect=0.8".parse()?;
/// assert_eq!(limits.lateness_suspect, Millis::new(5.0));
/// assert_eq!(limits.cpu_invalid, Thresholds::default().cpu_invalid);
/// # Ok::<(), fizeau_metrics::ThresholdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Thresholds {
    /// Lateness of the release, or delay from there to the sending (p99; the greatest where the sample supports no p99),
    /// that makes a level suspect. Default 10 ms.
    pub lateness_suspect: Millis,
    /// The same that makes it invalid. Default 100 ms.
    pub lateness_invalid: Millis,
    /// Read lag behind the kernel's stamps (p99, or the greatest) that makes it suspect. Default 10 ms.
    pub read_lag_suspect: Millis,
    /// CPU share of the busiest measuring thread that makes it suspect. Default 0.90.
    pub cpu_suspect: f64,
    /// CPU share that makes it invalid: the client had no time left. Default 0.98.
    pub cpu_invalid: f64,
    /// Share of time ready to run without a CPU that makes it suspect. Default 0.10.
    pub run_delay_suspect: f64,
    /// Share of the machine's CPU time that its hypervisor gave to others that makes it suspect. Default 0.02.
    pub steal_suspect: f64,
    /// Share of the gaps between events that were lost because events were read too late and at once that makes it suspect.
    /// Default 0.01: a p99 of gaps is then no more than a guess.
    pub merged_suspect: f64,
    /// Share of the client's own ceiling of tokens per second that makes it suspect. Default 0.80.
    pub ceiling_suspect: f64,
    /// Share of failed requests that makes it suspect. Default 0.01.
    pub failed_suspect: f64,
    /// Share of failed requests that makes it invalid. Default 0.50.
    pub failed_invalid: f64,
    /// Share of completed requests with another output length than was asked under ignore-EOS that makes it
    /// suspect. Default 0.01.
    pub length_suspect: f64,
    /// Share of prompt tokens that a cache supplied unasked that makes it suspect. Default 0.01.
    pub cached_suspect: f64,
    /// Mean difference of the prompt lengths that the server saw from those asked, as a share of the mean asked length, that
    /// makes it suspect. Default 0.01.
    pub prompt_suspect: f64,
    /// Difference of the measured hit rate of a prefix cache from the one asked for that makes it suspect. Default 0.05:
    /// five points.
    pub hit_rate_suspect: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            lateness_suspect: Millis::new(10.0),
            lateness_invalid: Millis::new(100.0),
            read_lag_suspect: Millis::new(10.0),
            cpu_suspect: 0.90,
            cpu_invalid: 0.98,
            run_delay_suspect: 0.10,
            steal_suspect: 0.02,
            merged_suspect: 0.01,
            ceiling_suspect: 0.80,
            failed_suspect: 0.01,
            failed_invalid: 0.50,
            length_suspect: 0.01,
            cached_suspect: 0.01,
            prompt_suspect: 0.01,
            hit_rate_suspect: 0.05,
        }
    }
}

/// Why a threshold cannot be set. The message names the piece at fault and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ThresholdError(String);

/// A threshold, to be set.
enum Slot<'a> {
    Time(&'a mut Millis),
    Share(&'a mut f64),
}

impl Thresholds {
    /// Sets the threshold `name` to `value`: a time such as `5ms`, `0.5 s` or `20` (milliseconds), or a share such as
    /// `0.8` or `80%`. The names are those of the fields, with `-` for `_`.
    ///
    /// # Errors
    /// If there is no such threshold, or the value is not of its kind.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ThresholdError> {
        let slots = self.slots();
        let names = || slots.each_ref().map(|(name, _)| *name).join(", ");
        let unknown = format!("unknown threshold `{name}`; the thresholds are {}", names());
        let found = slots.into_iter().find(|(known, _)| *known == name);
        let is_set = match found.ok_or(ThresholdError(unknown))?.1 {
            Slot::Time(time) => Nanos::parse_in(value, Nanos::from_millis(1))
                .map(|parsed| *time = parsed.to_millis())
                .map_err(|_| {
                    "a length of time; write a number of ms (or with ns, us, ms, s), for instance `5ms`"
                }),
            Slot::Share(share) => parse_share(value)
                .map(|parsed| *share = parsed)
                .ok_or("a share; write a number from 0 to 1, or a percentage such as `80%`"),
        };
        is_set.map_err(|wanted| {
            ThresholdError(format!("threshold `{name}`: `{value}` is not {wanted}"))
        })
    }

    fn slots(&mut self) -> [(&'static str, Slot<'_>); 15] {
        [
            ("lateness-suspect", Slot::Time(&mut self.lateness_suspect)),
            ("lateness-invalid", Slot::Time(&mut self.lateness_invalid)),
            ("read-lag-suspect", Slot::Time(&mut self.read_lag_suspect)),
            ("cpu-suspect", Slot::Share(&mut self.cpu_suspect)),
            ("cpu-invalid", Slot::Share(&mut self.cpu_invalid)),
            ("run-delay-suspect", Slot::Share(&mut self.run_delay_suspect)),
            ("steal-suspect", Slot::Share(&mut self.steal_suspect)),
            ("merged-suspect", Slot::Share(&mut self.merged_suspect)),
            ("ceiling-suspect", Slot::Share(&mut self.ceiling_suspect)),
            ("failed-suspect", Slot::Share(&mut self.failed_suspect)),
            ("failed-invalid", Slot::Share(&mut self.failed_invalid)),
            ("length-suspect", Slot::Share(&mut self.length_suspect)),
            ("cached-suspect", Slot::Share(&mut self.cached_suspect)),
            ("prompt-suspect", Slot::Share(&mut self.prompt_suspect)),
            ("hit-rate-suspect", Slot::Share(&mut self.hit_rate_suspect)),
        ]
    }
}

impl FromStr for Thresholds {
    type Err = ThresholdError;

    /// The defaults with each `name=value` set; pieces are separated by commas. An empty text gives the defaults.
    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let mut thresholds = Self::default();
        for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').ok_or_else(|| {
                let right = "write `name=value`, for instance `lateness-suspect=5ms`";
                ThresholdError(format!("threshold `{piece}`: {right}"))
            })?;
            thresholds.set(name.trim(), value.trim())?;
        }
        Ok(thresholds)
    }
}

fn parse_share(text: &str) -> Option<f64> {
    let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share: f64 = number.trim().parse().ok()?;
    let share = share / whole;
    (0.0..=1.0).contains(&share).then_some(share)
}

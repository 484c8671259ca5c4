//! Which part of a level somebody wants, and where it is.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Nanos;

use super::{Edge, MeasuredWindow, NoWindow};
use crate::Timeline;

/// Which part of a level is wanted: what to cut at its front, and what at its back.
///
/// ```
/// use fizeau_core::Nanos;
/// use fizeau_metrics::{Edge, WindowChoice, WindowEnd};
///
/// let choice = WindowChoice { warmup: "30s".parse()?, cooldown: "auto".parse()? };
/// assert_eq!(choice.warmup, WindowEnd::Asked(Edge::Time(Nanos::from_secs(30))));
/// assert_eq!(choice.cooldown, WindowEnd::Auto);
/// # Ok::<(), fizeau_metrics::WindowEndError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowChoice {
    /// The front.
    pub warmup: WindowEnd,
    /// The back.
    pub cooldown: WindowEnd,
}

impl WindowChoice {
    /// The steady state, wherever it is.
    pub const AUTO: Self = Self { warmup: WindowEnd::Auto, cooldown: WindowEnd::Auto };
}

/// What to cut at one end of a level. Written as `auto`, `50` (requests), `30s` or `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowEnd {
    /// As much as it takes until the level is steady.
    #[default]
    Auto,
    /// So much.
    Asked(Edge),
}

/// That a text says no end of a window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no end of a window: write auto, a number of requests (50), or a time (30s, 500ms)"
)]
pub struct WindowEndError(String);

/// Which ends of a level may be moved to where it is steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moving {
    Both,
    Front,
    Back,
}

impl FromStr for WindowEnd {
    type Err = WindowEndError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let time = |number: &str, unit: f64| {
            let number: f64 = number.trim_end().parse().ok()?;
            Some(Edge::Time(Nanos::from_secs_f64(number * unit).ok()?))
        };
        let edge = if text == "auto" {
            return Ok(Self::Auto);
        } else if let Some(number) = text.strip_suffix("ms") {
            time(number, 1e-3)
        } else if let Some(number) = text.strip_suffix('s') {
            time(number, 1.0)
        } else {
            text.parse().ok().map(Edge::Requests)
        };
        edge.map(Self::Asked).ok_or_else(|| WindowEndError(text.to_owned()))
    }
}

impl fmt::Display for WindowEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Asked(Edge::Requests(count)) => count.fmt(f),
            Self::Asked(Edge::Time(time)) => write!(f, "{}s", time.as_secs_f64()),
        }
    }
}

impl Timeline {
    /// The part of the level that `choice` asks for.
    ///
    /// An end that is not left open is cut as asked, and then no more. For an open one the steady state is looked for within what is
    /// left, as by [`Timeline::steady`]. Where there is none, the plateau of the concurrency stands in ([`Timeline::plateau`]), if
    /// there is one; [`MeasuredWindow::not_steady`] then says why.
    ///
    /// # Errors
    /// If nothing is left, or if there is neither a steady state nor a plateau: the reason and the evidence are those of the steady
    /// state.
    pub(crate) fn chosen(&self, choice: WindowChoice) -> Result<MeasuredWindow, NoWindow> {
        const NOTHING: Edge = Edge::Requests(0);
        let all = self.requests().len();
        let (moving, asked) = match (choice.warmup, choice.cooldown) {
            (WindowEnd::Asked(front), WindowEnd::Asked(back)) => return self.trimmed(front, back),
            (WindowEnd::Asked(front), WindowEnd::Auto) => {
                let first = self.trimmed(front, NOTHING)?.cut_front;
                (Moving::Back, first as usize..all)
            }
            (WindowEnd::Auto, WindowEnd::Asked(back)) => {
                let kept = self.trimmed(NOTHING, back)?.kept;
                (Moving::Front, 0..kept as usize)
            }
            (WindowEnd::Auto, WindowEnd::Auto) => (Moving::Both, 0..all),
        };
        self.steady_within(asked.clone(), moving).or_else(|not_steady| {
            match self.plateau_within(asked, moving) {
                Ok(plateau) => Ok(MeasuredWindow {
                    evidence: not_steady.evidence,
                    not_steady: Some(not_steady.why),
                    ..plateau
                }),
                Err(_) => Err(not_steady),
            }
        })
    }
}

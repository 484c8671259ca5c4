//! Which part of a level somebody wants, and where it is.

use std::fmt;
use std::str::FromStr;

use fizeau_core::ParseNanosError;

use super::{MeasuredWindow, NoWindow, WindowTrim};
use crate::Timeline;

/// Which part of a level is wanted: what to cut at its front, and what at its back.
///
/// ```
/// use fizeau_core::Nanos;
/// use fizeau_metrics::{WindowTrim, WindowChoice, WindowEnd};
///
/// let choice = WindowChoice { warmup: "30s".parse()?, cooldown: "auto".parse()? };
/// assert_eq!(choice.warmup, WindowEnd::Requested(WindowTrim::Time(Nanos::from_secs(30))));
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
    Requested(WindowTrim),
}

/// That a text does not say what to leave out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a time to leave out: write auto, a number of requests (50), or a time (30s, 500ms)"
)]
pub struct WindowEndError(String);

/// Which ends of a level may be moved to where it is steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MovableEnds {
    Both,
    Front,
    Back,
}

impl FromStr for WindowEnd {
    type Err = WindowEndError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let requests = text.parse().map(WindowTrim::Requests);
        let edge = requests.or_else(|_| text.parse().map(WindowTrim::Time));
        edge.map(Self::Requested).map_err(|_: ParseNanosError| WindowEndError(text.to_owned()))
    }
}

impl fmt::Display for WindowEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Requested(WindowTrim::Requests(count)) => count.fmt(f),
            Self::Requested(WindowTrim::Time(time)) => write!(f, "{}s", time.as_secs_f64()),
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
        const NOTHING: WindowTrim = WindowTrim::Requests(0);
        let all = self.requests().len();
        let (moving, asked) = match (choice.warmup, choice.cooldown) {
            (WindowEnd::Requested(front), WindowEnd::Requested(back)) => {
                return self.trimmed(front, back);
            }
            (WindowEnd::Requested(front), WindowEnd::Auto) => {
                let first = self.trimmed(front, NOTHING)?.cut_front;
                (MovableEnds::Back, first as usize..all)
            }
            (WindowEnd::Auto, WindowEnd::Requested(back)) => {
                let kept = self.trimmed(NOTHING, back)?.kept;
                (MovableEnds::Front, 0..kept as usize)
            }
            (WindowEnd::Auto, WindowEnd::Auto) => (MovableEnds::Both, 0..all),
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

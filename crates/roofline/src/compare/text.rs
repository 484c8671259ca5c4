//! Measured figures as people write them down.

use std::str::FromStr;

use fizeau_core::{PerSec, Seconds};

use super::MeasuredFigures;

/// Why a text says no measured figures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasuredFiguresError {
    /// It is of no such form.
    #[error(
        "{text}: it must be ttft:MS, tpot:MS, e2el:MS, output_tps:RATE or rps:RATE, each a number above 0"
    )]
    Form {
        /// The part that is wrong.
        text: String,
    },
    /// A figure has two values.
    #[error("{text} is a second value of the same figure; give one")]
    Twice {
        /// The second.
        text: String,
    },
}

impl FromStr for MeasuredFigures {
    type Err = MeasuredFiguresError;

    /// Of parts such as `tpot:12.5` with blanks or commas between: `ttft`, `tpot` and `e2el` in milliseconds; of all requests together
    /// `output_tps` in tokens and `rps` in requests a second.
    ///
    /// ```
    /// use fizeau_roofline::MeasuredFigures;
    /// let measured: MeasuredFigures = "tpot:12.5,ttft:300".parse()?;
    /// assert_eq!(measured.tpot.map(|tpot| tpot.get()), Some(0.0125));
    /// assert!("tpot:fast".parse::<MeasuredFigures>().is_err());
    /// # Ok::<(), fizeau_roofline::MeasuredFiguresError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, MeasuredFiguresError> {
        let mut all = Self::default();
        let parts = text.split([' ', ',']).filter(|part| !part.is_empty());
        let mut is_empty = true;
        for part in parts {
            let wrong = || MeasuredFiguresError::Form { text: part.to_owned() };
            let (name, value) = part.split_once(':').ok_or_else(wrong)?;
            let number: f64 = value.parse().map_err(|_| wrong())?;
            if !(number > 0.0 && number.is_finite()) {
                return Err(wrong());
            }
            let (time, rate) = (Seconds::new(number / 1e3), PerSec::new(number));
            let is_second = match name {
                "ttft" => all.ttft.replace(time).is_some(),
                "tpot" => all.tpot.replace(time).is_some(),
                "e2el" => all.e2el.replace(time).is_some(),
                "output_tps" => all.output_tokens_per_s.replace(rate).is_some(),
                "rps" => all.requests_per_s.replace(rate).is_some(),
                _ => return Err(wrong()),
            };
            if is_second {
                return Err(MeasuredFiguresError::Twice { text: part.to_owned() });
            }
            is_empty = false;
        }
        match is_empty {
            true => Err(MeasuredFiguresError::Form { text: "nothing".to_owned() }),
            false => Ok(all),
        }
    }
}

//! Faults as text.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Nanos;

use super::kind::{self, FaultGroup, FaultKind, FaultTrigger, FaultValue, Kind};
use super::{AssignedFaults, ChosenFault, FaultMix, Faults};

/// A text does not name faults.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFaultsError {
    /// No fault has that name.
    #[error("no fault is called `{name}`{hint}")]
    Unknown {
        /// What was written.
        name: String,
        /// The nearest name, as part of a sentence; may be empty.
        hint: String,
    },
    /// What stands behind a name does not belong there.
    #[error(
        "`{text}` is not how a fault is written: write {form}, with numbers from 1 and times such as 300ms or 2s"
    )]
    Form {
        /// What was written.
        text: String,
        /// How it is written.
        form: String,
    },
    /// A share is no number in (0, 1].
    #[error("the share `{share}` must be a number over 0 and up to 1, as in 0.1*reset@5")]
    Share {
        /// What was written.
        share: String,
    },
    /// The shares come to more than all requests.
    #[error(
        "the shares of the faults sum to more than 1, or several faults have no share: only the last one may have none"
    )]
    Shares,
    /// What befalls the whole server has no share of the requests.
    #[error("`{fault}` affects the whole server and takes no share: leave `{share}*` out")]
    Whole {
        /// The fault.
        fault: String,
        /// What was written.
        share: String,
    },
    /// One of two faults of a reply would do nothing.
    #[error("`{one}` and `{other}` cannot affect the same reply: name one of them")]
    Together {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// A count or a time is out of bounds.
    #[error("`{text}` is out of bounds: {bounds}")]
    Bounds {
        /// What was written.
        text: String,
        /// What may be.
        bounds: String,
    },
    /// Events would become too large together.
    #[error("`choices` times `huge` comes to more than {most} bytes an event")]
    TooHuge {
        /// How much may be.
        most: u64,
    },
    /// Nothing was named at all.
    #[error("no fault is named: give the name of a fault, or `allow`")]
    Empty,
}

/// The text that permits requests to choose and asks for nothing.
const ALLOW: &str = "allow";

impl FromStr for Faults {
    type Err = ParseFaultsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == ALLOW {
            return Ok(Self::allowed());
        }
        let mixes = text.split(',').map(mix).collect::<Result<Vec<_>, _>>()?;
        let total: f64 = mixes.iter().filter_map(|mix| mix.share).sum();
        let rest = mixes.iter().filter(|mix| mix.share.is_none()).count();
        // Tenths do not sum up exactly.
        if total > 1.0 + 1e-9 || rest > 1 {
            return Err(ParseFaultsError::Shares);
        }
        Ok(Self { mixes, seed: 0 })
    }
}

fn mix(text: &str) -> Result<FaultMix, ParseFaultsError> {
    let (share, faults) = match text.split_once('*') {
        Some((share, faults)) => (Some(share.trim()), faults),
        None => (None, text),
    };
    let number = |share: &str| {
        let number = share.parse().ok().filter(|&share| share > 0.0 && share <= 1.0);
        number.ok_or_else(|| ParseFaultsError::Share { share: share.to_owned() })
    };
    let mix = FaultMix { share: share.map(number).transpose()?, faults: faults.parse()? };
    let whole = mix.faults.0.iter().find(|fault| fault.kind.kind.is(FaultGroup::Server));
    match (share, whole) {
        (Some(share), Some(fault)) => {
            Err(ParseFaultsError::Whole { fault: fault.to_string(), share: share.to_owned() })
        }
        _ => Ok(mix),
    }
}

impl FromStr for AssignedFaults {
    type Err = ParseFaultsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let faults: Vec<ChosenFault> =
            text.split('+').map(|fault| fault.trim().parse()).collect::<Result<_, _>>()?;
        for (index, one) in faults.iter().enumerate() {
            let mut later = faults.iter().skip(index + 1);
            if let Some(other) = later.find(|other| one.kind.kind.excludes(other.kind.kind)) {
                let (one, other) = (one.to_string(), other.to_string());
                return Err(ParseFaultsError::Together { one, other });
            }
        }
        let met = Self(faults);
        let count = |kind| met.get(kind).map_or(1, |fault| fault.count());
        let most = Kind::Huge.most();
        if count(Kind::Choices).saturating_mul(count(Kind::Huge)) > most {
            return Err(ParseFaultsError::TooHuge { most });
        }
        Ok(met)
    }
}

impl FromStr for ChosenFault {
    type Err = ParseFaultsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(ParseFaultsError::Empty);
        }
        let (head, value) = text.split_once(':').map_or((text, None), |(head, v)| (head, Some(v)));
        let (name, after) = head.split_once('@').map_or((head, None), |(name, a)| (name, Some(a)));
        let kind = kind::named(name).ok_or_else(|| unknown(name))?;
        let wrong = || ParseFaultsError::Form { text: text.to_owned(), form: kind.form() };
        let after = match (after, kind.place) {
            (None, _) => None,
            (Some(after), FaultTrigger::After) => Some(after.parse().map_err(|_| wrong())?),
            (Some(_), FaultTrigger::Nowhere) => return Err(wrong()),
        };
        let value = match (value, kind.value) {
            (None, _) => None,
            (Some(value), kind) => Some(read(value, kind).ok_or_else(wrong)?),
        };
        check(kind, value, text)?;
        Ok(Self { kind, after, value })
    }
}

/// Whether `value` is neither too little nor too much.
fn check(kind: &FaultKind, value: Option<u64>, text: &str) -> Result<(), ParseFaultsError> {
    let (least, most) = (kind.kind.least(), kind.kind.most());
    let bounds = match value {
        Some(value) if value < least => format!("at least {least}ns"),
        Some(value) if value > most => format!("at most {most}"),
        _ => return Ok(()),
    };
    Err(ParseFaultsError::Bounds { text: text.to_owned(), bounds })
}

/// A count from 1, or a time in nanoseconds.
fn read(text: &str, kind: FaultValue) -> Option<u64> {
    match kind {
        FaultValue::None => None,
        FaultValue::Count(_) => text.parse().ok().filter(|&count| count > 0),
        FaultValue::Time(_) | FaultValue::TimeOrEver => text.parse().ok().map(Nanos::as_nanos),
    }
}

const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

fn unknown(name: &str) -> ParseFaultsError {
    // Good enough for a hint: a name that begins as this one does.
    let alike = |kind: &&FaultKind| {
        let known = kind.name();
        name.get(..3).is_some_and(|start| known.starts_with(start) || known.contains(name))
    };
    let near = Faults::all().iter().find(alike);
    let hint = near.map(|kind| format!("; did you mean `{kind}`?"));
    let names = || Faults::all().iter().map(FaultKind::name).collect::<Vec<_>>().join(", ");
    let hint = hint.unwrap_or_else(|| format!("; there are {}", names()));
    ParseFaultsError::Unknown { name: name.to_owned(), hint }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mixes.is_empty() {
            return f.write_str(ALLOW);
        }
        for (index, mix) in self.mixes.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            if let Some(share) = mix.share {
                write!(f, "{share}*")?;
            }
            write!(f, "{}", mix.faults)?;
        }
        Ok(())
    }
}

impl fmt::Display for AssignedFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let plus = if index > 0 { "+" } else { "" };
            write!(f, "{plus}{fault}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ChosenFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(after) = self.after {
            write!(f, "@{after}")?;
        }
        match (self.value, self.kind.value) {
            (None, _) => Ok(()),
            (Some(count), FaultValue::Count(_) | FaultValue::None) => write!(f, ":{count}"),
            (Some(nanos), _) => {
                let whole = UNITS.iter().rev().find(|(_, unit)| nanos % unit == 0);
                let (unit, size) = whole.copied().unwrap_or(("ns", 1));
                write!(f, ":{}{unit}", nanos / size)
            }
        }
    }
}

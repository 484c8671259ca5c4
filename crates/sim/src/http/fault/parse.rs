//! Faults as text.

use std::fmt;
use std::str::FromStr;

use super::kind::{self, FaultKind, Group, Kind, Place, Value};
use super::{Fault, Faults, Met, Mix};

/// A text does not name faults.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFaultsError {
    /// No fault has that name.
    #[error("no fault is called `{name}`{hint}; the list of faults has all names")]
    Unknown {
        /// What was written.
        name: String,
        /// The nearest name, as part of a sentence; may be empty.
        hint: String,
    },
    /// What stands behind a name does not belong there.
    #[error(
        "`{text}` is not right: {form} would be, with numbers from 1 and times such as 300ms or 2s"
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
        "the shares come to more than 1, or more than one fault has none: the last may go without"
    )]
    Shares,
    /// What befalls the whole server has no share of the requests.
    #[error("`{fault}` befalls the whole server and has no share: leave `{share}*` out")]
    Whole {
        /// The fault.
        fault: String,
        /// What was written.
        share: String,
    },
    /// One of two faults of a reply would do nothing.
    #[error("`{one}` and `{other}` cannot befall the same reply: name one of them")]
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
    #[error("no fault is named: a name is right, or `allow`")]
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

fn mix(text: &str) -> Result<Mix, ParseFaultsError> {
    let (share, faults) = match text.split_once('*') {
        Some((share, faults)) => (Some(share.trim()), faults),
        None => (None, text),
    };
    let number = |share: &str| {
        let number = share.parse().ok().filter(|&share| share > 0.0 && share <= 1.0);
        number.ok_or_else(|| ParseFaultsError::Share { share: share.to_owned() })
    };
    let mix = Mix { share: share.map(number).transpose()?, faults: faults.parse()? };
    let whole = mix.faults.0.iter().find(|fault| fault.kind.kind.is(Group::Server));
    match (share, whole) {
        (Some(share), Some(fault)) => {
            Err(ParseFaultsError::Whole { fault: fault.to_string(), share: share.to_owned() })
        }
        _ => Ok(mix),
    }
}

impl FromStr for Met {
    type Err = ParseFaultsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let faults: Vec<Fault> =
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

impl FromStr for Fault {
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
            (Some(after), Place::After) => Some(after.parse().map_err(|_| wrong())?),
            (Some(_), Place::Nowhere) => return Err(wrong()),
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
fn read(text: &str, kind: Value) -> Option<u64> {
    match kind {
        Value::None => None,
        Value::Count(_) => text.parse().ok().filter(|&count| count > 0),
        Value::Time(_) | Value::TimeOrEver => {
            let (unit, nanos) = UNITS
                .into_iter()
                .find(|(unit, _)| text.strip_suffix(unit).is_some_and(is_number))?;
            text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(nanos)
        }
    }
}

const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn unknown(name: &str) -> ParseFaultsError {
    // Good enough for a hint: a name that begins as this one does.
    let alike = |kind: &&FaultKind| {
        let known = kind.name();
        name.get(..3).is_some_and(|start| known.starts_with(start) || known.contains(name))
    };
    let near = Faults::all().iter().find(alike);
    let hint = near.map(|kind| format!("; did you mean `{kind}`?")).unwrap_or_default();
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

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let plus = if index > 0 { "+" } else { "" };
            write!(f, "{plus}{fault}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(after) = self.after {
            write!(f, "@{after}")?;
        }
        match (self.value, self.kind.value) {
            (None, _) => Ok(()),
            (Some(count), Value::Count(_) | Value::None) => write!(f, ":{count}"),
            (Some(nanos), _) => {
                let whole = UNITS.iter().rev().find(|(_, unit)| nanos % unit == 0);
                let (unit, size) = whole.copied().unwrap_or(("ns", 1));
                write!(f, ":{}{unit}", nanos / size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault() -> impl Strategy<Value = String> {
        let kinds = Faults::all();
        (0..kinds.len(), prop::option::of(0u64..100), prop::option::of(1u64..5_000)).prop_map(
            move |(kind, after, value)| {
                let kind = &kinds[kind];
                let after = after.filter(|_| kind.place == Place::After);
                let value = value.filter(|_| kind.value != Value::None);
                Fault { kind, after, value }.to_string()
            },
        )
    }

    /// Faults that can befall a reply together.
    fn mix() -> impl Strategy<Value = String> {
        prop::collection::vec(fault(), 1..4).prop_filter_map("not together", |faults| {
            let text = faults.join("+");
            format!("1*{text}").parse::<Faults>().ok().map(|_| text)
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            faults in prop::collection::vec((mix(), 1u32..20), 1..5),
        ) {
            let mixes = faults.iter().map(|(mix, share)| {
                format!("{}*{mix}", f64::from(*share) / 100.0)
            });
            let text = mixes.collect::<Vec<_>>().join(",");
            let read: Faults = text.parse().unwrap();
            prop_assert_eq!(read.to_string(), text.clone());
            prop_assert_eq!(read.to_string().parse::<Faults>().unwrap(), read);
        }

        #[test]
        fn no_text_panics(text in "[-a-z0-9@:.*+, ]{0,40}") {
            if let Ok(faults) = text.parse::<Faults>() {
                prop_assert_eq!(faults.to_string().parse::<Faults>(), Ok(faults));
            }
        }
    }

    #[test]
    fn names_are_distinct_and_forms_are_read() {
        let kinds = Faults::all();
        for (index, kind) in kinds.iter().enumerate() {
            assert!(kinds[..index].iter().all(|other| other.name() != kind.name()), "{kind}");
            assert!(!kind.about().is_empty() && kind.about().len() < 90, "{kind}");
            let text =
                kind.form().replace("TOKENS", "3").replace("COUNT", "4").replace("TIME", "5ms");
            assert_eq!(text.parse::<Faults>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let words = |text: &str| text.parse::<Faults>().unwrap_err().to_string();
        assert!(words("stal").contains("did you mean `stall`?"), "{}", words("stal"));
        for (text, part) in [
            ("", "no fault is named"),
            ("crlf,", "no fault is named"),
            ("crlf@3", "crlf would be"),
            ("stall@x", "stall@TOKENS:TIME would be"),
            ("stall:300", "stall@TOKENS:TIME would be"),
            ("bundle:0", "bundle:COUNT would be"),
            ("keep-alive:0ms", "out of bounds: at least"),
            ("choices:200000", "out of bounds: at most 128"),
            ("huge:99999999999", "out of bounds: at most 16777216"),
            ("choices:128+huge", "more than 16777216 bytes"),
            ("0.5*connections:1", "befalls the whole server"),
            ("crlf+cr", "cannot befall the same reply"),
            ("stall@1:1ms+stall@2:1ms", "cannot befall the same reply"),
            ("error@1+reset@3", "cannot befall the same reply"),
            ("429+crlf", "cannot befall the same reply"),
            ("0*crlf", "over 0"),
            ("2*crlf", "over 0"),
            ("nan*crlf", "over 0"),
            ("0.6*crlf,0.6*cr", "more than 1"),
            ("crlf,cr", "more than 1"),
        ] {
            assert!(words(text).contains(part), "{text}: {}", words(text));
        }
    }
}

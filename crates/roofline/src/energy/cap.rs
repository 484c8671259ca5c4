//! A limit of power as people write it down.

use std::str::FromStr;

use fizeau_core::Watts;

use crate::Device;

/// The power limit of a device.
///
/// ```
/// use fizeau_roofline::{Device, PowerCap};
///
/// let cap: PowerCap = "70%".parse()?;
/// let watts = cap.of(Device::named("h100-sxm")?);
/// assert_eq!(watts.map(|watts| watts.get().round()), Some(490.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PowerCap {
    /// So much.
    Watts(Watts),
    /// This share of the device's own limit: 1 is that itself.
    OfOwn(f64),
}

/// A text that is no limit of power.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: give a number of watts, a share such as 70%, or tdp")]
pub struct PowerCapError(String);

impl PowerCap {
    /// In watts; none where the device's own limit is not known.
    #[must_use]
    pub fn of(self, device: &Device) -> Option<Watts> {
        match self {
            Self::Watts(watts) => Some(watts),
            Self::OfOwn(share) => device.tdp().map(|own| own * share),
        }
    }
}

impl FromStr for PowerCap {
    type Err = PowerCapError;

    /// Of `500`, `70%` or `tdp`.
    fn from_str(text: &str) -> Result<Self, PowerCapError> {
        let number = |part: &str| {
            let number = part.trim().parse().ok();
            let number = number.filter(|number: &f64| number.is_finite() && *number > 0.0);
            number.ok_or_else(|| PowerCapError(text.to_owned()))
        };
        match text.strip_suffix('%') {
            _ if text == "tdp" => Ok(Self::OfOwn(1.0)),
            Some(percent) => Ok(Self::OfOwn(number(percent)? / 100.0)),
            None => Ok(Self::Watts(Watts::new(number(text)?))),
        }
    }
}

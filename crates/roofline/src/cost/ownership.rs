//! What a device costs its owner.

use fizeau_core::UsdPerHour;
use toml::de::{DeTable, DeValue};

/// Hours of a year, on average.
const YEAR: f64 = 365.25 * 24.0;

/// What owning a device costs, as its owner's books have it: a small TOML file.
///
/// All figures are of one device with its share of everything that it needs: its server, network and racks. An hour in
/// service costs
///
/// ```text
/// (1 + overhead_share) ((purchase_usd - resale_usd) / (8766 amortisation_years) + power_w / 1000 pue electricity_usd_per_kwh
///                       + hosting_usd_per_month 12 / 8766) / utilisation
/// ```
///
/// which is the total cost of ownership over the hours that it serves, as in L. A. Barroso, U. Hölzle, P. Ranganathan,
/// "The Datacenter as a Computer" (3rd edition, 2018), chapter 6, without interest.
///
/// ```
/// use fizeau_roofline::Ownership;
/// let owned = Ownership::from_toml(
///     "purchase_usd = 35064\namortisation_years = 4\npower_w = 1000\npue = 1.25\nelectricity_usd_per_kwh = 0.08",
/// )?;
/// let hour = owned.hour();
/// assert_eq!(format!("{:.2}", hour.purchase.get()), "1.00");
/// assert_eq!(format!("{:.2}", hour.electricity.get()), "0.10");
/// assert_eq!(format!("{:.2}", hour.total.get()), "1.10");
/// # Ok::<(), fizeau_roofline::OwnershipError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ownership(
    /// In the order of [`FIELDS`].
    [f64; FIELDS.len()],
);

/// What an hour in service of one owned device is made of. Overhead, and the hours out of service, are in each part.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OwnedHour {
    /// Its price, less what it is sold for, over the hours of its life.
    pub purchase: UsdPerHour,
    /// Its power and that of cooling it.
    pub electricity: UsdPerHour,
    /// Space, network, hands.
    pub hosting: UsdPerHour,
    /// All of it.
    pub total: UsdPerHour,
}

/// Why a file does not say what owning a device costs. The message names the field and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OwnershipError(String);

/// A field: its name, what it is where it is not given, and what it must be.
struct OwnershipField {
    name: &'static str,
    default: Option<f64>,
    range: FieldRange,
}

enum FieldRange {
    FromZero,
    AboveZero,
    FromOne,
    Share,
}

const FREE: &str = "an hour costs nothing; give purchase_usd, electricity_usd_per_kwh or hosting_usd_per_month a positive number";

const FIELDS: [OwnershipField; 9] = [
    OwnershipField { name: "purchase_usd", default: None, range: FieldRange::FromZero },
    OwnershipField { name: "amortisation_years", default: None, range: FieldRange::AboveZero },
    OwnershipField { name: "power_w", default: None, range: FieldRange::FromZero },
    OwnershipField { name: "pue", default: None, range: FieldRange::FromOne },
    OwnershipField { name: "electricity_usd_per_kwh", default: None, range: FieldRange::FromZero },
    OwnershipField { name: "resale_usd", default: Some(0.0), range: FieldRange::FromZero },
    OwnershipField {
        name: "hosting_usd_per_month",
        default: Some(0.0),
        range: FieldRange::FromZero,
    },
    OwnershipField { name: "overhead_share", default: Some(0.0), range: FieldRange::FromZero },
    OwnershipField { name: "utilisation", default: Some(1.0), range: FieldRange::Share },
];

impl FieldRange {
    fn holds(&self, value: f64) -> bool {
        let in_range = match self {
            Self::FromZero => value >= 0.0,
            Self::AboveZero => value > 0.0,
            Self::FromOne => value >= 1.0,
            Self::Share => value > 0.0 && value <= 1.0,
        };
        value.is_finite() && in_range
    }

    const fn wanted(&self) -> &'static str {
        match self {
            Self::FromZero => "a number from 0 on",
            Self::AboveZero => "a number above 0",
            Self::FromOne => "a number from 1 on",
            Self::Share => "a share above 0 and up to 1",
        }
    }
}

impl OwnershipField {
    fn read(&self, table: &DeTable<'_>) -> Result<f64, OwnershipError> {
        let (field, wanted) = (self.name, self.range.wanted());
        let Some(value) = table.get(field) else {
            let missing = format!("{field} is missing; it must be {wanted}");
            return self.default.ok_or(OwnershipError(missing));
        };
        let (text, number) = match value.get_ref() {
            DeValue::Integer(whole) => (whole.to_string(), whole.as_str().parse().ok()),
            DeValue::Float(float) => (float.to_string(), float.as_str().parse().ok()),
            _ => ("no number".to_owned(), None),
        };
        let number = number.filter(|number| self.range.holds(*number));
        number.ok_or_else(|| OwnershipError(format!("{field} is {text}; it must be {wanted}")))
    }
}

impl Ownership {
    /// Reads a TOML file:
    ///
    /// | field | unit | range | meaning |
    /// |---|---|---|---|
    /// | `purchase_usd` | US dollars | from 0 | the price of a device, with its share of the server and the network |
    /// | `amortisation_years` | years | above 0 | how long it is in use |
    /// | `resale_usd` | US dollars | from 0 to the price, default 0 | what it is sold for then |
    /// | `power_w` | watts | from 0 | mean draw over the time that it is owned, with its share of the server |
    /// | `pue` | | from 1 | power of the whole site over that of its computers |
    /// | `electricity_usd_per_kwh` | US dollars per kilowatt-hour | from 0 | |
    /// | `hosting_usd_per_month` | US dollars per month | from 0, default 0 | space, network, hands |
    /// | `overhead_share` | of all else | from 0, default 0 | staff, spares, insurance, interest |
    /// | `utilisation` | of the hours owned | above 0 to 1, default 1 | how much of the time it is in service at all |
    ///
    /// # Errors
    /// If a field is missing, unknown or out of its range, or an hour would cost nothing.
    pub fn from_toml(text: &str) -> Result<Self, OwnershipError> {
        let table = DeTable::parse(text).map_err(|error| {
            let words: Vec<&str> = error.message().split_whitespace().collect();
            OwnershipError(format!("not TOML: {}", words.join(" ")))
        })?;
        let table = table.get_ref();
        let is_known = |name: &str| FIELDS.iter().any(|field| field.name == name);
        let mut keys = table.keys().map(|key| key.get_ref().as_ref());
        if let Some(stranger) = keys.find(|key| !is_known(key)) {
            let names = FIELDS.map(|field| field.name).join(", ");
            return Err(OwnershipError(format!("{stranger} is not known; the fields are {names}")));
        }
        let mut figures = [0.0; FIELDS.len()];
        for (figure, field) in figures.iter_mut().zip(&FIELDS) {
            *figure = field.read(table)?;
        }
        let owned = Self(figures);
        let [price, .., resale, _, _, _] = figures;
        if resale > price {
            let wrong = format!("resale_usd is {resale}; it must be no more than purchase_usd");
            return Err(OwnershipError(wrong));
        }
        let total = owned.hour().total.get();
        if total.is_finite() && total > 0.0 {
            Ok(owned)
        } else {
            Err(OwnershipError(FREE.to_owned()))
        }
    }

    /// What an hour in service costs, part by part.
    #[must_use]
    pub fn hour(&self) -> OwnedHour {
        let [price, years, watts, pue, usd_per_kwh, resale, hosting, overhead, utilisation] =
            self.0;
        let factor = (1.0 + overhead) / utilisation;
        let part = |usd_per_hour: f64| UsdPerHour::new(factor * usd_per_hour);
        let purchase = part((price - resale) / (YEAR * years));
        let electricity = part(watts / 1e3 * pue * usd_per_kwh);
        let hosting = part(hosting * 12.0 / YEAR);
        OwnedHour { purchase, electricity, hosting, total: purchase + electricity + hosting }
    }
}

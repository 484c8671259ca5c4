//! Figures as people write them: `80 GiB`, `3.35 TB/s`, `400 Gb/s`.

/// What a figure measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureQuantity {
    Memory,
    Bandwidth,
    Rate,
    Power,
    Time,
}

const KIB: f64 = 1024.0;

/// Each unit in bytes, largest first within decimal and within binary ones.
const MEMORY: &[(&str, f64)] = &[
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("B", 1.0),
    ("TiB", KIB * KIB * KIB * KIB),
    ("GiB", KIB * KIB * KIB),
    ("MiB", KIB * KIB),
];
/// In bytes per second.
const BANDWIDTH: &[(&str, f64)] = &[
    ("TB/s", 1e12),
    ("GB/s", 1e9),
    ("MB/s", 1e6),
    ("B/s", 1.0),
    ("TiB/s", KIB * KIB * KIB * KIB),
    ("GiB/s", KIB * KIB * KIB),
    ("Tb/s", 1.25e11),
    ("Gb/s", 1.25e8),
];
/// In operations per second.
const RATE: &[(&str, f64)] = &[
    ("PFLOP/s", 1e15),
    ("TFLOP/s", 1e12),
    ("GFLOP/s", 1e9),
    ("FLOP/s", 1.0),
    ("POP/s", 1e15),
    ("TOP/s", 1e12),
];
/// In watts.
const POWER: &[(&str, f64)] = &[("kW", 1e3), ("W", 1.0)];
/// In seconds.
const TIME: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];

impl FigureQuantity {
    const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Memory => MEMORY,
            Self::Bandwidth => BANDWIDTH,
            Self::Rate => RATE,
            Self::Power => POWER,
            Self::Time => TIME,
        }
    }

    /// What a figure of this kind must look like.
    pub(super) const fn wanted(self) -> &'static str {
        match self {
            Self::Memory => {
                "an amount of memory such as \"80 GiB\" or \"80 GB\", or a number of bytes"
            }
            Self::Bandwidth => {
                "a bandwidth such as \"3350 GB/s\" or \"400 Gb/s\", or bytes per second"
            }
            Self::Rate => "a dense rate such as \"989 TFLOP/s\", or operations per second",
            Self::Power => "a power such as \"700 W\", or a number of watts",
            Self::Time => "a time such as \"2 us\", or a number of seconds",
        }
    }

    /// `NUMBER UNIT` in base units; none if it is not that, or not a positive finite number.
    pub(super) fn read(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = text.split_at_checked(end)?;
        let (_, scale) = self.units().iter().find(|(known, _)| *known == unit.trim())?;
        let value = number.parse::<f64>().ok()? * scale;
        (value.is_finite() && value > 0.0).then_some(value)
    }

    /// In the largest decimal unit of which there is at least one, to five digits.
    pub(super) fn show(self, value: f64) -> String {
        let suits = |unit: &str| !unit.contains(['i', 'b']) && !unit.starts_with('P');
        let mut decimal = self.units().iter().filter(|(unit, _)| suits(unit));
        let fits = decimal.clone().find(|(_, scale)| value >= *scale);
        let Some((unit, scale)) = fits.or_else(|| decimal.next_back()) else {
            return value.to_string();
        };
        let shown = value / scale;
        let rounded: f64 = format!("{shown:.4e}").parse().unwrap_or(shown);
        format!("{rounded} {unit}")
    }
}

//! Where the figures of a kind of replica are, in a line.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use fizeau_roofline::{CostError, HourlyRate};
use thiserror::Error;

/// Where the figures of a kind of replica are, and what is of that kind alone.
///
/// As text it is `[NAME=]PATH[,KEY=VALUE...]`; the keys are `gpus`, `gpu-hour`, `hardware` and `tco`.
///
/// ```
/// use fizeau_experiment::ReplicaSource;
/// let source: ReplicaSource = "rented=.,gpus=8,gpu-hour=2.49".parse()?;
/// assert_eq!((&*source.name, source.gpus.map(|gpus| gpus.get())), ("rented", Some(8)));
/// # Ok::<(), fizeau_experiment::ReplicaSourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReplicaSource {
    /// What it is called; by default the last part of its path.
    pub name: String,
    /// The folder of a run, or a table of tested loads.
    pub path: PathBuf,
    /// How many devices a replica takes.
    pub gpus: Option<NonZeroU64>,
    /// What an hour of a device costs.
    pub gpu_hour: Option<HourlyRate>,
    /// The device: a name of the table, or the path of a TOML file.
    pub hardware: Option<String>,
    /// A TOML file of what owning a device costs ([`Ownership`](fizeau_roofline::Ownership)).
    pub tco: Option<PathBuf>,
}

/// What is wrong with the text of a source.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplicaSourceError {
    /// Nothing is where it is said to be.
    #[error("{given}: there is no such folder or file")]
    Absent {
        /// The name and path that were given.
        given: String,
    },
    /// A part of it is not understood.
    #[error("{name}: `{part}`: {wanted}")]
    Part {
        /// The name of the source.
        name: String,
        /// The part.
        part: String,
        /// What would be right.
        wanted: String,
    },
    /// It has a price twice.
    #[error("{name}: gpu-hour and tco both give a price; leave one out")]
    TwoPrices {
        /// The name of the source.
        name: String,
    },
}

impl FromStr for ReplicaSource {
    type Err = ReplicaSourceError;

    fn from_str(text: &str) -> Result<Self, ReplicaSourceError> {
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (name, path) = match first.split_once('=') {
            Some((name, path)) => (Some(name), PathBuf::from(path)),
            None => (None, PathBuf::from(first)),
        };
        if !path.exists() {
            return Err(ReplicaSourceError::Absent { given: first.to_owned() });
        }
        let last = || path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or_else(last).unwrap_or_else(|| first.to_owned());
        let mut from = Self { name, path, gpus: None, gpu_hour: None, hardware: None, tco: None };
        for part in parts {
            from.set(part).map_err(|wanted| ReplicaSourceError::Part {
                name: from.name.clone(),
                part: part.to_owned(),
                wanted,
            })?;
        }
        match (&from.gpu_hour, &from.tco) {
            (Some(_), Some(_)) => Err(ReplicaSourceError::TwoPrices { name: from.name }),
            _ => Ok(from),
        }
    }
}

impl ReplicaSource {
    /// Takes a `KEY=VALUE`; what would be right where it is none.
    fn set(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part.split_once('=').ok_or("write KEY=VALUE")?;
        match key {
            "gpus" => {
                self.gpus = Some(value.parse().map_err(|_| "write a whole number from 1 on")?);
            }
            "gpu-hour" => {
                let wrong = |why: CostError| why.to_string();
                self.gpu_hour = Some(value.parse().map_err(wrong)?);
            }
            "hardware" => self.hardware = Some(value.to_owned()),
            "tco" => self.tco = Some(value.into()),
            _ => return Err("the keys are gpus, gpu-hour, hardware, tco".to_owned()),
        }
        Ok(())
    }
}

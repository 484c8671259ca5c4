//! `--from`: where a plan's figures are, and what is of that kind of device alone.

use std::num::NonZeroU64;
use std::path::PathBuf;

use fizeau::roofline::HourlyRate;

use crate::args::price::hour;
use crate::exit::Fail;

/// One value of `--from`.
pub(super) struct FromArg {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) gpus: Option<NonZeroU64>,
    pub(super) gpu_hour: Option<HourlyRate>,
    pub(super) hardware: Option<String>,
    pub(super) tco: Option<PathBuf>,
}

impl FromArg {
    /// Reads `[NAME=]PATH[,KEY=VALUE...]`; without a name it is the path's last part.
    pub(super) fn parse(text: &str) -> Result<Self, Fail> {
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (name, path) = match first.split_once('=') {
            Some((name, path)) => (Some(name), PathBuf::from(path)),
            None => (None, PathBuf::from(first)),
        };
        refuse_if!(!path.exists(), "--from {first}: there is no such folder or file");
        let last = || path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or_else(last).unwrap_or_else(|| first.to_owned());
        let mut from = Self { name, path, gpus: None, gpu_hour: None, hardware: None, tco: None };
        parts.try_for_each(|part| from.set(part))?;
        refuse_if!(
            from.gpu_hour.is_some() && from.tco.is_some(),
            "--from {}: gpu-hour and tco both give a price; leave one out",
            from.name
        );
        Ok(from)
    }

    fn set(&mut self, part: &str) -> Result<(), Fail> {
        let wrong = |wanted: &str| usage!("--from {}: `{part}`: {wanted}", self.name);
        let (key, value) = part.split_once('=').ok_or_else(|| wrong("write KEY=VALUE"))?;
        match key {
            "gpus" => {
                let number = value.parse().map_err(|_| wrong("write a whole number from 1 on"))?;
                self.gpus = Some(number);
            }
            "gpu-hour" => {
                self.gpu_hour = Some(hour(value).map_err(|why| wrong(&why))?);
            }
            "hardware" => self.hardware = Some(value.to_owned()),
            "tco" => self.tco = Some(value.into()),
            _ => return Err(wrong("the keys are gpus, gpu-hour, hardware, tco")),
        }
        Ok(())
    }
}

/// Refuses two of one name, which nobody could tell apart.
pub(super) fn distinct(all: &[FromArg]) -> Result<(), Fail> {
    for (index, from) in all.iter().enumerate() {
        refuse_if!(
            all.iter().take(index).any(|other| other.name == from.name),
            "--from: two sources are called {name}; name them, such as --from a={path}",
            name = from.name,
            path = from.path.display()
        );
    }
    Ok(())
}

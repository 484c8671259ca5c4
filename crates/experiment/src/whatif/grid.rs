//! The configurations that several values of settings make: every combination, and those that are named by themselves.

use std::collections::BTreeSet;

use thiserror::Error;

/// A setting of a configuration, with its values of whatever kind they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridSetting<T> {
    /// What it is, whatever it is called.
    pub name: String,
    /// What it is called where it sets a configuration apart.
    pub label: String,
    /// Its values as they are shown there.
    pub text: String,
    /// Its values.
    pub values: Vec<T>,
    /// What becomes of them where a configuration has the setting twice.
    pub repeated: RepeatedSetting,
}

/// What becomes of a setting that a configuration is given once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedSetting {
    /// The later values take the place of the earlier ones.
    Replaced,
    /// The later values come behind the earlier ones.
    Extended,
}

/// One of the ways in which configurations have a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridWay<T> {
    /// What the setting is called.
    pub label: String,
    /// What is shown of this way.
    pub text: String,
    /// The setting; none where these configurations are without it.
    pub setting: Option<GridSetting<T>>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridCase<T> {
    /// What sets it apart from the others: labels and texts, in the order in which they were given.
    pub settings: Vec<(String, String)>,
    /// All that it is made of.
    pub values: Vec<GridSetting<T>>,
}

/// Why settings do not make configurations.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// They are more than can be read side by side.
    #[error("the settings make more than {most} configurations")]
    TooMany {
        /// The most.
        most: usize,
    },
    /// Two of them are alike.
    #[error("configuration {number} ({name}) is the same as one before it")]
    Same {
        /// The number of the second of them, counted from 1.
        number: usize,
        /// What sets it apart, as it was given.
        name: String,
    },
}

/// Why a text is no list of values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListedValuesError {
    /// There is nothing on one side of a comma.
    #[error("a value is missing before or after a comma; write none to leave it out")]
    Missing,
    /// One is there twice.
    #[error("{0} is given twice; give it once")]
    Twice(String),
}

/// The values in `text`, one of which each configuration is to have: `1,2,4`. One that names parts of itself (`experts=nvfp4,attention=bf16`)
/// is one value; ratios (`2:1,1:1`) are several.
///
/// # Errors
/// If one is missing, or there twice.
pub fn listed_values(text: &str) -> Result<Vec<String>, ListedValuesError> {
    if text.contains(['=', ':']) && !text.split(',').all(is_ratio) {
        return Ok(vec![text.to_owned()]);
    }
    let values: Vec<String> = text.split(',').map(|value| value.trim().to_owned()).collect();
    if values.len() > 1 && values.iter().any(String::is_empty) {
        return Err(ListedValuesError::Missing);
    }
    let mut seen = BTreeSet::new();
    match values.iter().find(|value| !seen.insert(*value)) {
        Some(value) => Err(ListedValuesError::Twice(value.clone())),
        None => Ok(values),
    }
}

/// `P:D`, or a value without a colon.
fn is_ratio(value: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match value.split_once(':') {
        Some((prefill, decode)) => number(prefill.trim()) && number(decode.trim()),
        None => !value.contains('='),
    }
}

/// Settings of which some have several values: every combination is a configuration, the last setting changing fastest.
///
/// ```
/// use fizeau_experiment::{GridSetting, GridWay, RepeatedSetting, SettingGrid};
///
/// let way = |name: &str, value: u32| GridWay {
///     label: name.to_owned(),
///     text: value.to_string(),
///     setting: Some(GridSetting {
///         name: name.to_owned(),
///         label: name.to_owned(),
///         text: value.to_string(),
///         values: vec![value],
///         repeated: RepeatedSetting::Replaced,
///     }),
/// };
/// let grid = SettingGrid::new()
///     .vary(vec![way("tp", 1), way("tp", 2)])
///     .vary(vec![way("seed", 7), way("seed", 8)]);
/// let cases = grid.cases()?;
/// let names: Vec<String> = cases.iter().map(|case| case.name()).collect();
/// assert_eq!(names, ["tp 1, seed 7", "tp 1, seed 8", "tp 2, seed 7", "tp 2, seed 8"]);
/// # Ok::<_, fizeau_experiment::GridError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SettingGrid<T> {
    settings: Vec<Vec<GridWay<T>>>,
    sets: Vec<Vec<GridSetting<T>>>,
    dependents: Vec<(String, Vec<String>)>,
}

impl<T> Default for SettingGrid<T> {
    fn default() -> Self {
        Self { settings: Vec::new(), sets: Vec::new(), dependents: Vec::new() }
    }
}

impl<T: Clone + PartialEq> SettingGrid<T> {
    /// The most configurations of one grid: their figures are read side by side.
    pub const MOST: usize = 256;

    /// Of a single configuration, which has no settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a setting in each of these `ways`. A single way is that of all configurations, and sets none apart.
    #[must_use]
    pub fn vary(mut self, ways: Vec<GridWay<T>>) -> Self {
        if !ways.is_empty() {
            self.settings.push(ways);
        }
        self
    }

    /// With a setting that all configurations have.
    #[must_use]
    pub fn with(self, setting: GridSetting<T>) -> Self {
        let (label, text) = (setting.label.clone(), setting.text.clone());
        self.vary(vec![GridWay { label, text, setting: Some(setting) }])
    }

    /// With a configuration of these further settings beside those of the other sets. They count against what varies.
    #[must_use]
    pub fn set(mut self, settings: Vec<GridSetting<T>>) -> Self {
        self.sets.push(settings);
        self
    }

    /// Where one configuration has `setting`, those without it have none of `dependents` either.
    #[must_use]
    pub fn depend(mut self, setting: &str, dependents: &[&str]) -> Self {
        let dependents = dependents.iter().map(|&name| name.to_owned()).collect();
        self.dependents.push((setting.to_owned(), dependents));
        self
    }

    /// The configurations.
    ///
    /// # Errors
    /// If they are more than [`MOST`](Self::MOST), or two are the same.
    pub fn cases(&self) -> Result<Vec<GridCase<T>>, GridError> {
        let mut cases = vec![GridCase { settings: Vec::new(), values: Vec::new() }];
        for ways in &self.settings {
            let is_several = ways.len() > 1;
            cases = each_way(&cases, ways, |case, way| case.choosing(way, is_several))?;
        }
        if !self.sets.is_empty() {
            cases = each_way(&cases, &self.sets, |case, set| case.with_set(set))?;
        }
        for (setting, dependents) in &self.dependents {
            if cases.iter().any(|case| case.has(setting)) {
                for case in cases.iter_mut().filter(|case| !case.has(setting)) {
                    case.values.retain(|value| !dependents.contains(&value.name));
                }
            }
        }
        for (index, case) in cases.iter().enumerate() {
            if cases.iter().take(index).any(|before| before.is_like(case)) {
                return Err(GridError::Same { number: index + 1, name: case.name() });
            }
        }
        Ok(cases)
    }
}

/// Each case in each of the `ways`.
fn each_way<T, W>(
    cases: &[GridCase<T>],
    ways: &[W],
    with: impl Fn(&GridCase<T>, &W) -> GridCase<T>,
) -> Result<Vec<GridCase<T>>, GridError>
where
    T: Clone + PartialEq,
{
    let most = SettingGrid::<T>::MOST;
    if cases.len().saturating_mul(ways.len()) > most {
        return Err(GridError::TooMany { most });
    }
    let with = &with;
    Ok(cases.iter().flat_map(|case| ways.iter().map(move |way| with(case, way))).collect())
}

impl<T> GridCase<T> {
    /// What sets it apart, in a line.
    #[must_use]
    pub fn name(&self) -> String {
        let settings = self.settings.iter();
        let name = settings.map(|(label, text)| format!("{label} {text}").trim_end().to_owned());
        name.collect::<Vec<_>>().join(", ")
    }

    /// Whether it has the setting of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|value| value.name == name)
    }
}

impl<T: Clone + PartialEq> GridCase<T> {
    fn choosing(&self, way: &GridWay<T>, sets_apart: bool) -> Self {
        let mut case = self.clone();
        if sets_apart {
            case.settings.push((way.label.clone(), way.text.clone()));
        }
        case.values.extend(way.setting.clone());
        case
    }

    fn with_set(&self, set: &[GridSetting<T>]) -> Self {
        let mut case = self.clone();
        for setting in set {
            case.settings.push((setting.label.clone(), setting.text.clone()));
            match case.values.iter_mut().find(|known| known.name == setting.name) {
                Some(known) if setting.repeated == RepeatedSetting::Extended => {
                    known.values.extend(setting.values.iter().cloned());
                }
                Some(known) => *known = setting.clone(),
                None => case.values.push(setting.clone()),
            }
        }
        case
    }

    /// Whether both do the same, whatever their settings are called.
    fn is_like(&self, other: &Self) -> bool {
        let of = |case: &Self| {
            case.values
                .iter()
                .map(|value| (value.name.clone(), value.values.clone()))
                .collect::<Vec<_>>()
        };
        of(self) == of(other)
    }
}

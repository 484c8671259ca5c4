//! Systems by names of a person's own.

use std::str::FromStr;

use thiserror::Error;

/// A system and where it is. Its name is fit for a folder.
///
/// ```
/// use fizeau_experiment::NamedUrl;
/// let system: NamedUrl = "h100=http://127.0.0.1:8000".parse()?;
/// assert_eq!((&*system.name, &*system.url), ("h100", "http://127.0.0.1:8000"));
/// assert!("../x=http://127.0.0.1".parse::<NamedUrl>().is_err());
/// # Ok::<(), fizeau_experiment::NamedUrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedUrl {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub url: String,
}

/// Why a text names no system.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}: {what}; give NAME=URL, such as h100=http://127.0.0.1:8000")]
pub struct NamedUrlError {
    text: String,
    what: &'static str,
}

impl FromStr for NamedUrl {
    type Err = NamedUrlError;

    fn from_str(text: &str) -> Result<Self, NamedUrlError> {
        let wrong = |what| Err(NamedUrlError { text: text.to_owned(), what });
        let Some((name, url)) = text.split_once('=') else { return wrong("it has no name") };
        let is_plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            return wrong(
                "its name may have letters, digits, blanks and - _ . +, and no dot in front",
            );
        }
        match url.is_empty() {
            true => wrong("it has no URL"),
            false => Ok(Self { name: name.to_owned(), url: url.to_owned() }),
        }
    }
}

impl NamedUrl {
    /// The systems of these texts.
    ///
    /// # Errors
    /// If one is none, or two have one name.
    pub fn all(texts: &[String]) -> Result<Vec<Self>, NamedUrlError> {
        let mut all: Vec<Self> = Vec::new();
        for text in texts {
            let system: Self = text.parse()?;
            if all.iter().any(|other| other.name == system.name) {
                let what = "two systems have this name";
                return Err(NamedUrlError { text: text.clone(), what });
            }
            all.push(system);
        }
        Ok(all)
    }
}

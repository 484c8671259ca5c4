//! Values of the form `a=1,b=2`.

use crate::exit::Fail;

/// The numbers of a value such as `on=100,off=5`, each under one of a few names.
pub(crate) struct Pairs<'a> {
    /// The flag and its value, for messages.
    flag: &'a str,
    found: Vec<(&'a str, f64)>,
}

impl<'a> Pairs<'a> {
    /// Reads `text`, in which only `names` may come, each once.
    pub(crate) fn parse(flag: &'a str, text: &'a str, names: &[&str]) -> Result<Self, Fail> {
        let mut found: Vec<(&str, f64)> = Vec::new();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = name.trim();
            if !names.contains(&name) {
                let known = names.join(", ");
                return Err(Fail::usage(format!("{flag}: `{name}` is none of {known}")));
            }
            if found.iter().any(|&(other, _)| other == name) {
                return Err(Fail::usage(format!("{flag}: `{name}` comes twice")));
            }
            let value = value
                .trim()
                .parse()
                .map_err(|_| Fail::usage(format!("{flag}: {name} wants a number, as {name}=1")))?;
            found.push((name, value));
        }
        Ok(Self { flag, found })
    }

    /// The number under `name`, which must be there.
    pub(crate) fn number(&self, name: &str) -> Result<f64, Fail> {
        let number = self.found.iter().find(|(other, _)| *other == name).map(|&(_, value)| value);
        number.ok_or_else(|| Fail::usage(format!("{}: `{name}` is missing", self.flag)))
    }
}

//! Deployments as text, such as `TP8 EP8 x2`.

use std::fmt;
use std::str::FromStr;

use super::{Deployment, DeploymentError, ExpertExchange, Overlap};

fizeau_core::words! {
    /// The name used in files and on the command line, such as `all-to-all`.
    pub(crate) ExpertExchange::as_str {
        Fastest = "fastest-exchange", AllToAll = "all-to-all", AllGather = "all-gather",
    }
}

fizeau_core::words! {
    /// The name used in files and on the command line, such as `two-batches`.
    pub(crate) Overlap::as_str {
        None = "no-overlap", TwoBatches = "two-batches",
    }
}

impl fmt::Display for Deployment {
    /// Only the degrees above 1: `TP8 PP2`; `1 device` where there is none. Options only where they are not the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let degrees = [
            ("TP", self.tensor()),
            ("PP", self.pipeline()),
            ("EP", self.expert_groups()),
            ("DP", self.attention_groups()),
            ("x", self.replicas()),
        ];
        let degrees = degrees.iter().filter(|(_, degree)| *degree > 1);
        let mut words: Vec<String> =
            degrees.map(|(name, degree)| format!("{name}{degree}")).collect();
        if words.is_empty() {
            words.push("1 device".to_owned());
        }
        if self.exchange != ExpertExchange::default() {
            words.push(self.exchange.as_str().to_owned());
        }
        if self.overlap != Overlap::default() {
            words.push(self.overlap.as_str().to_owned());
        }
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Deployment {
    type Err = DeploymentError;

    /// Reads what `Display` writes, in any order and case, with spaces or commas: `tp8,ep8 x2`, `TP=8`.
    fn from_str(text: &str) -> Result<Self, DeploymentError> {
        let mut read = Self::SINGLE;
        let text = text.to_lowercase().replace("1 device", "");
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            read = read.with_word(word)?;
        }
        Ok(read)
    }
}

impl Deployment {
    fn with_word(self, word: &str) -> Result<Self, DeploymentError> {
        for exchange in
            [ExpertExchange::Fastest, ExpertExchange::AllToAll, ExpertExchange::AllGather]
        {
            if word == exchange.as_str() {
                return Ok(self.with_expert_exchange(exchange));
            }
        }
        for overlap in [Overlap::None, Overlap::TwoBatches] {
            if word == overlap.as_str() {
                return Ok(self.with_overlap(overlap));
            }
        }
        let unreadable = || DeploymentError::Unreadable { word: word.chars().take(32).collect() };
        let digits = word.find(|c: char| c.is_ascii_digit()).ok_or_else(unreadable)?;
        let (name, degree) = word.split_at(digits);
        let degree: u32 = degree.parse().map_err(|_| unreadable())?;
        match name.trim_end_matches('=') {
            "tp" => self.with_tensor(degree),
            "pp" => self.with_pipeline(degree),
            "ep" => self.with_expert_groups(degree),
            "dp" => self.with_attention_groups(degree),
            "x" => self.with_replicas(degree),
            _ => Err(unreadable()),
        }
    }
}

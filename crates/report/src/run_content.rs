//! A stored run as it was shown at its end, as far as it can be had again.

use fizeau_record::{AbOutcome, RunContent, RunContentKind};

use crate::Shown;
use crate::text::Verbosity;

/// What stands where the page of an A/B run has no tests of its own.
#[cfg(feature = "html")]
const OWN_ROUNDS: &str = "its rounds are compared in ab.json";

impl Shown<'_, RunContent<'_>> {
    /// A search as it was kept, or the block of each level behind its one of `heads` (vLLM's block), brief for an A/B run whose answers
    /// fit on a screen. A sweep has a table in its place: [`Shown::terminal`] of its report. Without a newline at its end.
    #[must_use]
    pub fn text(&self, heads: &[String], verbosity: Verbosity) -> String {
        match self.kind() {
            RunContentKind::Search { text, .. } => text.clone(),
            RunContentKind::Alone(level) => {
                let head = heads.first().map_or("", String::as_str);
                Shown(&**level).text(head, Some(self.report()), verbosity)
            }
            RunContentKind::Apart { levels, rounds, .. } => {
                let blocks = levels.iter().enumerate().map(|(at, level)| {
                    let head = heads.get(at).map_or("", String::as_str);
                    Shown(level).text(head, None, verbosity)
                });
                let answers = rounds.as_ref().map(|rounds| self.answers(rounds));
                let parts: Vec<String> = match (rounds, verbosity) {
                    // What the turns of an A/B run come to fits on a screen, and each of them does not.
                    (Some(AbOutcome::Finished(_)), Verbosity::Brief) => Vec::from_iter(answers),
                    (_, Verbosity::Brief) => answers.into_iter().chain(blocks).collect(),
                    (_, Verbosity::Full) => blocks.chain(answers).collect(),
                };
                parts.join("\n")
            }
            _ => String::new(),
        }
    }

    /// What the rounds of an A/B run came to.
    fn answers(&self, rounds: &AbOutcome) -> String {
        let AbOutcome::Finished(document) = rounds else {
            return "This A/B run did not finish: there is no ab.json".to_owned();
        };
        let name = self.path().join("ab.json");
        let answers = Shown(&**document).answers();
        format!("An A/B run; its comparison, from {}:\n{answers}", name.display())
    }

    /// All levels in a table for a pull request.
    #[must_use]
    pub fn markdown(&self) -> String {
        Shown(self.report()).markdown()
    }

    /// The page, whole in one file: of an A/B run with both sides.
    #[cfg(feature = "html")]
    #[must_use]
    pub fn page(&self) -> String {
        match self.kind() {
            RunContentKind::Apart { sides, .. } if sides.len() > 1 => {
                let comparison = Err(OWN_ROUNDS);
                crate::ComparisonPage { runs: sides, imported: &[], comparison }.page()
            }
            RunContentKind::Apart { sides, .. } => {
                sides.first().map_or_else(String::new, |(_, report)| Shown(report).page())
            }
            _ => Shown(self.report()).page(),
        }
    }
}

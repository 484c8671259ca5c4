//! Which way is better, and what to put first among candidates that are all allowed.

/// Whether more or less of a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Objective {
    /// More is better, as with throughput.
    Maximize,
    /// Less is better, as with latency.
    Minimize,
}

impl Objective {
    /// What to multiply a figure by so that less is better.
    pub(crate) const fn sign(self) -> f64 {
        match self {
            Self::Maximize => -1.0,
            Self::Minimize => 1.0,
        }
    }
}

/// Two figures in the order in which they count: the first may not be much worse than the best, then the second decides.
///
/// ```
/// use fizeau_pareto::{Objective, Preference};
/// // First a time to first token within twice the least, then the most requests per second.
/// let chat = Preference { first: Objective::Minimize, factor: 2.0, then: Objective::Maximize };
/// assert_eq!(chat.choose(&[[20.0, 4.0], [35.0, 8.0], [90.0, 12.0]]), Some(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// Which way the first figure is better.
    pub first: Objective,
    /// By what factor the first figure may be worse than the best of all: 1 for not at all.
    pub factor: f64,
    /// Which way the second figure is better.
    pub then: Objective,
}

impl Preference {
    /// The index of the candidate to prefer, each being its two figures; none without candidates.
    ///
    /// Of those equal in the second figure the better first one wins, then the one that comes first. Figures are meant to be
    /// positive: below or at zero there is no factor, and only the best itself is near enough. A candidate with a NaN is
    /// passed over.
    #[must_use]
    pub fn choose(&self, candidates: &[[f64; 2]]) -> Option<usize> {
        let merit = |direction: Objective, figure: f64| -direction.sign() * figure;
        let numbers =
            |(_, figures): &(usize, &[f64; 2])| !figures.iter().any(|figure| figure.is_nan());
        let known = candidates.iter().enumerate().filter(numbers);
        let firsts = known.clone().map(|(_, [first, _])| *first);
        let best = firsts.reduce(|best, next| {
            if merit(self.first, next) > merit(self.first, best) { next } else { best }
        })?;
        let is_near = |first: f64| {
            let (worse, better) = match self.first {
                Objective::Maximize => (best, first),
                Objective::Minimize => (first, best),
            };
            first == best || (best > 0.0 && worse <= better * self.factor)
        };
        let near = known.filter(|(_, [first, _])| is_near(*first));
        let merits = near.map(|(index, [first, then])| {
            (index, (merit(self.then, *then), merit(self.first, *first)))
        });
        merits.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|found| found.0)
    }
}

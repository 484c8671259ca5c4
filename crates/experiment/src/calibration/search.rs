//! The search for the most that still goes well.

/// Doubles from a start until it goes ill, or halves from there until it goes well.
#[derive(Debug)]
pub(super) struct LimitSearch {
    next: Option<u32>,
    best: u32,
    has_failed: bool,
    steps_left: usize,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LevelOutcome {
    Ill,
    Well,
}

impl LimitSearch {
    /// From `start` on, in at most `steps` steps.
    pub(super) const fn new(start: u32, steps: usize) -> Self {
        Self { next: Some(start), best: 0, has_failed: false, steps_left: steps }
    }

    /// What to try next; none once the search is over.
    pub(super) fn next(&self) -> Option<u32> {
        self.next.filter(|_| self.steps_left > 0)
    }

    /// Takes note of how that went.
    pub(super) fn note(&mut self, went: LevelOutcome) {
        let Some(tried) = self.next() else { return };
        self.steps_left -= 1;
        match went {
            LevelOutcome::Well => self.best = tried,
            LevelOutcome::Ill => self.has_failed = true,
        }
        self.next = match went {
            LevelOutcome::Well if !self.has_failed => tried.checked_mul(2),
            LevelOutcome::Ill if self.best == 0 => Some(tried / 2).filter(|next| *next > 0),
            LevelOutcome::Well | LevelOutcome::Ill => None,
        };
    }

    /// The most that went well; 0 if nothing did.
    pub(super) const fn best(&self) -> u32 {
        self.best
    }

    /// Whether more than that was tried.
    pub(super) const fn has_failed(&self) -> bool {
        self.has_failed
    }
}

#[cfg(test)]
mod tests {
    use super::{LevelOutcome, LimitSearch};

    /// What is tried, and what comes out, where all up to `limit` goes well.
    fn search(start: u32, steps: usize, limit: u32) -> (Vec<u32>, u32, bool) {
        let mut search = LimitSearch::new(start, steps);
        let mut tried = Vec::new();
        while let Some(next) = search.next() {
            tried.push(next);
            search.note(if next <= limit { LevelOutcome::Well } else { LevelOutcome::Ill });
        }
        (tried, search.best(), search.has_failed())
    }

    #[test]
    fn it_doubles_until_it_goes_ill() {
        assert_eq!(search(8, 9, 20), (vec![8, 16, 32], 16, true));
        assert_eq!(search(8, 2, 20), (vec![8, 16], 16, false));
    }

    #[test]
    fn it_halves_until_it_goes_well() {
        assert_eq!(search(32, 9, 9), (vec![32, 16, 8], 8, true));
        assert_eq!(search(3, 9, 0), (vec![3, 1], 0, true));
    }

    #[test]
    fn it_ends_wherever_the_limit_is() {
        for start in 1..40 {
            for limit in 0..80 {
                let (tried, best, _) = search(start, 20, limit);
                assert!(best <= limit && tried.len() <= 20);
                assert!(best == 0 || 2 * best > limit || start > best, "{start} {limit} {best}");
            }
        }
        assert_eq!(search(u32::MAX, 9, u32::MAX), (vec![u32::MAX], u32::MAX, false));
    }
}

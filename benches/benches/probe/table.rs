//! A row for each question: ours, theirs, and the bar.

/// Which of two figures is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// The best that each saw so far.
#[derive(Debug)]
pub(crate) struct Row {
    what: &'static str,
    better: Better,
    /// By which part ours may be worse than the best of theirs.
    bar: f64,
    ours: Option<f64>,
    theirs: Vec<(String, f64)>,
}

impl Row {
    pub(crate) const fn new(what: &'static str, better: Better, bar: f64) -> Self {
        Self { what, better, bar, ours: None, theirs: Vec::new() }
    }

    pub(crate) fn ours(&mut self, seen: f64) {
        self.ours = Some(self.ours.map_or(seen, |kept| self.better(kept, seen)));
    }

    pub(crate) fn theirs(&mut self, whose: &str, seen: f64) {
        let better = self.better;
        match self.theirs.iter_mut().find(|(known, _)| known == whose) {
            Some((_, kept)) => *kept = of(better, *kept, seen),
            None => self.theirs.push((whose.to_owned(), seen)),
        }
    }

    fn better(&self, a: f64, b: f64) -> f64 {
        of(self.better, a, b)
    }

    /// How good ours is of theirs: above 1 where it is better.
    fn ratio(&self, theirs: f64) -> Option<f64> {
        Some(match self.better {
            Better::Higher => self.ours? / theirs,
            Better::Lower => theirs / self.ours?,
        })
    }

    /// Of all that it was held against only the best has a bar.
    pub(crate) fn print(&self) {
        let ours = self.ours.map_or_else(|| "-".to_owned(), figure);
        let best = self.theirs.iter().map(|(_, seen)| *seen).reduce(|a, b| self.better(a, b));
        if self.theirs.is_empty() {
            println!("{:<23} {ours:>8}", self.what);
        }
        for (at, (whose, seen)) in self.theirs.iter().enumerate() {
            let (what, ours) = if at == 0 { (self.what, &*ours) } else { ("", "") };
            let ratio = self.ratio(*seen).unwrap_or(f64::NAN);
            let is_best = Some(*seen) == best;
            let bar = if is_best { format!("{:.0} %", 100.0 * self.bar) } else { String::new() };
            let missed = if is_best && ratio < 1.0 - self.bar { "missed" } else { "" };
            let line = format!(
                "{what:<23} {ours:>8}  {whose:<24} {:>8} {ratio:>6.3} {bar:>4} {missed}",
                figure(*seen)
            );
            println!("{}", line.trim_end());
        }
    }
}

/// The head of all rows.
pub(crate) fn head() {
    println!("{:<23} {:>8}  {:<24} {:>8} {:>6} {:>4}", "", "ours", "", "theirs", "ratio", "bar");
}

fn of(better: Better, a: f64, b: f64) -> f64 {
    match better {
        Better::Higher => a.max(b),
        Better::Lower => a.min(b),
    }
}

fn figure(value: f64) -> String {
    format!("{value:.1}")
}

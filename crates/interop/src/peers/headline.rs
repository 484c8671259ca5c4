//! Which figures stand for a concept.

use super::{OwnFigures, PeerFigure, PeerReport, PeerStatistic, PeerTerm, PeerUnit};

/// What is shown of a sample.
const SHOWN: [PeerStatistic; 3] =
    [PeerStatistic::Mean, PeerStatistic::Percentile(50), PeerStatistic::Percentile(99)];

impl PeerTerm {
    /// The figures of `report` that stand for this concept: mean, median and p99 of a latency, or the one number of a run. None
    /// where the tool has no such figure; where it only computes with one, that ([`PeerReport::intermediate`]).
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
    /// use fizeau_interop::{PeerTerm, Peer, PeerSettings};
    ///
    /// let mut tape = Tape::sent_at(Stamp::EPOCH);
    /// let at = Stamp::EPOCH + Nanos::from_millis(20);
    /// tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
    /// let report = Peer::InferenceBenchmarker.figures([&tape], &PeerSettings::default());
    /// let names: Vec<_> = PeerTerm::Ttft.figures_of(&report).iter().map(|f| &*f.name).collect();
    /// let all = ["time_to_first_token_ms.avg", "time_to_first_token_ms.p50", "time_to_first_token_ms.p99"];
    /// assert_eq!(names, all);
    /// ```
    #[must_use]
    pub fn figures_of(self, report: &PeerReport) -> Vec<&PeerFigure> {
        let known =
            self.definitions().into_iter().find(|definition| definition.peer == report.peer);
        let name = known.map_or("", |definition| definition.name).to_lowercase();
        if name.is_empty() {
            let intermediate = report.intermediate.iter().filter(|(concept, _)| *concept == self);
            return intermediate.map(|(_, figure)| figure).collect();
        }
        let named = |figure: &&PeerFigure| figure.name.to_lowercase().contains(&name);
        let all: Vec<&PeerFigure> = report.figures.iter().filter(named).collect();
        if let Some(exact) = all.iter().find(|figure| figure.name.to_lowercase() == name) {
            return vec![exact];
        }
        // Names of other figures may hold this one: what is linked to ours, from the schedule on or not, goes first.
        let is_ours = |name: &str| name.trim_end_matches("_scheduled") == self.own_name();
        let linked: Vec<&PeerFigure> =
            all.iter().copied().filter(|figure| figure.ours.is_some_and(is_ours)).collect();
        let of = if linked.is_empty() { all } else { linked };
        let first = |wanted| of.iter().copied().find(|figure| figure.statistic == wanted);
        let shown: Vec<&PeerFigure> =
            SHOWN.into_iter().filter_map(|statistic| first(Some(statistic))).collect();
        if shown.is_empty() { first(None).into_iter().collect() } else { shown }
    }

    /// Our own figures of this concept, in the same form.
    #[must_use]
    pub fn own_figures(self, own: &OwnFigures) -> Vec<PeerFigure> {
        let (name, unit) = (self.own_name(), self.own_unit());
        let one = |statistic| {
            let value = own.get(name, statistic)?;
            Some(PeerFigure { name: name.to_owned(), value, unit, ours: Some(name), statistic })
        };
        let statistics: &[Option<PeerStatistic>] = match self {
            Self::Ttft | Self::Tpot | Self::Itl | Self::E2el => &SHOWN.map(Some),
            Self::Percentiles => &[Some(PeerStatistic::Percentile(99))],
            _ => &[None],
        };
        statistics.iter().filter_map(|statistic| one(*statistic)).collect()
    }

    const fn own_unit(self) -> PeerUnit {
        match self {
            Self::Ttft | Self::Tpot | Self::Itl | Self::E2el | Self::Percentiles => {
                PeerUnit::Millis
            }
            Self::Throughput | Self::Goodput => PeerUnit::PerSecond,
            Self::Duration => PeerUnit::Seconds,
            Self::Concurrency | Self::Failures | Self::Tokens => PeerUnit::Count,
        }
    }
}

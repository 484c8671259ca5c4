//! Which part of a load was offered where shards are missing.

use fizeau_core::{LevelLoad, LoadKind};
use fizeau_record::{ArrivalMoments, RequestedLoad, ShardsReport};
use fizeau_workload::Shard;

/// What the shards that took part offered of a load that all of them were to offer.
#[derive(Debug, Clone)]
pub(crate) struct OfferedLoadShare {
    shards: Vec<Shard>,
    /// How many shards the plan was divided among.
    among: u64,
}

impl OfferedLoadShare {
    /// Of a load of at most `cap` in flight; none where all took part. One that was gone in the midst did until then, and the level that
    /// it left is partial.
    pub(crate) fn of(report: &ShardsReport, cap: Option<u32>) -> Option<Self> {
        if report.missing.len() <= report.gone_in_level.len() {
            return None;
        }
        // Where there are more shards than slots, the others stand by.
        let among = cap.map_or(report.count, |cap| report.count.min(cap.into())).max(1);
        let here = report.health.iter().map(|one| &one.shard);
        let shards = here.chain(&report.gone_in_level).filter_map(|one| one.parse::<Shard>().ok());
        Some(Self { shards: shards.collect(), among })
    }

    /// A rate by how many shards of all there were, slots by those that the shards had.
    pub(crate) fn load(&self, load: LevelLoad) -> LevelLoad {
        match load {
            LevelLoad::Rate(rate) => LevelLoad::Rate(rate * self.part()),
            LevelLoad::Concurrency(slots) => {
                let own = |shard: &Shard| shard.share_of(slots.get().into());
                LoadKind::Concurrency.at(self.shards.iter().map(own).sum::<u64>() as f64)
            }
        }
    }

    /// What was asked of them. The law of the gaps between requests of which some were not sent is no longer the plan's.
    pub(crate) fn requested(&self, requested: RequestedLoad) -> RequestedLoad {
        let part = |law: ArrivalMoments| ArrivalMoments {
            rate: law.rate.map(|rate| rate * self.part()),
            cv_squared: None,
        };
        RequestedLoad { arrivals: requested.arrivals.map(part), ..requested }
    }

    fn part(&self) -> f64 {
        let sends = |shard: &&Shard| shard.index() < self.among;
        self.shards.iter().filter(sends).count() as f64 / self.among as f64
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use fizeau_core::PerSec;
    use fizeau_record::ShardHealth;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_is_gone_in_the_midst_offered_its_part_until_then() {
        let mut report = ShardsReport::of(3);
        report.health = ["0/3", "1/3"].map(ShardHealth::of).into();
        report.missing = vec!["2/3: it is gone".to_owned()];
        let part = |report: &ShardsReport| {
            let share = OfferedLoadShare::of(report, None)?;
            Some(share.load(LevelLoad::Rate(PerSec::new(60.0))).value())
        };
        assert_eq!(part(&report), Some(40.0), "it never came");
        report.gone_in_level = vec!["2/3".to_owned()];
        assert_eq!(part(&report), None, "all took part");
        report.health.pop();
        report.missing.push("1/3: it did not come".to_owned());
        assert_eq!(part(&report), Some(40.0), "one never came, and one left");
    }

    proptest! {
        /// What some shards offered and what the others would have is the whole load.
        #[test]
        fn those_that_are_there_and_those_that_are_not_have_the_whole_load(
            are_there in prop::collection::vec(any::<bool>(), 2..20),
            slots in 1..64_u32,
        ) {
            let count = are_there.len() as u64;
            let of = |is_there: bool| {
                let names = are_there.iter().zip(0..).map(|(there, index)| (*there == is_there, format!("{index}/{count}")));
                let (own, others): (Vec<_>, Vec<_>) = names.partition(|(is_own, _)| *is_own);
                let health = own.into_iter().map(|(_, shard)| ShardHealth::of(shard));
                let mut report = ShardsReport::of(count);
                report.health = health.collect();
                report.missing = others.into_iter().map(|(_, shard)| shard).collect();
                report
            };
            let (here, gone) = (of(true), of(false));
            prop_assume!(!here.missing.is_empty() && !gone.missing.is_empty());
            let both = |cap, load| [&here, &gone].map(|report| OfferedLoadShare::of(report, cap).unwrap().load(load).value());
            let rate = both(None, LevelLoad::Rate(PerSec::new(60.0)));
            prop_assert!((rate[0] - 60.0 * here.health.len() as f64 / count as f64).abs() < 1e-9);
            prop_assert!((rate[0] + rate[1] - 60.0).abs() < 1e-9);
            let capped = both(Some(slots), LevelLoad::Rate(PerSec::new(60.0)));
            prop_assert!((capped[0] + capped[1] - 60.0).abs() < 1e-9);
            if u64::from(slots) >= 2 * count {
                let slots = NonZeroU32::new(slots).unwrap();
                let held = both(Some(slots.get()), LevelLoad::Concurrency(slots));
                prop_assert_eq!(held[0] + held[1], f64::from(slots.get()));
            }
        }
    }
}

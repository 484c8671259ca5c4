//! Four axes and more: divide and conquer.
//!
//! In lexicographic order no point dominates an earlier one. So the front of a half is found, then what it dominates of the
//! other half is thrown out, then the front of what is left of that half is found. To throw out, the first figure is of no more
//! interest, because the order has seen to it; the others are split in turn at a value, until three figures are left, for
//! which a sweep with a staircase does.

use super::rows::CostRow;
use super::stairs::{Stairs, key};
use super::{lexicographic, no_worse};

/// Up to how many points each is simply held against each.
const FEW: usize = 32;

/// Those of `rows` that none of them dominates.
pub(super) fn front<C: AsRef<[f64]> + Copy>(mut rows: Vec<CostRow<C>>) -> Vec<CostRow<C>> {
    rows.sort_unstable_by(|a, b| lexicographic(a.cost.as_ref(), b.cost.as_ref()));
    let groups = || rows.chunk_by(|a, b| a.cost.as_ref() == b.cost.as_ref());
    let costs: Vec<C> = groups().map(|equal| equal[0].cost).collect();
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_unstable_by_key(|&i| costs[i].as_ref().last().map(|last| key(*last)));
    let mut sieve = Sieve { beaten: vec![false; costs.len()], costs };
    sieve.reduce(order, 0, sieve.costs.len());
    let beaten = &sieve.beaten;
    groups()
        .zip(beaten)
        .filter(|(_, beaten)| !**beaten)
        .flat_map(|(equal, _)| equal)
        .copied()
        .collect()
}

struct Sieve<C> {
    /// All different, in lexicographic order.
    costs: Vec<C>,
    beaten: Vec<bool>,
}

impl<C: AsRef<[f64]>> Sieve<C> {
    /// Finds what is beaten of `set`, whose members lie from `begin` to before `end` and come in order of their last figure;
    /// returns the others in that order.
    fn reduce(&mut self, mut set: Vec<usize>, begin: usize, end: usize) -> Vec<usize> {
        if set.len() <= FEW {
            self.compare(&set, &set, 0);
            set.retain(|&i| !self.beaten[i]);
            return set;
        }
        let middle = begin.midpoint(end);
        let (first, mut second): (Vec<_>, Vec<_>) = set.into_iter().partition(|&i| i < middle);
        let first = self.reduce(first, begin, middle);
        self.weed(&first, &second, 1);
        second.retain(|&i| !self.beaten[i]);
        let second = self.reduce(second, middle, end);
        self.merged(&first, &second)
    }

    fn merged(&self, first: &[usize], second: &[usize]) -> Vec<usize> {
        let mut merged = Vec::with_capacity(first.len() + second.len());
        let mut rest = second.iter().copied().peekable();
        for &i in first {
            while let Some(j) = rest.next_if(|&j| self.last(j) < self.last(i)) {
                merged.push(j);
            }
            merged.push(i);
        }
        merged.extend(rest);
        merged
    }

    fn figure(&self, i: usize, axis: usize) -> f64 {
        self.costs[i].as_ref()[axis]
    }

    fn last(&self, i: usize) -> f64 {
        let cost = self.costs[i].as_ref();
        cost[cost.len() - 1]
    }

    /// Marks those of `losers` that one of `winners` is at least as good as in the figures from `axis` on; in those before,
    /// all winners are. Both come in order of their last figure.
    fn weed(&mut self, winners: &[usize], losers: &[usize], axis: usize) {
        if winners.is_empty() || losers.is_empty() {
            return;
        }
        if winners.len() * losers.len() <= FEW * FEW {
            self.compare(winners, losers, axis);
        } else if axis + 3 == self.costs[0].as_ref().len() {
            self.sweep(winners, losers, axis);
        } else {
            self.split(winners, losers, axis);
        }
    }

    fn compare(&mut self, winners: &[usize], losers: &[usize], axis: usize) {
        for &loser in losers {
            let cost = &self.costs[loser].as_ref()[axis..];
            let beats = |&i: &usize| i < loser && no_worse(&self.costs[i].as_ref()[axis..], cost);
            self.beaten[loser] = self.beaten[loser] || winners.iter().any(beats);
        }
    }

    fn sweep(&mut self, winners: &[usize], losers: &[usize], axis: usize) {
        let mut stairs = Stairs::default();
        let mut coming = winners.iter().peekable();
        for &loser in losers {
            while let Some(&winner) = coming.next_if(|&&i| self.last(i) <= self.last(loser)) {
                stairs.add(self.figure(winner, axis), self.figure(winner, axis + 1));
            }
            self.beaten[loser] |=
                stairs.cover(self.figure(loser, axis), self.figure(loser, axis + 1));
        }
    }

    /// Parts both at a value of the figure at `axis`. A winner above it cannot beat a loser below; a winner below is as good
    /// as a loser above, and of the two only the figures after count.
    fn split(&mut self, winners: &[usize], losers: &[usize], axis: usize) {
        let Some(at) = self.middle(winners, losers, axis) else {
            return self.weed(winners, losers, axis + 1);
        };
        let low = |&i: &usize| self.figure(i, axis) <= at;
        let (low_winners, high_winners): (Vec<_>, Vec<_>) = winners.iter().copied().partition(low);
        let (low_losers, high_losers): (Vec<_>, Vec<_>) = losers.iter().copied().partition(low);
        self.weed(&low_winners, &low_losers, axis);
        self.weed(&low_winners, &high_losers, axis + 1);
        let left: Vec<usize> = high_losers.into_iter().filter(|&i| !self.beaten[i]).collect();
        self.weed(&high_winners, &left, axis);
    }

    /// A value of the figure at `axis` near its median and below its greatest; none if all are equal.
    fn middle(&self, winners: &[usize], losers: &[usize], axis: usize) -> Option<f64> {
        let all = winners.iter().chain(losers);
        let mut figures: Vec<f64> = all.map(|&i| self.figure(i, axis)).collect();
        let middle = figures.len() / 2;
        let (below, &mut median, above) = figures.select_nth_unstable_by(middle, f64::total_cmp);
        if above.iter().any(|figure| *figure > median) {
            return Some(median);
        }
        below.iter().copied().filter(|figure| *figure < median).max_by(f64::total_cmp)
    }
}

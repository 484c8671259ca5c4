//! Threads that work in step, each on a processor of its own.

use std::hint;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use super::system;

/// Spins before a thread that waits lets others run: with a processor for each there is nobody to let.
const SPINS: u32 = 20_000;

/// Where all threads of a team meet, and what the leader told them.
#[derive(Debug)]
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    operations: AtomicU64,
}

impl Gate {
    const fn of(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            operations: AtomicU64::new(0),
        }
    }

    /// Returns when all have come.
    fn meet(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Release);
            self.round.store(round + 1, Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            if spins < SPINS {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}

/// Tells the others to end, also when the leader panics.
struct Dismissal<'a>(&'a Gate);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.operations.store(0, Ordering::Release);
        self.0.meet();
    }
}

/// What each thread of a team does.
pub(super) trait TeamWork: Sync {
    /// What a thread has of its own, made and first written by itself.
    type Own;
    /// What it says in the end.
    type Said: Send;

    /// Makes what thread `rank` works on.
    fn prepare(&self, rank: usize) -> Self::Own;
    /// Carries out `operations` operations.
    fn work(&self, own: &mut Self::Own, operations: u64);
    /// Says how it went.
    fn finish(&self, own: Self::Own) -> Self::Said;
}

/// Runs a team on `cpus`, a thread each. The calling thread is the first of them, and its `lead` says how many operations all
/// carry out at once.
pub(super) fn in_step<W: TeamWork, R>(
    cpus: &[u32],
    team: &W,
    lead: impl FnOnce(&mut dyn FnMut(u64)) -> R,
) -> (R, Vec<W::Said>) {
    let gate = Gate::of(cpus.len().max(1));
    let before = system::allowed_cpus();
    let follow = |rank: usize, cpu: u32| {
        system::hold_to(&[cpu]);
        let mut own = team.prepare(rank);
        gate.meet();
        loop {
            gate.meet();
            match gate.operations.load(Ordering::Acquire) {
                0 => break,
                operations => team.work(&mut own, operations),
            }
            gate.meet();
        }
        team.finish(own)
    };
    let done = thread::scope(|scope| {
        let others = cpus.iter().copied().enumerate().skip(1);
        let followers: Vec<_> = others
            .map(|(rank, cpu)| scope.spawn(move || follow_with(&follow, rank, cpu)))
            .collect();
        if let Some(first) = cpus.first() {
            system::hold_to(&[*first]);
        }
        let mut own = team.prepare(0);
        let led = {
            let _dismissal = Dismissal(&gate);
            gate.meet();
            lead(&mut |operations| {
                gate.operations.store(operations.max(1), Ordering::Release);
                gate.meet();
                team.work(&mut own, operations);
                gate.meet();
            })
        };
        let mut said = vec![team.finish(own)];
        // A thread that panicked has nothing to say; its panic is passed on when the scope ends.
        said.extend(followers.into_iter().filter_map(|follower| follower.join().ok()));
        (led, said)
    });
    system::hold_to(&before);
    done
}

fn follow_with<S>(follow: &impl Fn(usize, u32) -> S, rank: usize, cpu: u32) -> S {
    follow(rank, cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl TeamWork for Counting {
        type Own = (usize, u64);
        type Said = (usize, u64);

        fn prepare(&self, rank: usize) -> Self::Own {
            (rank, 0)
        }

        fn work(&self, own: &mut Self::Own, operations: u64) {
            own.1 += operations;
        }

        fn finish(&self, own: Self::Own) -> Self::Said {
            own
        }
    }

    #[test]
    fn all_do_what_the_leader_says() {
        // More threads than processors: they then take turns.
        for threads in 1..6 {
            let cpus = vec![0; threads];
            let ((), said) = in_step(&cpus, &Counting, |run| {
                run(3);
                run(4);
            });
            assert_eq!(said, (0..threads).map(|rank| (rank, 7)).collect::<Vec<_>>());
        }
    }
}

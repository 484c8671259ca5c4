//! Threads that work in step, each on a processor of its own.

use std::hint;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use fizeau_core::{Clock, Nanos};

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

/// Whose work is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimedWork {
    /// That of all: until the last is done.
    OfAll,
    /// That of the first thread, beside which the others do something else.
    OfTheFirst,
}

/// What each thread of a team does.
pub(super) trait TeamWork: Sync {
    /// Whose work is timed.
    const TIMED: TimedWork = TimedWork::OfAll;
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
/// carry out at once, and is told how long they took.
pub(super) fn in_step<W: TeamWork, R>(
    cpus: &[u32],
    (team, clock): (&W, &impl Clock),
    lead: impl FnOnce(&mut dyn FnMut(u64) -> Nanos) -> R,
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
                let mut begun = clock.now();
                gate.meet();
                if W::TIMED == TimedWork::OfTheFirst {
                    begun = clock.now();
                }
                team.work(&mut own, operations);
                // The others may take long to see that it is over.
                let done = clock.now();
                gate.meet();
                let ended = if W::TIMED == TimedWork::OfTheFirst { done } else { clock.now() };
                ended.saturating_since(begun)
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
    use fizeau_core::Stamp;

    use super::*;

    /// A clock that goes on by one each time it is read, and which others may set forward.
    #[derive(Default)]
    struct Readings {
        count: AtomicU64,
        forward: AtomicU64,
    }

    impl Clock for Readings {
        fn now(&self) -> Stamp {
            let count = self.count.fetch_add(1, Ordering::AcqRel) + 1;
            Stamp::from_nanos(count + self.forward.load(Ordering::Acquire))
        }
    }

    /// The first thread is done at once. The second, if there is one, lets a million pass once the first has looked at the clock or has surely
    /// begun to wait for it.
    struct Lingering<'a>(&'a Readings);

    impl TeamWork for Lingering<'_> {
        const TIMED: TimedWork = TimedWork::OfTheFirst;
        type Own = usize;
        type Said = ();

        fn prepare(&self, rank: usize) -> usize {
            rank
        }

        fn work(&self, rank: &mut usize, _operations: u64) {
            if *rank > 0 {
                let mut turns = 0;
                while self.0.count.load(Ordering::Acquire) < 3 && turns < 10_000_000 {
                    turns += 1;
                    thread::yield_now();
                }
                self.0.forward.fetch_add(1_000_000, Ordering::AcqRel);
            }
        }

        fn finish(&self, _rank: usize) {}
    }

    #[test]
    fn what_others_take_longer_is_not_of_the_first() {
        let clock = Readings::default();
        let (took, _) = in_step(&[0, 0], (&Lingering(&clock), &clock), |run| run(1));
        assert_eq!(took, Nanos::from_nanos(1));
    }

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
            let ((), said) = in_step(&cpus, (&Counting, &Readings::default()), |run| {
                run(3);
                run(4);
            });
            assert_eq!(said, (0..threads).map(|rank| (rank, 7)).collect::<Vec<_>>());
        }
    }
}

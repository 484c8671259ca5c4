//! The engine on a timetable.

use fizeau_core::Nanos;
use fizeau_sim::{FixedTiming, JobId, Serve, SubmitError};
use proptest::prelude::*;

use crate::support::{drain, job, ms, of};

proptest! {
    #[test]
    fn tokens_leave_exactly_on_the_timetable(
        jobs in prop::collection::vec((1u64..1_000, 1u64..40, 0u64..500), 1..40),
        ttft in 0u64..100_000_000,
        itl in 0u64..10_000_000,
    ) {
        let (ttft, itl) = (Nanos::from_nanos(ttft), Nanos::from_nanos(itl));
        let mut engine = FixedTiming::new(ttft, itl);
        for (&(prompt, output, at), id) in jobs.iter().zip(0..) {
            engine.submit(job(id, prompt, output, ms(at))).unwrap();
        }
        let emissions = drain(&mut engine);
        prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
        for (&(_, output, at), id) in jobs.iter().zip(0..) {
            let tokens = of(&emissions, id);
            prop_assert_eq!(tokens.len() as u64, output);
            for (token, k) in tokens.iter().zip(0..) {
                prop_assert_eq!(token.at, ms(at) + ttft + itl * k);
                prop_assert_eq!((token.index, token.last), (k, k + 1 == output));
            }
        }
    }
}

#[test]
fn a_cancelled_job_is_silent() {
    let mut engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
    engine.submit(job(0, 1, 10, ms(0))).unwrap();
    engine.submit(job(1, 1, 2, ms(0))).unwrap();
    let again = engine.submit(job(0, 1, 1, ms(0)));
    assert_eq!(again, Err(SubmitError::DuplicateId(JobId(0))));
    let mut left = 0;
    engine.advance(ms(20), &mut |_| left += 1);
    assert_eq!(left, 2);
    engine.cancel(JobId(0));
    engine.cancel(JobId(99));
    let rest: Vec<_> = drain(&mut engine).iter().map(|token| (token.job, token.at)).collect();
    assert_eq!(rest, [(JobId(1), ms(25))]);
}

/// With no time between tokens all of a job's are due at one instant: without a limit, one request would hold the
/// engine for ever and fill the memory of whoever listens.
#[test]
fn a_job_longer_than_any_model_could_serve_is_refused() {
    let mut engine = FixedTiming::new(Nanos::ZERO, Nanos::ZERO);
    let longest = engine.longest_job().unwrap();
    let error = engine.submit(job(0, 1, longest.get(), ms(0))).unwrap_err();
    assert!(matches!(error, SubmitError::TooLong { limit, .. } if limit == longest));
    engine.submit(job(0, 1, longest.get() - 1, ms(0))).unwrap();
    assert_eq!(drain(&mut engine).len() as u64, longest.get() - 1);
}

/// With no time between tokens, jobs have their turns and whoever listens can take in between what came.
#[test]
fn long_jobs_without_pace_take_turns() {
    let mut engine = FixedTiming::new(Nanos::ZERO, Nanos::ZERO);
    engine.submit(job(0, 1, 100_000, ms(0))).unwrap();
    engine.submit(job(1, 1, 100_000, ms(0))).unwrap();
    let mut first_ended = false;
    let mut most = 0;
    while let Some(at) = engine.next_event() {
        let mut left = 0;
        engine.advance(at, &mut |emission| {
            left += 1;
            if emission.job == JobId(1) && emission.index == 0 {
                assert!(!first_ended, "the second job waited for the end of the first");
            }
            first_ended |= emission.job == JobId(0) && emission.last;
        });
        most = most.max(left);
    }
    assert!(first_ended && most < 10_000, "{most} tokens at once");
}

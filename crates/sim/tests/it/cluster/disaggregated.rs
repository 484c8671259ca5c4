//! Prefill apart from decode.

use fizeau_core::{Bytes, BytesPerSec, Nanos, Stamp, Tokens};
use fizeau_roofline::CacheTransfer;
use fizeau_sim::{
    ClusterError, DisaggregatedEngine, Emission, Engine, EngineConfig, EngineJob, Handover, JobId,
    Serve, StepLoad,
};
use proptest::prelude::*;

use super::fakes::{Decoder, handover, transfers};
use crate::support::{drain, job, ms, of};

type Step = fn(&StepLoad) -> Nanos;

/// Ten microseconds a token.
fn reading(load: &StepLoad) -> Nanos {
    Nanos::from_micros(10 * load.prefill_tokens.get())
}

/// An engine that reads one prompt at a time.
fn reader() -> Engine<Step> {
    Engine::new(EngineConfig::new(1, Tokens::new(100_000)), reading as Step).unwrap()
}

fn apart(
    prefill: usize,
    decode: usize,
    transfer: CacheTransfer,
) -> DisaggregatedEngine<Engine<Step>, Decoder> {
    let prefill = (0..prefill).map(|_| reader()).collect();
    let decode = (0..decode).map(|_| Decoder::default()).collect();
    DisaggregatedEngine::new(prefill, decode, handover(transfer)).unwrap()
}

/// When the tokens of each of two jobs leave, in milliseconds.
fn tokens_of_two(transfer: CacheTransfer) -> [Vec<u64>; 2] {
    let mut apart = apart(1, 1, transfer);
    for id in 0..2 {
        apart.submit(job(id, 1_000, 3, ms(0))).unwrap();
    }
    let emissions = drain(&mut apart);
    assert!(emissions.is_sorted_by_key(|emission| emission.at));
    let at = |emission: &Emission| emission.at.as_nanos() / 1_000_000;
    [0, 1].map(|id| of(&emissions, id).iter().map(at).collect())
}

/// Reading takes 10 ms, one after the other; sending 10 ms and 1; decoding 5 a token.
#[test]
fn when_the_cache_is_sent_says_who_waits() {
    let before_second = tokens_of_two(CacheTransfer::BeforeSecondToken);
    assert_eq!(before_second, [vec![10, 26, 31], vec![20, 36, 41]]);
    let before_first = tokens_of_two(CacheTransfer::BeforeFirstToken);
    assert_eq!(before_first, [vec![21, 26, 31], vec![31, 36, 41]]);
    // A fifth of 10 ms is left when the first is read; the link is busy from 2 to 12 ms, and from 12 to 22.
    let layer_wise = tokens_of_two(CacheTransfer::LayerWise);
    assert_eq!(layer_wise, [vec![13, 18, 23], vec![23, 28, 33]]);
}

/// Links are the prefill engines' own.
#[test]
fn a_second_prefill_engine_has_a_second_link() {
    let mut apart = apart(2, 1, CacheTransfer::BeforeSecondToken);
    for id in 0..2 {
        apart.submit(job(id, 1_000, 2, ms(0))).unwrap();
    }
    let emissions = drain(&mut apart);
    let at: Vec<_> = emissions.iter().map(|emission| emission.at).collect();
    assert_eq!(at, [ms(10), ms(10), ms(26), ms(26)]);
}

#[test]
fn one_token_never_crosses() {
    for transfer in [
        CacheTransfer::BeforeFirstToken,
        CacheTransfer::BeforeSecondToken,
        CacheTransfer::LayerWise,
    ] {
        let mut apart = apart(1, 1, transfer);
        apart.submit(job(0, 1_000, 1, ms(0))).unwrap();
        let emissions = drain(&mut apart);
        assert_eq!(emissions.len(), 1);
        assert!(emissions[0].last && emissions[0].at == ms(10));
    }
}

#[test]
fn a_job_can_be_given_up_at_every_station() {
    // Reading until 10 ms, crossing until 21 ms, then decoding.
    for (until, seen) in [(5, 0), (15, 1), (28, 2)] {
        let mut apart = apart(1, 1, CacheTransfer::BeforeSecondToken);
        apart.submit(job(0, 1_000, 10, ms(0))).unwrap();
        let mut emissions = Vec::new();
        apart.advance(ms(until), &mut |emission| emissions.push(emission));
        let gauges = apart.gauges();
        assert_eq!(gauges.running + gauges.waiting, 1, "after {until} ms");
        assert!(apart.submit(job(0, 10, 1, ms(until))).is_err(), "its number is in use");
        apart.cancel(JobId(0));
        emissions.extend(drain(&mut apart));
        assert_eq!(emissions.len(), seen, "after {until} ms");
        let gauges = apart.gauges();
        assert_eq!(gauges.running + gauges.waiting, 0, "after {until} ms");
        apart.submit(job(0, 10, 1, ms(until))).unwrap();
    }
}

#[test]
fn what_makes_no_pair_is_refused() {
    let to = handover(CacheTransfer::LayerWise);
    let none = DisaggregatedEngine::new(vec![reader()], Vec::<Decoder>::new(), to);
    assert_eq!(none.err(), Some(ClusterError::NoEngines));
    let none = DisaggregatedEngine::new(Vec::<Decoder>::new(), vec![reader()], to);
    assert_eq!(none.err(), Some(ClusterError::NoEngines));
    let refused = |handover| {
        DisaggregatedEngine::new(vec![reader()], vec![Decoder::default()], handover).err().unwrap()
    };
    for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(Handover { bandwidth: BytesPerSec::new(bandwidth), ..to });
        assert!(matches!(error, ClusterError::NoBandwidth(_)));
        assert!(error.to_string().contains(&format!("{bandwidth} bytes per second")), "{error}");
    }
    let negative = Handover { per_token: Bytes::new(-1.0), ..to };
    assert_eq!(refused(negative), ClusterError::NotAnAmount(-1.0));
}

fn jobs() -> impl Strategy<Value = Vec<EngineJob>> {
    let one = (1u64..2_000, 1u64..12, 0u64..100);
    prop::collection::vec(one, 1..25).prop_map(|mut all| {
        all.sort_by_key(|&(.., at)| at);
        let numbered = all.into_iter().zip(0..);
        numbered.map(|((prompt, output, at), id)| job(id, prompt, output, ms(at))).collect()
    })
}

proptest! {
    #[test]
    fn each_job_gives_its_tokens_once_in_order(
        jobs in jobs(),
        prefill in 1usize..4,
        decode in 1usize..4,
        transfer in transfers(),
        cancels in prop::collection::vec((0u64..25, 0u64..300), 0..6),
    ) {
        let mut apart = apart(prefill, decode, transfer);
        jobs.iter().for_each(|job| apart.submit(job.clone()).unwrap());
        let mut cancels = cancels;
        cancels.sort_by_key(|&(_, at)| at);
        let mut emissions = Vec::new();
        for &(id, at) in &cancels {
            apart.advance(ms(at), &mut |emission| emissions.push(emission));
            apart.cancel(JobId(id));
        }
        emissions.extend(drain(&mut apart));
        prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
        for job in &jobs {
            let tokens = of(&emissions, job.id.0);
            prop_assert!(tokens.iter().zip(0..).all(|(token, index)| token.index == index));
            let whole = tokens.len() as u64 == job.output_tokens.get();
            prop_assert!(whole || cancels.iter().any(|&(id, _)| id == job.id.0));
            let Some(first) = tokens.first() else { continue };
            prop_assert_eq!(first.timing.first_token, first.at);
            prop_assert!(tokens.iter().all(|token| token.timing == first.timing));
            prop_assert_eq!(first.timing.submitted, job.at);
            prop_assert_eq!(tokens.iter().filter(|token| token.last).count(), usize::from(whole));
        }
        let gauges = apart.gauges();
        prop_assert_eq!((gauges.running, gauges.waiting), (0, 0));
    }

    #[test]
    fn the_grid_of_advances_does_not_matter(
        jobs in jobs(),
        prefill in 1usize..4,
        decode in 1usize..4,
        transfer in transfers(),
        strides in prop::collection::vec(1u64..50_000_000, 1..20),
    ) {
        let filled = || {
            let mut apart = apart(prefill, decode, transfer);
            jobs.iter().for_each(|job| apart.submit(job.clone()).unwrap());
            apart
        };
        let by_event = drain(&mut filled());
        let (mut by_stride, mut now, mut emissions) = (filled(), Stamp::EPOCH, Vec::new());
        for stride in strides.iter().cycle() {
            if by_stride.next_event().is_none() {
                break;
            }
            now += Nanos::from_nanos(*stride);
            by_stride.advance(now, &mut |emission| emissions.push(emission));
        }
        let key = |emission: &Emission| (emission.at, emission.job, emission.index);
        let sorted = |mut emissions: Vec<Emission>| { emissions.sort_by_key(key); emissions };
        prop_assert_eq!(sorted(emissions), sorted(by_event));
    }
}

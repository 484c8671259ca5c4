use fizeau_core::{
    Bytes, BytesPerSec, Flops, FlopsPerSec, Joules, Nanos, Seconds, Tokens, Usd, UsdPerHour, Watts,
};

#[test]
fn traffic_over_bandwidth_is_time() {
    // 15 GB of weights over 3.35 TB/s: the decode step of an 8B model on an H100.
    let step: Seconds = Bytes::new(15e9) / BytesPerSec::new(3.35e12);
    assert!((step.to_millis().get() - 4.477_611_940).abs() < 1e-6);
    let compute: Seconds = Flops::new(2e12) / FlopsPerSec::new(1e12);
    assert_eq!(compute.get(), 2.0);
    assert_eq!(step.max(compute), compute);
}

#[test]
fn rates_over_time_are_amounts() {
    let hour = Seconds::new(3600.0);
    assert_eq!(BytesPerSec::new(2.0) * hour, Bytes::new(7200.0));
    assert_eq!(FlopsPerSec::new(2.0) * hour, Flops::new(7200.0));
    assert_eq!(UsdPerHour::new(1.99) * hour, Usd::new(1.99));
    let energy: Joules = Watts::new(700.0) * hour;
    assert_eq!(energy, Joules::new(2.52e6));
    assert_eq!(energy / Watts::new(350.0), Seconds::new(7200.0));
    assert_eq!(energy / hour, Watts::new(700.0));
}

#[test]
fn model_time_becomes_nanoseconds_only_where_it_can() {
    assert_eq!(Seconds::new(0.0015).to_nanos(), Ok(Nanos::from_micros(1_500)));
    assert!(Seconds::new(f64::NAN).to_nanos().is_err());
    assert!(Seconds::new(-1e-9).to_nanos().is_err());
}

#[test]
fn token_counts_add_without_wrapping() {
    let sum: Tokens = [Tokens::new(3), Tokens::new(4)].into_iter().sum();
    assert_eq!(sum.get(), 7);
    assert_eq!(Tokens::new(u64::MAX) + Tokens::new(1), Tokens::new(u64::MAX));
}

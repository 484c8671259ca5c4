//! The quality of the table's data, and looking things up in it.

use std::collections::HashSet;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec};
use fizeau_roofline::{Device, MathType, Model};

use crate::{config, llama_8b};

#[test]
fn every_device_is_found_by_its_name() {
    for device in Device::all() {
        assert_eq!(Device::named(device.name()).unwrap(), device);
    }
    let names: HashSet<&str> = Device::all().iter().map(Device::name).collect();
    assert_eq!(names.len(), Device::all().len(), "a name is used twice");
}

#[test]
fn spelling_is_forgiven_where_nothing_else_could_be_meant() {
    assert_eq!(Device::named(" H100_SXM ").unwrap().name(), "h100-sxm");
    assert_eq!(Device::named("RTX 4090").unwrap().name(), "rtx-4090");
}

#[test]
fn an_unknown_name_gets_a_suggestion_and_the_list() {
    for (wrong, nearest) in [
        ("h100", "h100-sxm"),
        ("h20-sxm", "h200-sxm"),
        ("mi300", "mi300x"),
        ("a100", "a100-sxm-40"),
        ("4090", "rtx-4090"),
    ] {
        let error = Device::named(wrong).unwrap_err();
        assert_eq!(error.nearest(), nearest, "for {wrong}");
        let message = error.to_string();
        assert!(message.contains(wrong), "{message}");
        for device in Device::all() {
            assert!(message.contains(device.name()), "{message}");
        }
    }
    assert!(Device::named("").is_err());
    assert!(Device::named(&"x".repeat(100_000)).unwrap_err().to_string().len() < 500);
}

/// Half the bytes, twice the rate: any other ratio is a figure with sparsity, or one of another accumulator.
/// The L40S sheet prints 362.05 and 733, its two clocks 1.2 % apart, and sets the tolerance.
#[test]
fn fp8_is_twice_bf16_or_absent() {
    for device in Device::all() {
        let bf16 = device.dense_rate(MathType::Bf16).unwrap();
        if let Some(fp8) = device.dense_rate(MathType::Fp8) {
            let ratio = fp8 / bf16;
            assert!((ratio - 2.0).abs() < 0.025 * 2.0, "{}: {ratio}", device.name());
        }
    }
}

/// Dense silicon needs between 100 and 500 operations a byte to be busy; most figures with sparsity, of
/// another precision or in the wrong unit leave that range, and those of whole servers leave the others.
#[test]
fn figures_are_of_one_dense_device() {
    for device in Device::all() {
        let name = device.name();
        let bf16 = device.dense_rate(MathType::Bf16).unwrap().get();
        let ridge = bf16 / device.memory_bandwidth().get();
        assert!((100.0..500.0).contains(&ridge), "{name}: {ridge} FLOP/byte");
        assert!((24e9..320e9).contains(&device.memory().get()), "{name}");
        assert!((0.1e12..10e12).contains(&device.memory_bandwidth().get()), "{name}");
        // No device of this table computes more than 3 TFLOP/s dense per watt.
        let watts = device.tdp_watts().unwrap();
        assert!((50..=1500).contains(&watts), "{name}");
        assert!(bf16 / f64::from(watts) < 3e12, "{name}");
    }
}

/// "80 GB" is 80 x 2^30 bytes, and the title says the number.
#[test]
fn memory_is_a_whole_number_of_gib_and_in_the_title() {
    for device in Device::all() {
        let gib = device.memory().get() / (1_u64 << 30) as f64;
        assert_eq!(gib.fract(), 0.0, "{}", device.name());
        let title = device.title();
        assert!(title.contains(&format!(" {gib} GB")), "{title}");
        assert!(!device.source().is_empty(), "{title}");
    }
}

#[test]
fn rates_follow_the_model_and_fall_back() {
    let wide = llama_8b();
    let narrow = config!("llama-3.1-8b").replacen(
        '{',
        r#"{"quantization_config": {"quant_method": "fp8"},"#,
        1,
    );
    let narrow = Model::from_config_json(&narrow).unwrap();
    let hopper = Device::named("h100-sxm").unwrap();
    assert_eq!(hopper.compute_rate(&wide).get(), 989.5e12);
    assert_eq!(hopper.compute_rate(&narrow).get(), 1979e12);
    let ampere = Device::named("a100-sxm-80").unwrap();
    assert_eq!(ampere.dense_rate(MathType::Fp8), None);
    assert_eq!(ampere.compute_rate(&narrow).get(), 312e12);
}

#[test]
fn a_device_of_ones_own_needs_sane_figures() {
    let new = |memory, bandwidth, rate| {
        Device::new("mine", Bytes::new(memory), BytesPerSec::new(bandwidth), FlopsPerSec::new(rate))
    };
    let mine = new(24e9, 1e12, 2e14).unwrap();
    assert_eq!((mine.name(), mine.title()), ("mine", "mine"));
    assert_eq!(mine.tdp_watts(), None);
    let fp8 = mine.clone().with_fp8(FlopsPerSec::new(4e14)).unwrap();
    assert_eq!(fp8.dense_rate(MathType::Fp8).unwrap().get(), 4e14);

    let message = new(24e9, 0.0, 2e14).unwrap_err().to_string();
    assert!(message.contains("memory bandwidth is 0"), "{message}");
    assert!(new(f64::NAN, 1e12, 2e14).is_err());
    assert!(new(24e9, 1e12, f64::INFINITY).is_err());
    assert!(mine.with_fp8(FlopsPerSec::new(-1.0)).is_err());
}

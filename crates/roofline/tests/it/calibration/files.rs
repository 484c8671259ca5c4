//! Calibrations as files.

use fizeau_roofline::{Calibration, Constant, Scope};
use proptest::prelude::*;

use super::{levels, samples};
use crate::fixed;

#[test]
fn a_file_holds_all_of_a_calibration() {
    let samples = samples(&levels());
    let few: Vec<_> = samples.into_iter().step_by(40).collect();
    let calibration = Calibration::fit(&few).unwrap().calibration;
    let text = calibration.to_json();
    assert_eq!(Calibration::from_json(&text).unwrap(), calibration);
    assert_eq!(Calibration::from_json(&text).unwrap().to_json(), text);
    for group in calibration.groups() {
        assert_eq!(group.estimates.len(), Constant::all().count());
        for estimate in &group.estimates {
            let [low, high] = estimate.interval().ends();
            assert!(low <= estimate.value && estimate.value <= high, "{estimate:?}");
            assert!(estimate.constant.unit() != "share" || high <= 2.0, "{estimate:?}");
        }
    }
    assert_eq!(calibration.groups().next().unwrap().scope, Scope::All);
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let samples = samples(&levels()[..20]);
    let text = Calibration::fit(&samples).unwrap().calibration.to_json();
    let wrong = |text: &str| Calibration::from_json(text).unwrap_err().to_string();
    assert!(wrong("{").starts_with("not a calibration file: "));
    assert_eq!(
        wrong("{}"),
        "the file's schema is `missing`; it must be `fizeau.calibration/2`: fit anew with this version"
    );
    let without = text.replace("\"per_kernel\"", "\"per_colonel\"");
    assert_eq!(wrong(&without), "all devices: the constant `per_kernel` is missing");
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["groups"][0]["constants"]["arithmetic"]["value"] = 1.5.into();
    assert_eq!(
        wrong(&json.to_string()),
        "all devices: arithmetic is 1.5; it must be above 0 and below 1 share"
    );
    // An interval of such constants would have no end.
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["groups"][0]["constants"]["arithmetic"]["deviation"] = 1e300.into();
    let unsure = wrong(&json.to_string());
    assert!(unsure.starts_with("all devices: deviation is 1000"), "{unsure}");
    assert!(unsure.ends_with("it must be from 0 to 10, the logarithm of a factor"), "{unsure}");
}

#[test]
fn too_few_levels_are_refused() {
    let samples = samples(&levels()[..4]);
    assert_eq!(
        Calibration::fit(&samples).unwrap_err().to_string(),
        "4 measured levels are too few to fit constants on; give at least 5"
    );
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        prop_assert!(Calibration::from_json(&text).is_err());
    }
}

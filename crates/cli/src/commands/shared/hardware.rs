//! The device that a command line means, and how it is known to behave.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fizeau::experiment::LoadedDevice;
use fizeau::roofline::Calibration;

use crate::args::refusal::refused;
use crate::exit::{Fail, Named, read_named};

/// What was said of devices: a run asks for its own once a level, and once is enough to hear it.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The device that `--hardware` names. What looks wrong with one of the user's own is said on standard error.
pub(crate) fn named(hardware: &str) -> Result<LoadedDevice, Fail> {
    let found = LoadedDevice::named(hardware)?;
    for doubt in found.doubts() {
        let note = format!("note: --hardware {hardware}: {doubt}");
        if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(note.clone()) {
            tell!("{note}");
        }
    }
    Ok(found)
}

/// The calibration in the file that `--calibration` names.
pub(crate) fn calibration(path: &Path) -> Result<Calibration, Fail> {
    let text = read_named("--calibration", path)?;
    Calibration::from_json(&text).named(&format!("--calibration {}", path.display()))
}

/// The device by its name, or the one in the file of that name. `whose` stands before what is wrong.
pub(crate) fn find(hardware: &str, whose: &'static str) -> Result<LoadedDevice, Fail> {
    LoadedDevice::named(hardware).map_err(|error| refused(&error, |_| whose))
}

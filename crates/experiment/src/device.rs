//! The device that a command line means: one of the table, or one of the user's own in a TOML file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fizeau::roofline::Device;

use crate::exit::{Fail, Named};

/// A device, and the text of its file if it is from one.
#[derive(Debug)]
pub(crate) struct Hardware {
    pub(crate) device: Device,
    /// To be kept with a run, whose speed of light could else not be computed again.
    pub(crate) file: Option<String>,
}

/// What was said of devices: a run asks for its own once a level, and once is enough to hear it.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The device that `--hardware` names. What looks wrong with one of the user's own is said on standard error.
pub(crate) fn named(hardware: &str) -> Result<Hardware, Fail> {
    let found = find(hardware, "--hardware")?;
    if found.file.is_some() {
        for doubt in found.device.doubts() {
            let note = format!("note: --hardware {hardware}: {doubt}");
            if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(note.clone()) {
                tell!("{note}");
            }
        }
    }
    Ok(found)
}

/// The device by its name, or the one in the file of that name. `whose` stands before what is wrong.
pub(crate) fn find(hardware: &str, whose: &str) -> Result<Hardware, Fail> {
    if !is_path(hardware) {
        let device = Device::named(hardware).named(whose)?.clone();
        return Ok(Hardware { device, file: None });
    }
    let flag = format!("{whose} {hardware}");
    let text = std::fs::read_to_string(hardware).named(&flag)?;
    let device = Device::from_toml(&text).named(&flag)?;
    Ok(Hardware { device, file: Some(text) })
}

/// A name of the table has neither a separator nor an ending, and a file that bears a known name is not meant.
fn is_path(hardware: &str) -> bool {
    let path = Path::new(hardware);
    let looks_so = path.extension().is_some() || path.components().count() > 1;
    looks_so || (path.is_file() && Device::named(hardware).is_err())
}

//! Which device is meant: one of the table, or one of the user's own in a TOML file.

use std::path::Path;

use fizeau_roofline::Device;

use crate::hint::InputHint;
use crate::input::{Blame, InputError, InputField, unreadable};

/// A device, and the text of its file if it is from one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedDevice {
    /// The device.
    pub device: Device,
    /// To be kept with a run, whose speed of light could else not be computed again.
    pub file: Option<String>,
}

impl LoadedDevice {
    /// The device of the table that is called `name`, or the one in the file of that name; in a folder, as a probe leaves one, that of its
    /// `device.toml`.
    ///
    /// # Errors
    /// If there is neither, or the file is not understood; what was given is in the error where it is a file.
    pub fn named(name: &str) -> Result<Self, InputError> {
        if !is_path(name) {
            let device = Device::named(name).map_err(|error| {
                let wrong = InputError::new(InputField::Hardware, &error);
                match error.nearest {
                    "" => wrong.hint(InputHint::ListOfDevices),
                    _ => wrong,
                }
            })?;
            return Ok(Self { device: device.clone(), file: None });
        }
        let path = Path::new(name);
        let in_folder = path.join(IN_FOLDER);
        if path.is_dir() && !in_folder.is_file() {
            let missing = format!("this folder has no {IN_FOLDER}");
            let error = InputError::new(InputField::Hardware, missing).given(name);
            return Err(error.hint(InputHint::ProbeWritesDevice));
        }
        let path = if path.is_dir() { &in_folder } else { path };
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| unreadable(InputField::Hardware, path, &error))?;
        let device = Device::from_toml(&text).blame_given(InputField::Hardware, name)?;
        Ok(Self { device, file: Some(text) })
    }

    /// What looks wrong with it, where it is one of the user's own.
    pub fn doubts(&self) -> Vec<String> {
        match &self.file {
            Some(_) => self.device.doubts().iter().map(ToString::to_string).collect(),
            None => Vec::new(),
        }
    }
}

/// The device of a folder.
const IN_FOLDER: &str = "device.toml";

/// A name of the table has neither a separator nor an ending, and a file that bears a known name is not meant.
fn is_path(hardware: &str) -> bool {
    let path = Path::new(hardware);
    let looks_so = path.extension().is_some() || path.components().count() > 1;
    looks_so || (path.exists() && Device::named(hardware).is_err())
}

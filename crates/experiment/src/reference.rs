//! What levels are compared with: the speed of light of a model on its devices, read before anything is sent.

use std::num::NonZeroU64;
use std::path::PathBuf;

use fizeau_core::Tokens;
use fizeau_record::{DeploymentRecord, ReferenceError, ReferenceFiles, SpeedOfLightReference};
use fizeau_roofline::{Bound, UniformLoad};

use crate::device::LoadedDevice;
use crate::input::{Blame, InputError, InputField};
use crate::model::LoadedModel;

/// A model on devices, for the speed of light.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReferenceSpec {
    /// The model: the path of its config.json, or of its folder, or the name of one that is built in.
    pub model: String,
    /// The device: a name of the table, or the path of a TOML file.
    pub device: String,
    /// How the model lies on them.
    pub deployment: DeploymentRecord,
    /// The path of a calibration, for what it predicts beside bound and expectation. Without one it is what ships for the engine of the
    /// deployment, where that is known and one does.
    pub calibration: Option<PathBuf>,
}

impl ReferenceSpec {
    /// That model on one such device.
    pub fn new(model: impl Into<String>, device: impl Into<String>) -> Self {
        let deployment = DeploymentRecord::default();
        Self { model: model.into(), device: device.into(), deployment, calibration: None }
    }

    /// Reads the model's config, the device and the calibration.
    ///
    /// # Errors
    /// If one of them is not understood, or the model does not fit.
    pub fn load(self) -> Result<SpeedOfLightReference, InputError> {
        let device = self.device.clone();
        let calibration = self.calibration.clone();
        let reference = self.load_whatever_fits()?;
        let one = UniformLoad::new(Tokens::new(1), Tokens::new(1), NonZeroU64::MIN);
        Bound::at(reference.reference().system, &one).blame_given(InputField::Hardware, device)?;
        let Some(path) = calibration else { return Ok(reference.calibrated_as_shipped()) };
        let text = std::fs::read_to_string(&path);
        let text = text.blame_given(InputField::Calibration, path.display())?;
        reference.calibrated(text).map_err(|error| InputError::from(error).given(path.display()))
    }

    /// As [`load`](Self::load), without its calibration, and whether the model fits or not.
    ///
    /// # Errors
    /// If model or device are not understood.
    pub(crate) fn load_whatever_fits(self) -> Result<SpeedOfLightReference, InputError> {
        let Self { model: name, device, deployment, .. } = self;
        let model = LoadedModel::input(&name)?;
        let LoadedDevice { device, file } = LoadedDevice::named(&device)?;
        let system = deployment.system(model.model, device).blame(InputField::Deployment)?;
        let system = deployment.drafting(system);
        let mut files = ReferenceFiles::default();
        files.model_config = Some(model.text);
        files.quantization = model.quantization;
        files.device = file;
        Ok(SpeedOfLightReference::new(name, system).recorded(deployment, files))
    }
}

impl From<ReferenceError> for InputError {
    fn from(error: ReferenceError) -> Self {
        match error {
            ReferenceError::Model(why) => Self::new(InputField::ModelConfig, why),
            ReferenceError::Device(why) => Self::new(InputField::Hardware, why),
            ReferenceError::Deployment(why) => Self::new(InputField::Deployment, why),
            ReferenceError::Calibration(why) => Self::new(InputField::Calibration, why),
            error => Self::new(InputField::ModelConfig, error),
        }
    }
}

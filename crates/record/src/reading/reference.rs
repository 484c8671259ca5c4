//! What the speed of light of a stored run is computed from.

use std::num::NonZeroU64;

use fizeau_core::Tokens;

use crate::stored::{read_json_text, read_text};
use crate::{
    EngineRecord, ReferenceFiles, ReferenceParts, SpeedOfLightReference, StoredError, StoredRun,
};

/// How many sequences run at once on the engine that is simulated where no endpoint is named, and of which no file is kept.
const EMBEDDED_SEQUENCES: NonZeroU64 = NonZeroU64::MIN.saturating_add(63);

impl StoredRun {
    /// What the levels were compared with: of the files that were kept with the run, and where there are none of its model's and
    /// its device's names; none where these are not known.
    ///
    /// # Errors
    /// If a file that was kept is not understood.
    pub fn reference(&self) -> Result<Option<SpeedOfLightReference>, StoredError> {
        let parts = self.reference_parts()?;
        if !(parts.has_model() && parts.has_device()) {
            return Ok(None);
        }
        let is_simulated = matches!(self.document().setup.engine, EngineRecord::Simulated { .. });
        let is_embedded = is_simulated && parts.files.model_config.is_none();
        let reference = parts.load().map_err(|error| {
            let folder = self.document_path().with_file_name("");
            StoredError::Reference { folder, error }
        })?;
        let reference = match is_embedded {
            true => reference.with_most_sequences(EMBEDDED_SEQUENCES),
            false => reference,
        };
        Ok(Some(reference.for_prompts_of(self.typical_prompt())))
    }

    /// What there is of model, devices and calibration, for who wants to hold the run against something else.
    ///
    /// # Errors
    /// If a file that was kept cannot be read, or is not whole.
    pub fn reference_parts(&self) -> Result<ReferenceParts, StoredError> {
        let above = self.document_path().parent();
        let folders: Vec<_> = [Some(self.path()), above].into_iter().flatten().collect();
        let [config, quantization, device, calibration] = ReferenceFiles::NAMES;
        let find = |name: &str| {
            let mut paths = folders.iter().map(|folder| folder.join(name));
            paths.find(|path| path.is_file())
        };
        let kept = |name: &str| find(name).map(|path| read_json_text(&path)).transpose();
        let device = find(device);
        let files = ReferenceFiles {
            model_config: kept(config)?,
            quantization: kept(quantization)?,
            device: device.as_deref().map(read_text).transpose()?,
            calibration: kept(calibration)?,
        };
        let document = self.document();
        if let (Some(text), Some(path), Some(recorded)) =
            (&files.device, device, document.device_file_bytes)
            && text.len() as u64 != recorded
        {
            let bytes = text.len() as u64;
            return Err(StoredError::Length { path, bytes, recorded });
        }
        let mut parts = ReferenceParts::default();
        parts.model_name.clone_from(&document.setup.model_config);
        parts.device_name.clone_from(&document.setup.hardware);
        parts.deployment = document.speed_of_light.clone().unwrap_or_default();
        parts.files = files;
        Ok(parts)
    }

    /// The prompt's nominal length; zero where it was not known before the run.
    #[must_use]
    pub fn typical_prompt(&self) -> Tokens {
        let input = self.document().lengths.input.as_ref();
        input.and_then(|input| input.p50).unwrap_or(Tokens::ZERO)
    }
}

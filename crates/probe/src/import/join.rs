//! What other tools measured of one machine, as a document.

use super::ImportedMeasurements;
use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::host::ProbeHost;

/// Why files make no document together: they are not of one machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportJoinError {
    /// Two files name two machines.
    #[error(
        "the files are of two machines, `{first}` and `{second}`; import those of each by themselves"
    )]
    TwoMachines {
        /// The machine that an earlier file names.
        first: String,
        /// The one that a later file names.
        second: String,
    },
    /// Two files give one device two names.
    #[error(
        "the files disagree about {device}: `{first}` and `{second}`; import those of each by themselves"
    )]
    TwoDevices {
        /// The device that measurements call so.
        device: String,
        /// Its part by an earlier file.
        first: String,
        /// Its part by a later one.
        second: String,
    },
}

impl ProbeDocument {
    /// What files tell of one machine, judged. Where none of them names it, it is called `node`.
    ///
    /// ```
    /// use fizeau_probe::{ProbeDocument, import_measurements};
    ///
    /// let printed = "Function    Best Rate MB/s  Avg time     Min time     Max time\n\
    ///                Triad:          12000.0     0.002100     0.002000     0.002500\n";
    /// let imported = import_measurements(printed.as_bytes(), Some("stream.txt"))?;
    /// let document = ProbeDocument::of_imports([imported], "node7")?;
    /// assert_eq!((document.host.node.as_str(), document.rows.len()), ("node7", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the files name two machines, or two parts for one device.
    pub fn of_imports(
        files: impl IntoIterator<Item = ImportedMeasurements>,
        node: &str,
    ) -> Result<Self, ImportJoinError> {
        let mut all = ImportedMeasurements::default();
        for file in files {
            all.join(file)?;
        }
        let mut host = ProbeHost::named(all.node.as_deref().unwrap_or(node));
        host.settings = all.settings;
        let mut document = Self::new(host, all.devices, all.measurements);
        document.notes = all.notes;
        Ok(document)
    }
}

impl ImportedMeasurements {
    fn join(&mut self, other: Self) -> Result<(), ImportJoinError> {
        match (&self.node, other.node) {
            (Some(first), Some(second)) if *first != second => {
                return Err(ImportJoinError::TwoMachines { first: first.clone(), second });
            }
            (None, node) => self.node = node,
            _ => {}
        }
        for device in other.devices {
            self.add_device(device)?;
        }
        let is_new = |setting: &String| !self.settings.contains(setting);
        let settings: Vec<String> = other.settings.into_iter().filter(is_new).collect();
        self.settings.extend(settings);
        self.notes.extend(other.notes.into_iter().map(|note| format!("{}: {note}", other.tool)));
        self.measurements.extend(other.measurements);
        Ok(())
    }

    fn add_device(&mut self, device: DeviceFacts) -> Result<(), ImportJoinError> {
        match self.devices.iter().find(|known| known.name == device.name) {
            Some(known) if known.model != device.model => Err(ImportJoinError::TwoDevices {
                device: device.name,
                first: known.model.clone(),
                second: device.model,
            }),
            Some(_) => Ok(()),
            None => {
                self.devices.push(device);
                Ok(())
            }
        }
    }
}

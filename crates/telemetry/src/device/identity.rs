//! Which device a series is of.

use std::fmt;

use fizeau_core::document;

use crate::exposition::Labels;

document! {
    /// Which device of which host, as far as an exporter says.
    #[derive(Eq, PartialOrd, Ord, Default)]
    #[non_exhaustive]
    pub struct DeviceIdentity {
        /// Its host.
        pub host?: String,
        /// Its number there.
        pub index?: String,
        /// What no other device has: NVIDIA's UUID, AMD's serial number.
        pub uuid?: String,
        /// What it is sold as.
        pub model?: String,
        /// Which slice of it, where it is divided (MIG).
        pub slice?: String,
    }
}

impl DeviceIdentity {
    /// By the labels that dcgm-exporter and AMD's exporter write; none if they name no device.
    #[must_use]
    pub(crate) fn of_labels(labels: &Labels) -> Option<Self> {
        let first = |names: &[&str]| {
            let value = names.iter().find_map(|name| labels.get(name));
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        let identity = Self {
            // A capital letter until May 2026, see NVIDIA/dcgm-exporter#655.
            host: first(&["hostname", "Hostname"]),
            index: first(&["gpu", "gpu_id"]),
            uuid: first(&["UUID", "uuid", "gpu_uuid", "serial_number"]),
            model: first(&["modelName", "card_model"]),
            slice: first(&["GPU_I_ID", "gpu_partition_id"]),
        };
        (identity.index.is_some() || identity.uuid.is_some()).then_some(identity)
    }

    /// What is the same of all slices of a device, on whichever page.
    pub(super) fn whole(&self) -> (Option<&str>, &str) {
        match (&self.uuid, &self.index) {
            (Some(uuid), _) => (None, uuid.as_str()),
            (None, index) => (self.host.as_deref(), index.as_deref().unwrap_or_default()),
        }
    }
}

impl fmt::Display for DeviceIdentity {
    /// Its number, or else its UUID, and its host where that is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.index.as_deref().or(self.uuid.as_deref()).unwrap_or("?"))?;
        self.host.as_ref().map_or(Ok(()), |host| write!(f, " of {host}"))
    }
}

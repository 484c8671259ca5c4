//! GPUs of this machine, read beside a server that runs on it.

use std::net::IpAddr;

#[cfg(feature = "nvml")]
use fizeau_telemetry::{DeviceChoice, NvmlSource, NvmlUnavailable};

use crate::input::{InputError, InputField};

/// Which GPUs of this machine are read beside the levels of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LocalGpus {
    /// All of them, where the server runs on this machine and the driver is there.
    #[default]
    Found,
    /// Those with these numbers or UUIDs: the ones that serve.
    Named(Vec<String>),
    /// None.
    Unasked,
}

/// Under which name they stand among the pages.
#[cfg(feature = "nvml")]
pub(super) const ADDRESS: &str = "NVML";

impl LocalGpus {
    /// The devices to read beside a server on `hosts`; none where there are none, which only an error is made of where they were named, and
    /// which `note` hears of where there is a driver all the same.
    #[cfg(feature = "nvml")]
    pub(super) fn choice(
        &self,
        hosts: &[String],
        note: impl FnOnce(String),
    ) -> Result<Option<DeviceChoice>, InputError> {
        let choice = match self {
            Self::Unasked => return Ok(None),
            Self::Found if !hosts.iter().all(|host| is_this_machine(host)) => return Ok(None),
            Self::Found => DeviceChoice::All,
            Self::Named(names) => DeviceChoice::Named(names.clone()),
        };
        match NvmlSource::open(&choice) {
            Ok(_) => Ok(Some(choice)),
            Err(error) if matches!(self, Self::Named(_)) => {
                Err(InputError::new(InputField::Gpus, error))
            }
            Err(NvmlUnavailable::NoLibrary { .. }) => Ok(None),
            Err(error) => {
                note(error.to_string());
                Ok(None)
            }
        }
    }

    /// Refuses what was named, since this program cannot look.
    #[cfg(not(feature = "nvml"))]
    pub(super) fn choice(
        &self,
        _: &[String],
        _: impl FnOnce(String),
    ) -> Result<Option<()>, InputError> {
        match self {
            Self::Named(_) => Err(InputError::new(
                InputField::Gpus,
                "this program was built without NVIDIA's management library (feature nvml)",
            )),
            Self::Found | Self::Unasked => Ok(None),
        }
    }
}

/// Whether a host is the loopback's, by name or number.
#[cfg_attr(not(feature = "nvml"), expect(dead_code, reason = "nothing can be read"))]
fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_is_this_machine() {
        for own in ["127.0.0.1", "127.9.0.1", "LOCALHOST", "[::1]"] {
            assert!(is_this_machine(own), "{own}");
        }
        for other in ["10.0.0.1", "gpu-host", "[fe80::1]", "localhost.example"] {
            assert!(!is_this_machine(other), "{other}");
        }
    }

    #[test]
    fn devices_that_were_named_and_are_not_there_are_refused_and_others_are_passed_over() {
        let here = ["127.0.0.1".to_owned()];
        let named = LocalGpus::Named(vec!["GPU-of-nobody".to_owned()]);
        let refused = named.choice(&here, drop).unwrap_err();
        assert_eq!(refused.field, InputField::Gpus);
        assert!(LocalGpus::Unasked.choice(&here, drop).is_ok_and(|choice| choice.is_none()));
        assert!(
            LocalGpus::Found
                .choice(&["gpu-host".to_owned()], drop)
                .is_ok_and(|choice| choice.is_none())
        );
        assert!(LocalGpus::Found.choice(&here, drop).is_ok());
    }
}

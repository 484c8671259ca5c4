//! Several devices of one machine, measured in one go.

use fizeau_core::Nanos;

use crate::device::DeviceFacts;
use crate::host::ProbeHost;
use crate::measurement::{Component, Measurement};
use crate::trial::{ProbeBackend, ProbeTrial, Unavailable};

/// Several devices of one machine as one: each has its own trials, which carry its name.
#[derive(Default)]
pub struct SeveralDevices {
    host: ProbeHost,
    backends: Vec<Box<dyn ProbeBackend>>,
}

impl std::fmt::Debug for SeveralDevices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.devices().into_iter().map(|facts| facts.name);
        f.debug_struct("SeveralDevices").field("devices", &names.collect::<Vec<_>>()).finish()
    }
}

impl SeveralDevices {
    /// The devices of `host`, none yet.
    #[must_use]
    pub fn of(host: ProbeHost) -> Self {
        Self { host, backends: Vec::new() }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, backend: impl ProbeBackend + 'static) -> Self {
        self.backends.push(Box::new(backend));
        self
    }

    /// Adds all GPUs of NVIDIA's that can be opened, and the collectives among them, and says of each other one why it cannot be.
    ///
    /// # Errors
    /// If there is no driver, no device, or none that can be opened; always without the feature `cuda`.
    #[cfg(feature = "cuda")]
    pub fn add_gpus(&mut self) -> Result<Vec<Unavailable>, Unavailable> {
        use crate::cuda::{CudaBackend, CudaCollectives};
        let absent = |error: crate::cuda::CudaError| Unavailable(error.to_string());
        let (mut gpus, mut left_out) = (Vec::new(), Vec::new());
        for one in CudaBackend::each().map_err(absent)? {
            match one {
                Ok(gpu) => gpus.push(Box::new(gpu) as Box<dyn ProbeBackend>),
                Err(error) => left_out.push(absent(error)),
            }
        }
        if gpus.is_empty() && !left_out.is_empty() {
            return Err(left_out.swap_remove(0));
        }
        let together = CudaCollectives::all().map_err(absent)?;
        self.backends.extend(gpus);
        self.backends.extend(together.map(|all| Box::new(all) as Box<dyn ProbeBackend>));
        Ok(left_out)
    }

    /// Adds no GPU: this program was built without them.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "cuda"))]
    pub fn add_gpus(&mut self) -> Result<Vec<Unavailable>, Unavailable> {
        Err(Unavailable("this program was built without the feature cuda".to_owned()))
    }
}

impl ProbeBackend for SeveralDevices {
    fn host(&self) -> ProbeHost {
        self.host.clone()
    }

    fn devices(&self) -> Vec<DeviceFacts> {
        self.backends.iter().flat_map(|backend| backend.devices()).collect()
    }

    /// Those of the first device, then those of the second.
    fn trials(&self, component: Component) -> Vec<ProbeTrial> {
        let of = |backend: &dyn ProbeBackend| {
            let name = backend.devices().into_iter().next().map(|facts| facts.name);
            let trials = backend.trials(component).into_iter();
            trials.map(|trial| ProbeTrial { device: name.clone(), ..trial }).collect::<Vec<_>>()
        };
        self.backends.iter().flat_map(|backend| of(&**backend)).collect()
    }

    fn measure(&mut self, trial: &ProbeTrial, time: Nanos) -> Result<Measurement, Unavailable> {
        let component = trial.operation.component();
        let is_asked = |backend: &dyn ProbeBackend| match &trial.device {
            Some(name) => backend.devices().iter().any(|facts| facts.name == *name),
            None => !backend.trials(component).is_empty(),
        };
        let requested = self.backends.iter().position(|backend| is_asked(&**backend));
        // Where none usually measures such a thing the first one says why.
        let requested = requested.or_else(|| trial.device.is_none().then_some(0));
        let requested = requested.and_then(|at| self.backends.get_mut(at));
        let none = || match &trial.device {
            Some(name) => Unavailable::because(format!("there is no device {name} here")),
            None => Unavailable::because("there is no device to measure"),
        };
        requested.ok_or_else(none)?.measure(trial, time)
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Bytes, Millis};

    use super::*;
    use crate::measurement::{Dtype, Operation, Provenance, Timing};

    /// A device that measures one thing.
    struct One(&'static str);

    impl ProbeBackend for One {
        fn host(&self) -> ProbeHost {
            ProbeHost::named("one")
        }

        fn devices(&self) -> Vec<DeviceFacts> {
            vec![DeviceFacts::new(self.0, "a device")]
        }

        fn trials(&self, _: Component) -> Vec<ProbeTrial> {
            vec![ProbeTrial::new(Operation::latency(Bytes::new(64.0)), Dtype::Int64, 1)]
        }

        fn measure(&mut self, trial: &ProbeTrial, _: Nanos) -> Result<Measurement, Unavailable> {
            let timing = Timing::of_samples(vec![Millis::new(1.0)], 1);
            Ok(Measurement::new(self.0, trial.operation.clone(), timing, Provenance::native()))
        }
    }

    #[test]
    fn each_trial_goes_to_the_device_that_it_names() {
        let mut both =
            SeveralDevices::of(ProbeHost::named("node")).with(One("cpu")).with(One("gpu0"));
        let trials = both.trials(Component::Latency);
        let measured: Vec<String> =
            trials.iter().map(|trial| both.measure(trial, Nanos::ZERO).unwrap().device).collect();
        assert_eq!(measured, ["cpu", "gpu0"]);
        let elsewhere = ProbeTrial { device: Some("gpu9".to_owned()), ..trials[0].clone() };
        let error = both.measure(&elsewhere, Nanos::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "there is no device gpu9 here");
        let anywhere = ProbeTrial { device: None, ..trials[1].clone() };
        assert_eq!(both.measure(&anywhere, Nanos::ZERO).unwrap().device, "cpu");
    }

    #[test]
    fn no_device_measures_nothing() {
        let mut none = SeveralDevices::default();
        assert!(none.trials(Component::Memory).is_empty() && none.devices().is_empty());
        let trial = ProbeTrial::new(Operation::Peak, Dtype::F32, 1);
        assert_eq!(
            none.measure(&trial, Nanos::ZERO).unwrap_err().to_string(),
            "there is no device to measure"
        );
    }
}

//! The operators of an answer as a probe measured them.

use fizeau::probe::ProbeFolder;
use fizeau::report::{SolExtra, SolScope, SolSubject};

use crate::args::SolArgs;
use crate::exit::Fail;

/// The operators as the probe that is named measured them, or the one beside the device's file.
pub(super) fn operators(
    args: &SolArgs,
    of: &SolSubject<'_>,
    scope: SolScope,
) -> Result<Option<SolExtra>, Fail> {
    let device = of.system.device();
    let probe = match &args.probe {
        Some(path) => Some(ProbeFolder::read(path).map_err(Fail::usage)?),
        None => args.system.hardware.as_deref().and_then(ProbeFolder::beside).and_then(|beside| {
            // Nobody asked for it.
            beside.map_err(|error| tell!("note: no operator is shown as measured: {error}")).ok()
        }),
    };
    let Some(probe) = probe else { return Ok(None) };
    let facts = probe.facts_of(device);
    if let (Some(path), None) = (&args.probe, facts) {
        let path = path.display();
        bail!(
            "--probe {path}: none of its devices is {}; give its device.toml as --hardware",
            device.title
        );
    }
    Ok(facts.map(|facts| SolExtra::measured_operators(of, scope, &probe, facts)))
}

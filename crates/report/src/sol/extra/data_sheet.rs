//! The limit by the data sheet beside that by measured silicon.

use fizeau_roofline::{Figures, LoadAnalysis, SolScope};

use super::{SolExtra, SolSubject};

impl SolExtra {
    /// What the data sheet of a device whose figures were measured on that part allows of the same load, asked as `measured` was, and
    /// which share of it `measured` leaves; none of any other device.
    ///
    /// # Errors
    /// If by the data sheet there is no answer, with the reason in words.
    pub fn data_sheet(
        of: &SolSubject<'_>,
        (scope, batch): (SolScope, Option<u64>),
        measured: &LoadAnalysis,
    ) -> Result<Option<Self>, String> {
        let Some(printed) = of.system.device().specification() else { return Ok(None) };
        let sheet = scope.answer(&of.system.with_device(printed.clone()), of.load, batch);
        let sheet =
            sheet.map_err(|error| format!("by the data sheet of {}: {error}", printed.title))?;
        let title = format!("By the data sheet of {}", printed.title);
        let mut aside = Self::new("data_sheet", title);
        let [own, theirs] = [measured, &sheet].map(|answer| [&answer.bound, &answer.expected]);
        let mut both =
            |key, name, share, of_sheet, of: fn(&Figures) -> Option<f64>, rises: Rises| {
                aside.both(key, name, |way| of(theirs[way]));
                aside.both(share, of_sheet, |way| {
                    let (own, theirs) = (of(own[way])?, of(theirs[way])?);
                    Some(match rises {
                        Rises::WithSpeed => 100.0 * own / theirs,
                        Rises::WithTime => 100.0 * theirs / own,
                    })
                });
            };
        let measured = "  measured silicon allows, %";
        both(
            "ttft_ms",
            "TTFT of a prompt alone, ms",
            "ttft_share",
            measured,
            |of| Some(of.ttft.get() * 1e3),
            Rises::WithTime,
        );
        both(
            "tpot_ms",
            "TPOT, ms",
            "tpot_share",
            measured,
            |of| of.tpot.map(|tpot| tpot.get() * 1e3),
            Rises::WithTime,
        );
        both(
            "output_tokens_per_s",
            "output tokens/s",
            "output_share",
            measured,
            |of| Some(of.output_tokens_per_s.get()),
            Rises::WithSpeed,
        );
        aside.note(
            "The figures above are by measured silicon: a bound that this part was seen to allow.",
        );
        Ok(Some(aside))
    }
}

/// Whether more of a figure is faster or slower.
#[derive(Debug, Clone, Copy)]
enum Rises {
    WithSpeed,
    WithTime,
}

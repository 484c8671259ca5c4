//! What of measured levels a calibration is fitted on.

use fizeau::experiment::InvalidLevels;

/// What becomes of levels that are not valid, where `--force` is given or not.
pub(crate) const fn invalid(is_forced: bool) -> InvalidLevels {
    if is_forced { InvalidLevels::Fitted } else { InvalidLevels::LeftOut }
}

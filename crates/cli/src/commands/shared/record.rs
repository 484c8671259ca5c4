//! What goes on record about a run: when, with what command line, on which machine.

use fizeau::experiment::RunOrigin;

/// Why there is no speed of light where nobody gave a model and a device.
pub(crate) const NO_REFERENCE: &str =
    "give the model and the device: --model-config NAME|FILE --hardware NAME|FILE";

/// Who runs this, from now on.
pub(crate) fn origin() -> RunOrigin {
    let words = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    RunOrigin::now().with_command_line(words, &["--header", "--server-metrics-header"])
}

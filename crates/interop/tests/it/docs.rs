//! `docs/metrics.md` names other tools' figures as the code does.

mod names;
#[path = "../../../metrics/tests/it/docs/page.rs"]
mod page;

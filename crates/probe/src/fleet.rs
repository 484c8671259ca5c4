//! Many nodes or devices in one table: who is slow, where, and how sure that is.

mod missing;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::comparison::fastest;
use crate::document::ProbeDocument;
use crate::folder::ProbeFolderError;
use crate::measurement::Component;
use crate::row::{ProbeRow, SpeedMeasure};
use crate::statistics::Sorted;
use fizeau_core::Verdict;
use missing::MeasuredFleet;

/// Deviations from the median beyond which a value is an outlier (B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle Outliers", 1993).
const OUTLIER: f64 = 3.5;
/// A median absolute deviation times this is the standard deviation of a normal distribution.
const NORMAL: f64 = 1.4826;
/// Where a fleet agrees to a hair, a hair is no outlier: deviations are this part of the median at least.
const LEAST_DEVIATION: f64 = 0.005;
/// Of fewer members nobody can be said to be unlike the others.
const FEWEST: usize = 4;

/// What a fleet as JSON says it is.
const FLEET: &str = "fizeau.probe-fleet/1";

/// A fleet's devices side by side (schema `fizeau.probe-fleet/1`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetTable {
    #[cfg_attr(feature = "schema", schemars(extend("const" = FLEET)))]
    schema: String,
    /// Each operation that two members measured at least.
    pub rows: Vec<FleetRow>,
    /// Each member, the slowest first.
    pub members: Vec<FleetMember>,
    /// Who cannot pass, however fast its rows are, and why: machines with wrong or impossible results, with fewer operations or devices
    /// than most, compared with nobody, or of which nothing can be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FleetFault>,
}

/// Why a machine cannot pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetFault {
    /// Its node and device; its node of one that is compared with nobody or lacks devices, and where nothing can be read its path.
    pub member: String,
    /// How many of its rows are wrong or impossible; zero of one that lacks something.
    pub bad_rows: usize,
    /// What is wrong, as a clause.
    pub reason: String,
}

/// One operation across a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetRow {
    /// Which operation.
    pub subject: String,
    /// Which part of a machine it is about.
    pub component: Component,
    /// The fleet's median speed, in the operation's unit per second.
    pub median: f64,
    /// Each member's value.
    pub cells: Vec<FleetCell>,
}

/// One member's value of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetCell {
    /// Whose.
    pub member: String,
    /// Its share of the fleet's median: 1 is the median.
    pub share_of_median: f64,
    /// How many robust deviations from the median: below -3.5 it is slow with confidence. Absent of fewer than four members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviations: Option<f64>,
}

/// A member of a fleet over all of its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetMember {
    /// Its node and device.
    pub name: String,
    /// The median of its shares.
    pub share_of_median: f64,
    /// The least of its shares.
    pub least_share: f64,
    /// In which operation that is.
    pub least_subject: String,
    /// The operations in which it is slow with confidence.
    pub slow: Vec<String>,
}

impl FleetCell {
    /// Whether it is slow with confidence.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.deviations.is_some_and(|deviations| deviations < -OUTLIER)
    }
}

impl FleetTable {
    /// `documents` side by side, a member for each device of each, called by its machine; machines of one name are told apart by the
    /// order in which they are given. Of several rows of one operation, as of a tool that tries many kernels, the fastest speaks; what is
    /// invalid is left out, and [named](Self::faults).
    #[must_use]
    pub fn of(documents: &[ProbeDocument]) -> Self {
        let node = |document: &ProbeDocument| document.host.node.clone();
        let all: Vec<String> = documents.iter().map(node).collect();
        let name = |(at, own): (usize, &String)| {
            let before = all[..at].iter().filter(|other| *other == own).count();
            let is_alone = all.iter().filter(|other| *other == own).count() == 1;
            if is_alone { own.clone() } else { format!("{own} ({})", before + 1) }
        };
        Self::named(all.iter().enumerate().map(name).zip(documents))
    }

    /// The same, with machines of one name called by what each was read from: several of one node, or of a tool that names none.
    #[must_use]
    pub fn of_files(files: &[(PathBuf, ProbeDocument)]) -> Self {
        let is_alone =
            |node: &str| files.iter().filter(|file| file.1.host.node == node).count() == 1;
        let name = |(path, machine): &(PathBuf, ProbeDocument)| match is_alone(&machine.host.node) {
            true => machine.host.node.clone(),
            false => path.display().to_string(),
        };
        Self::named(files.iter().map(|file| (name(file), &file.1)))
    }

    /// The same, with a name for each of the documents that no other has.
    #[must_use]
    pub fn named<'a>(documents: impl IntoIterator<Item = (String, &'a ProbeDocument)>) -> Self {
        let documents: Vec<(String, &ProbeDocument)> = documents.into_iter().collect();
        let rows: Vec<FleetRow> = gathered(&documents).into_iter().filter_map(fleet_row).collect();
        let members = members(&rows);
        let measured = MeasuredFleet::of(&documents);
        let is_member = |name: &str| members.iter().any(|member| member.name == name);
        let mut faults = Vec::new();
        for (name, document) in &documents {
            faults.extend(wrong_results(name, document));
            let alone = compared_with_nobody(name, document, is_member);
            faults.extend(alone.or_else(|| measured.devices_of(name)));
        }
        faults.extend(measured.operations(is_member));
        Self { schema: FLEET.to_owned(), faults, members, rows }
    }

    /// The same, with a fault of each place where the results of another machine cannot be read.
    #[must_use]
    pub fn with_unread(mut self, unread: &[(PathBuf, ProbeFolderError)]) -> Self {
        self.faults.extend(unread.iter().map(|(path, error)| {
            let (member, error) = (path.display().to_string(), error.to_string());
            let reason = error.strip_prefix(&format!("{member}: ")).unwrap_or(&error).to_owned();
            FleetFault { member, bad_rows: 0, reason }
        }));
        self
    }

    /// Whether no operation was measured of two members. Where some results are wrong it is these that leave nothing to compare.
    #[must_use]
    pub fn has_nothing_in_common(&self) -> bool {
        self.rows.is_empty() && self.faults.iter().all(|fault| fault.bad_rows == 0)
    }

    /// The members of which any row is below `share` of the fleet's median.
    pub fn below(&self, share: f64) -> impl Iterator<Item = &FleetMember> {
        self.members.iter().filter(move |member| member.least_share < share)
    }
}

/// The values of one operation by one measure, by member.
struct Gathered {
    subject: String,
    measure: SpeedMeasure,
    component: Component,
    values: Vec<(String, f64)>,
}

/// The values of all operations, in the order of the documents.
fn gathered(documents: &[(String, &ProbeDocument)]) -> Vec<Gathered> {
    let mut rows: Vec<Gathered> = Vec::new();
    for (name, document) in documents {
        let fastest = fastest(document).into_iter();
        for row in fastest.filter(|row| row.verdict != Verdict::Invalid) {
            let Some((measure, speed)) = row.speeds().next() else { continue };
            let subject = row.measured.subject();
            let value = (member_name(name, &row.measured.device), speed.typical);
            let is_same = |of: &&mut Gathered| of.subject == subject && of.measure == measure;
            match rows.iter_mut().find(is_same) {
                Some(other) => other.values.push(value),
                None => {
                    let component = row.measured.operation.component();
                    rows.push(Gathered { subject, measure, component, values: vec![value] });
                }
            }
        }
    }
    rows
}

fn member_name(node: &str, device: &str) -> String {
    format!("{node} {device}")
}

/// A fault of each device with results that are wrong or cannot be, even where another row of the same operation is right.
fn wrong_results(name: &str, document: &ProbeDocument) -> Vec<FleetFault> {
    let mut faults: Vec<FleetFault> = Vec::new();
    for row in &document.rows {
        let Some(objection) = row.fault() else { continue };
        let member = member_name(name, &row.measured.device);
        match faults.iter_mut().find(|fault| fault.member == member) {
            Some(fault) => fault.bad_rows += 1,
            None => {
                let reason = format!("{}: {}", row.measured.subject(), objection.reason);
                faults.push(FleetFault { member, bad_rows: 1, reason });
            }
        }
    }
    for fault in &mut faults {
        let is_own = |row: &&ProbeRow| member_name(name, &row.measured.device) == fault.member;
        let own = document.rows.iter().filter(is_own);
        let (bad, all) = (fault.bad_rows, own.count());
        fault.reason = format!("{bad} of its {all} rows cannot be right, first {}", fault.reason);
    }
    faults
}

/// The fault of a machine that has nothing in common with any other; none where its results are wrong, which is why it has not.
fn compared_with_nobody(
    name: &str,
    document: &ProbeDocument,
    is_member: impl Fn(&str) -> bool,
) -> Option<FleetFault> {
    let is_compared = |row: &ProbeRow| is_member(&member_name(name, &row.measured.device));
    if document.rows.iter().any(|row| row.fault().is_some() || is_compared(row)) {
        return None;
    }
    let reason = match document.rows.first() {
        None => "nothing was measured of it".to_owned(),
        Some(row) => format!(
            "no other machine has any operation of its {}, such as {}",
            document.rows.len(),
            row.measured.subject()
        ),
    };
    Some(FleetFault { member: name.to_owned(), bad_rows: 0, reason })
}

fn fleet_row(gathered: Gathered) -> Option<FleetRow> {
    let Gathered { subject, component, values, .. } = gathered;
    if values.len() < 2 {
        return None;
    }
    let median = Sorted::of(values.iter().map(|(_, value)| *value)).median()?;
    // Zero is a distance too, which `Sorted` would leave out; a hair is put beneath all.
    let hair = f64::MIN_POSITIVE;
    let distances = values.iter().map(|(_, value)| (value - median).abs().max(hair));
    let deviation = (NORMAL * Sorted::of(distances).median()?).max(LEAST_DEVIATION * median);
    let enough = values.len() >= FEWEST;
    let cells = values.into_iter().map(|(member, value)| FleetCell {
        member,
        share_of_median: value / median,
        deviations: enough.then_some((value - median) / deviation),
    });
    Some(FleetRow { subject, component, median, cells: cells.collect() })
}

fn members(rows: &[FleetRow]) -> Vec<FleetMember> {
    let cells = rows.iter().flat_map(|row| &row.cells);
    let names = fizeau_core::distinct(cells.map(|cell| cell.member.as_str()));
    let member = |name: &str| {
        let own = rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
        let own: Vec<_> = own.filter(|(_, cell)| cell.member == name).collect();
        let (row, least) =
            own.iter().min_by(|a, b| a.1.share_of_median.total_cmp(&b.1.share_of_median))?;
        let slow =
            own.iter().filter(|(_, cell)| cell.is_slow()).map(|(row, _)| row.subject.clone());
        Some(FleetMember {
            name: name.to_owned(),
            share_of_median: Sorted::of(own.iter().map(|(_, cell)| cell.share_of_median))
                .median()?,
            least_share: least.share_of_median,
            least_subject: row.subject.clone(),
            slow: slow.collect(),
        })
    };
    let mut members: Vec<FleetMember> = names.into_iter().filter_map(member).collect();
    members.sort_by(|a, b| a.least_share.total_cmp(&b.least_share));
    members
}

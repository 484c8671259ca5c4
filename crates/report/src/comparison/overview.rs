//! Many levels of a comparison in one table.

use fizeau_metrics::{ComparedFigure, ComparisonAnswer, TestFindings, UntestedReason};
use fizeau_record::ComparedLevel;

use super::table::with_sign;
use crate::grid;
use crate::text::{WIDTH, plain};

/// As many levels have a table each.
const FEW: usize = 3;

/// The change of each decided figure, a line for each level, where there are many levels and the table has room in a terminal of 80
/// columns. What is tested, and how, stands in the tables of single levels.
pub(super) fn lines(levels: &[ComparedLevel]) -> Option<Vec<String>> {
    if levels.len() <= FEW {
        return None;
    }
    let wanted_of_all = levels.iter().flat_map(decided).map(wanted);
    let heads = fizeau_core::distinct(std::iter::once(String::new()).chain(wanted_of_all));
    let cells = |level: &ComparedLevel| -> Vec<String> {
        let of = |head: &String| {
            let row = decided(level).find(|row| wanted(row) == *head);
            row.map_or_else(String::new, cell)
        };
        std::iter::once(plain(&level.name)).chain(heads[1..].iter().map(of)).collect()
    };
    let rows: Vec<Vec<String>> = levels.iter().map(cells).collect();
    let widths = grid::widths(std::iter::once(&heads).chain(&rows).map(Vec::as_slice));
    let draw = |row: &Vec<String>| grid::line(row, &widths, |_| true, |column| column == 0);
    let mut out = vec![String::new(), "Change of B against A in %:".to_owned(), draw(&heads)];
    out.extend(rows.iter().map(draw));
    out.extend(legend(levels));
    out.iter().all(|line| line.chars().count() <= WIDTH).then_some(out)
}

fn decided(level: &ComparedLevel) -> impl Iterator<Item = &ComparedFigure> {
    level.table.rows.iter().filter(|row| row.is_decided)
}

/// The name of the figure that was wanted, whichever stands for it.
fn wanted(row: &ComparedFigure) -> String {
    row.stands_for.as_ref().unwrap_or(&row.figure).label()
}

fn cell(row: &ComparedFigure) -> String {
    let Ok(tested) = &row.tested else { return "-".to_owned() };
    let change = change(row, tested);
    let stand_in = if row.stands_for.is_some() { "*" } else { "" };
    match row.answer() {
        Some(ComparisonAnswer::Better) => format!("{change}{stand_in} better"),
        Some(ComparisonAnswer::Worse) => format!("{change}{stand_in} worse"),
        _ => format!("{change}{stand_in}"),
    }
}

/// In percent, as the heading says. Of nothing there is no share: then the difference, with its unit.
fn change(row: &ComparedFigure, tested: &TestFindings) -> String {
    let (effect, factor, unit) = match (tested.relative, row.figure.unit()) {
        (Some(relative), _) => (relative, 100.0, String::new()),
        (None, "") => (tested.difference, 100.0, " points".to_owned()),
        (None, unit) => (tested.difference, 1.0, format!(" {unit}")),
    };
    with_sign(effect, factor, &unit).0
}

/// What the marks of the table mean.
fn legend(levels: &[ComparedLevel]) -> Vec<String> {
    let all = || levels.iter().flat_map(decided);
    let mut legend = Vec::new();
    if all().any(|row| row.stands_for.is_some() && row.tested.is_ok()) {
        legend.push(
            "*: a lower percentile, since there are too few requests for this one".to_owned(),
        );
    }
    let most = all().filter_map(|row| match &row.tested {
        Err(UntestedReason::TooFew { needs, what, .. }) => Some((*needs, *what)),
        _ => None,
    });
    match most.max() {
        Some((needs, what)) => {
            legend.push(format!("-: not tested, since there are too few {what}; {needs} would do"));
        }
        None if all().any(|row| row.tested.is_err()) => legend.push("-: not tested".to_owned()),
        None => {}
    }
    legend.push(
        "Without \"better\" or \"worse\": no difference that can be told from noise".to_owned(),
    );
    legend
}

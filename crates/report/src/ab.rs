//! An A/B run as text.

use fizeau_metrics::{
    ComparedFigure, ComparisonAnswer, ComparisonBasis, ComparisonSide, ComparisonTable,
    LevelFigure, Verdict,
};

use crate::grouped::{grouped, placed};
use crate::text::{VERDICT, Verbosity, line, plain, requested_lengths, sentence, shown};
use crate::{Shown, grid, shards};
use fizeau_record::text::{self, column_decimals, duration_ms};
use fizeau_record::{AbDocument, AbParty, AbReport, AbRound, FigureDifference, GoalResult};
use fizeau_record::{ComparisonView, LevelReport, LevelStatus};

impl Shown<'_, AbDocument> {
    /// What the rounds came to: a line for each figure that was decided, under a heading, or why there is no answer; and the verdict.
    #[must_use]
    pub fn answers(&self) -> String {
        format!("{}\n{VERDICT} {}", self.judged(), self.verdict.as_str())
    }

    fn judged(&self) -> String {
        let Some(comparison) = &self.comparison else {
            let reason = self.comparison_reason.as_deref().unwrap_or_default();
            return format!("  no answer: {}", plain(reason));
        };
        let judged: Vec<_> = comparison.figures.iter().filter(|figure| figure.decided).collect();
        let heads = ["figure", "A", "B", "change"].map(str::to_owned);
        let rows = judged.iter().copied().map(judged_cells);
        let rows: Vec<_> = rows.collect();
        let widths = grid::widths([&heads].into_iter().chain(&rows).map(|row| &row[..]));
        let draw = |row| format!("  {}", grid::line(row, &widths, |_| true, |column| column == 0));
        let head = format!("{}  answer", draw(&heads));
        let lines = judged.iter().zip(&rows).map(|(of, row)| judged_line(of, &draw(row)));
        std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// The name of a figure, both sides with as many decimals, and the change; a share in percent.
fn judged_cells(of: &FigureDifference) -> [String; 4] {
    let name = format!("{} {}", plain(&of.figure), plain(&of.unit));
    let (factor, unit) = if of.unit.is_empty() { (100.0, " %") } else { (1.0, "") };
    let [a, b] = [of.baseline, of.candidate].map(|side| side.map(|value| value * factor));
    let decimals = column_decimals([a, b].into_iter().flatten());
    let side = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}{unit}"))
    };
    let change = of.tested.as_ref().and_then(|tested| tested.change);
    let change = change.map(|change| format!("{:+.1} %", 100.0 * change));
    [name.trim_end().to_owned(), side(a), side(b), change.unwrap_or_else(|| "-".to_owned())]
}

/// An answer that has no room beside its figures stands below them.
fn judged_line(of: &FigureDifference, figures: &str) -> String {
    let answer = of.answer.as_deref().or(of.answer_reason.as_deref());
    let answer = plain(answer.unwrap_or("-"));
    match figures.chars().count() + 2 + answer.chars().count() > 80 {
        true => format!("{figures}\n      {answer}"),
        false => format!("{figures}  {answer}"),
    }
}

impl Shown<'_, AbReport> {
    /// Who A and B are, what they were asked, and how each round went: a table of 80 columns, below it the answer and what speaks
    /// against a round; in full also what explains that, and how the answer was found. Ends with a newline.
    #[must_use]
    pub fn text(&self, verbosity: Verbosity) -> String {
        let mut out = String::new();
        for (side, party) in
            [(ComparisonSide::Baseline, &self.a), (ComparisonSide::Candidate, &self.b)]
        {
            line(&mut out, &format!("{}  {}", letter(side), Shown(party).words()));
        }
        let workload = &self.setup.workload;
        let pause = match self.settle.get() {
            ms if ms > 0.0 => format!("a pause of {} before each turn", duration_ms(ms)),
            _ => "no pause between turns".to_owned(),
        };
        let requested = format!(
            "Workload: {}, {}, {}, seed {}; {} rounds, {pause}",
            workload.dataset,
            requested_lengths(workload),
            workload.arrivals_words(),
            workload.seed_words(),
            self.planned,
        );
        sentence(&mut out, &requested);
        out.push('\n');
        self.table(&mut out);
        self.goals(&mut out);
        self.shards(verbosity, &mut out);
        out.push('\n');
        match &self.comparison {
            Err(reason) => sentence(&mut out, &format!("No answer: {reason}")),
            Ok(table) => {
                let view = ComparisonView { table, baseline: "A", candidate: "B" };
                out.push_str(&Shown(&view).text(verbosity));
                out.push('\n');
                if let Some(requests) =
                    self.requests.as_ref().filter(|_| verbosity == Verbosity::Full)
                {
                    sentence(&mut out, &request_pairs(requests));
                }
                out.push('\n');
                sentence(&mut out, &answer(table));
            }
        }
        out.push('\n');
        self.remarks(verbosity, &mut out);
        out
    }

    fn table(&self, out: &mut String) {
        let tps = |level: &LevelReport| Some(level.summary.throughput.output_tokens_per_s.get());
        let p50 = |level: &LevelReport| Some(level.summary.metrics.ttft.p50.value()?.get());
        let [a_tps, b_tps] = self.columns(tps);
        let [a_ttft, b_ttft] = self.columns(p50);
        line(out, "               output tok/s          TTFT p50 ms");
        line(out, "round first        A        B          A        B   verdict");
        let cells = a_tps.iter().zip(&b_tps).zip(a_ttft.iter().zip(&b_ttft));
        for (round, ((a_tps, b_tps), (a_ttft, b_ttft))) in self.rounds.iter().zip(cells) {
            let first = letter(round.first);
            let verdict = Shown(round).verdict();
            let row = format!(
                "{:>5} {first:>5} {a_tps:>8} {b_tps:>8}   {a_ttft:>8} {b_ttft:>8}   {verdict}",
                round.number
            );
            line(out, &row);
        }
    }

    /// Why rounds are left out, and what speaks against turns of the others: each reason once, with the rounds in which it holds.
    fn remarks(&self, verbosity: Verbosity, out: &mut String) {
        line(out, &format!("{VERDICT} {}", self.verdict().as_str()));
        let counted: Vec<_> =
            self.rounds.iter().map(|round| (round, round.counted().err())).collect();
        let left_out = counted.iter().filter_map(|(round, why)| {
            Some((round.number.to_string(), Verdict::Invalid, why.as_deref()?))
        });
        for reason in grouped(left_out) {
            let plural = if reason.places.len() == 1 { "round" } else { "rounds" };
            let text = shown(reason.text, verbosity);
            sentence(out, &format!("Left out: {plural} {}: {text}", reason.at()));
        }
        let reasons = counted.iter().filter(|(_, why)| why.is_none()).flat_map(|(round, _)| {
            let sides = [ComparisonSide::Baseline, ComparisonSide::Candidate].into_iter();
            let turns = sides.filter_map(move |side| Some((side, round.turn(side)?)));
            turns.flat_map(move |(side, level)| {
                let reasons = level.validity.reasons.iter();
                reasons.map(move |reason| placed((side, round.number), reason))
            })
        });
        for reason in grouped(reasons) {
            let of_side = |side| {
                let rounds = reason.places.iter().filter(|(of, _)| *of == side);
                let rounds: Vec<_> = rounds.map(|(_, round)| round.to_string()).collect();
                let plural = if rounds.len() == 1 { "round" } else { "rounds" };
                let words = format!("{} in {plural} {}", letter(side), text::listed(&rounds));
                (!rounds.is_empty()).then_some(words)
            };
            let places = [ComparisonSide::Baseline, ComparisonSide::Candidate]
                .into_iter()
                .filter_map(of_side);
            let places = places.collect::<Vec<_>>().join("; ");
            let figures = reason.figures_of.map_or_else(String::new, |(side, round)| {
                format!("; {}: {} in round {round}", reason.figures_word(), letter(side))
            });
            let verdict = reason.verdict.as_str();
            let text = shown(reason.text, verbosity);
            sentence(out, &format!("{verdict}: {text} ({places}{figures})"));
        }
    }

    /// Whether each side kept the goals over its rounds.
    fn goals(&self, out: &mut String) {
        if self.slo.is_none() {
            return;
        }
        for side in [ComparisonSide::Baseline, ComparisonSide::Candidate] {
            let grew = self.is_saturated(side).then(|| "the queue grew to the end".to_owned());
            let words = self.0.goals(side);
            let goals: Vec<String> =
                grew.into_iter().chain(words.iter().map(GoalResult::words)).collect();
            let goals = if goals.is_empty() {
                "not judged, since no round counts".to_owned()
            } else {
                goals.join("; ")
            };
            let came_out = if self.misses_goals(side) { "misses" } else { "keeps" };
            sentence(out, &format!("{} {came_out} the goals: {goals}", letter(side)));
        }
    }

    /// How each client fared, where several measured together.
    fn shards(&self, verbosity: Verbosity, out: &mut String) {
        let Some(all) = self.0.shards() else { return };
        shards::sentences(&all).iter().for_each(|text| sentence(out, text));
        shards::table_lines(&all, verbosity).iter().for_each(|text| line(out, text));
    }

    /// A figure of A and of B, with the decimals that suit both columns.
    fn columns(&self, figure: fn(&LevelReport) -> Option<f64>) -> [Vec<String>; 2] {
        let of = |side: ComparisonSide| -> Vec<Option<f64>> {
            let turns = self.rounds.iter().map(|round| round.turn(side));
            turns.map(|level| figure(level?).filter(|value| value.is_finite())).collect()
        };
        let (a, b) = (of(ComparisonSide::Baseline), of(ComparisonSide::Candidate));
        let decimals = column_decimals(a.iter().chain(&b).copied().flatten());
        let cell = |value: &Option<f64>| match value {
            Some(value) => format!("{value:.decimals$}"),
            None => "-".to_owned(),
        };
        [a.iter().map(cell).collect(), b.iter().map(cell).collect()]
    }
}

/// What the requests say, pair by pair.
fn request_pairs(requests: &ComparisonTable) -> String {
    let change = |row: &ComparedFigure| {
        let change = row.tested.as_ref().ok()?.relative?;
        let signed = |share: f64| format!("{:+.1}", share * 100.0);
        let interval = change.interval().map_or_else(String::new, |interval| {
            format!(" [{}, {}]", signed(interval.low), signed(interval.high))
        });
        Some(format!("{} {} %{interval}", row.figure.label(), signed(change.value())))
    };
    let changes: Vec<String> = requests.rows.iter().filter_map(change).collect();
    let pairs = match requests.basis {
        ComparisonBasis::PairedRequests(pairs) => format!("{pairs} pairs of requests"),
        _ => "Requests".to_owned(),
    };
    format!(
        "{pairs}, by a bootstrap in blocks (these intervals leave out what differs from turn to turn): {}",
        if changes.is_empty() { "no figure".to_owned() } else { changes.join(", ") }
    )
}

/// All answers in a sentence.
fn answer(table: &ComparisonTable) -> String {
    let figures =
        |answer| -> Vec<String> { table.answered(answer).map(LevelFigure::label).collect() };
    let (better, worse) = (figures(ComparisonAnswer::Better), figures(ComparisonAnswer::Worse));
    let none = figures(ComparisonAnswer::NoDetectableDifference);
    let told = [("better", &better), ("worse", &worse)];
    let told = told.into_iter().filter(|(_, figures)| !figures.is_empty());
    let told: Vec<String> =
        told.map(|(word, figures)| format!("B is {word} in {}", text::listed(figures))).collect();
    let undetected = match (&*told, &*none) {
        ([], []) => "no figure could be compared".to_owned(),
        ([], _) => "no detectable difference in any figure".to_owned(),
        (_, []) => String::new(),
        (_, none) => format!("; no detectable difference in {}", text::listed(none)),
    };
    format!("Answer: {}{undetected}", told.join("; "))
}

impl Shown<'_, AbParty> {
    /// Its name, where it is and which model, in a line.
    fn words(&self) -> String {
        let AbParty { name, endpoint } = self.0;
        let name = name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        format!("{name}{}{}, model {}", endpoint.base_url, endpoint.path, endpoint.model)
    }
}

impl Shown<'_, AbRound> {
    fn verdict(&self) -> String {
        let turn = |side| {
            let level = self.turn(side)?;
            let word = match (&level.status, level.validity.verdict) {
                (LevelStatus::Partial { .. }, _) => "partial",
                (_, Verdict::Valid) => return None,
                (_, verdict) => verdict.as_str(),
            };
            Some(format!("{} {word}", letter(side)))
        };
        let odd: Vec<String> = [ComparisonSide::Baseline, ComparisonSide::Candidate]
            .into_iter()
            .filter_map(turn)
            .collect();
        let dropped = if self.counted().is_err() { " (left out)" } else { "" };
        match &*odd {
            [] if dropped.is_empty() => "valid".to_owned(),
            [] => "not finished (left out)".to_owned(),
            odd => format!("{}{dropped}", odd.join(", ")),
        }
    }
}

/// `A` or `B`.
const fn letter(side: ComparisonSide) -> &'static str {
    match side {
        ComparisonSide::Baseline => "A",
        ComparisonSide::Candidate => "B",
    }
}

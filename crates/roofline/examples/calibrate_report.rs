//! Whether measured levels keep to the bound, and how far off a calibration on them is: of what was fitted, where half of each
//! series was, and where a model's family was left out; and whether intervals hold what they say.
//!
//! `cargo xtask calibrate-report [MEASURED.csv...]` runs it; without files, on the published results in `fixtures/`. With
//! `--ship FILE` it writes the calibration that ships, with `--residuals FILE.csv` how far off each level is, for plots.

#[path = "calibrate_report/residuals.rs"]
mod residuals;
#[path = "calibrate_report/ship.rs"]
mod ship;
#[path = "calibrate_report/split.rs"]
mod split;

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::PathBuf;

use fizeau_roofline::{
    Calibration, CalibrationFit, CalibrationSample, Device, ErrorSummary, JudgedFit, KnownModel,
    MeasuredRow, MeasuredTable, Model, RowExclusion, System,
};

const PUBLISHED: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving-2.csv"),
];

type Level = (MeasuredRow, System);

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let ship = file_of("--ship", &mut paths)?;
    let residuals = file_of("--residuals", &mut paths)?;
    let is_flag = |path: &&PathBuf| path.to_string_lossy().starts_with('-');
    if let Some(flag) = paths.iter().find(is_flag) {
        let takes = "it takes --ship FILE, --residuals FILE.csv, then files of measured levels";
        return Err(format!("{}: no such argument; {takes}", flag.display()).into());
    }
    if paths.is_empty() {
        paths = PUBLISHED.iter().map(PathBuf::from).collect();
    }
    let levels = kept(read(&paths)?);
    let samples: Result<Vec<CalibrationSample>, _> =
        levels.iter().map(|(level, system)| level.sample(system)).collect();
    let samples = samples?;
    let CalibrationFit { calibration, judged, .. } = Calibration::fit(&samples)?;
    if let Some(path) = ship {
        return ship::write(&path, &levels, &calibration, &judged);
    }
    if let Some(path) = residuals {
        residuals::write(&path, &levels, &calibration, &judged)?;
    }
    let half = split::halves(&levels, &samples)?;
    let report = Report { levels: &levels, judged: &judged, half: &half };
    report.print("all", |_| String::new());
    report.print("family left out", |level| level.model.clone());
    report.print("device and engine", pair);
    report.print("concurrency", band);
    report.print("input and output tokens", lengths);
    report.print("spread", |level| level.deployment.to_string());
    report.coverage();
    report.requests();
    print_constants(&calibration);
    Ok(())
}

/// The file behind `flag`, if the arguments begin with it.
fn file_of(flag: &str, paths: &mut Vec<PathBuf>) -> Result<Option<PathBuf>, Box<dyn Error>> {
    if paths.first().is_none_or(|first| first.as_os_str() != flag) {
        return Ok(None);
    }
    if paths.len() < 2 {
        return Err(format!("{flag}: name the file that is written").into());
    }
    Ok(paths.drain(..2).nth(1))
}

/// The levels of all files, with their models' families for names.
fn read(paths: &[PathBuf]) -> Result<Vec<Level>, Box<dyn Error>> {
    let mut models: HashMap<String, Model> = HashMap::new();
    let mut all = Vec::new();
    for path in paths {
        let table = MeasuredTable::read(&std::fs::read_to_string(path)?)?;
        for error in &table.errors {
            eprintln!("{}: {error}", path.display());
        }
        for mut level in table.levels {
            level.model = family(&level.model);
            let model = match models.get(&level.model) {
                Some(model) => model.clone(),
                None => KnownModel::named(&level.model)?.model()?,
            };
            models.insert(level.model.clone(), model.clone());
            match level.system(model, Device::named(&level.hardware)?.clone()) {
                Ok(system) => all.push((level, system)),
                Err(error) => println!("left out: {}: {error}", path.display()),
            }
        }
    }
    Ok(all)
}

/// A checkpoint's name without owner, revision and precision.
fn family(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.trim_end_matches("-NVFP4").trim_end_matches("-FP8");
    name.replace("V3.1", "V3")
}

/// Levels that nothing is doubtful about; the others are counted by what is.
fn kept(levels: Vec<Level>) -> Vec<Level> {
    let doubts = RowExclusion::screen(&levels);
    let mut out: BTreeMap<(RowExclusion, String), usize> = BTreeMap::new();
    for ((level, _), doubt) in levels.iter().zip(&doubts) {
        if let Some(doubt) = doubt {
            let series = format!("{} {}", pair(level), level.model);
            *out.entry((*doubt, series)).or_default() += 1;
        }
    }
    let count: usize = out.values().sum();
    println!("{} levels, of which {count} are left out:", levels.len());
    for ((doubt, series), count) in out {
        println!("  {count:4} {series}: {doubt}");
    }
    let nearest = (levels.iter().zip(&doubts).filter(|(_, doubt)| doubt.is_none()))
        .map(|((level, system), _)| level.tpot.get() / system.bound_figures(&level.load).step.get())
        .fold(f64::INFINITY, f64::min);
    println!("the nearest of the others takes {nearest:.2} times the bound");
    levels
        .into_iter()
        .zip(doubts)
        .filter(|(_, doubt)| doubt.is_none())
        .map(|(level, _)| level)
        .collect()
}

struct Report<'a> {
    levels: &'a [Level],
    judged: &'a [JudgedFit],
    half: &'a [f64],
}

impl Report<'_> {
    /// Errors of times per output token by `key`.
    fn print(&self, title: &str, key: impl Fn(&MeasuredRow) -> String) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, (level, _)) in self.levels.iter().enumerate() {
            groups.entry(key(level)).or_default().push(at);
        }
        let heads = ["fitted", "half fitted", "family left out"];
        println!("\n{title:30} levels  {}", heads.map(|head| format!("{head:>23}")).join("  "));
        for (key, places) in groups {
            let over = |of: &dyn Fn(usize) -> Option<f64>| {
                shown(ErrorSummary::of(places.iter().filter_map(|at| of(*at))))
            };
            let each = [
                over(&|at| Some(self.judged[at].in_sample)),
                over(&|at| Some(self.half[at])),
                over(&|at| self.judged[at].model_left_out),
            ];
            println!("{key:30} {:6}  {}", places.len(), each.join("  "));
        }
    }

    /// Of each family, how many levels an interval holds that all other families' left-out errors made.
    fn coverage(&self) {
        println!("\nheld by nine in ten, family left out");
        let (mut held_of_all, mut all) = (0, 0);
        let mut families: Vec<&str> =
            self.levels.iter().map(|(level, _)| level.model.as_str()).collect();
        families.sort_unstable();
        families.dedup();
        for family in families {
            let (own, others): (Vec<usize>, Vec<usize>) =
                (0..self.levels.len()).partition(|at| self.levels[*at].0.model == family);
            let scores = |places: &[usize]| -> Vec<(&str, f64)> {
                let score = |at: &usize| {
                    let score = self.judged[*at].model_left_out_score()?;
                    Some((self.levels[*at].0.model.as_str(), score))
                };
                places.iter().filter_map(score).collect()
            };
            let Some(most) = ErrorSummary::nine_tenths_by(scores(&others)) else { continue };
            let own = scores(&own);
            let held = own.iter().filter(|(_, score)| *score <= most).count();
            (held_of_all, all) = (held_of_all + held, all + own.len());
            println!("{family:30} {:6}  {:5.1} %", own.len(), percent(held, own.len()));
        }
        println!("{:30} {all:6}  {:5.1} %", "", percent(held_of_all, all));
    }

    /// Of times to first token and of output rates, by device and engine; levels that do not tell the first count for none.
    fn requests(&self) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, (level, _)) in self.levels.iter().enumerate() {
            groups.entry(pair(level)).or_default().push(at);
            groups.entry("all".to_owned()).or_default().push(at);
        }
        let heads = ["TTFT fitted", "family left out", "output fitted", "family left out"];
        let heads = heads.map(|head| format!("{head:>23}")).join("  ");
        println!("\n{:30} levels  {heads}", "first token and output rate");
        for (key, places) in groups {
            let judged: Vec<&JudgedFit> = places.iter().map(|at| &self.judged[*at]).collect();
            let over = |of: fn(&JudgedFit) -> Option<f64>| {
                shown(ErrorSummary::of(judged.iter().filter_map(|judged| of(judged))))
            };
            let each = [
                over(|judged| judged.ttft_in_sample),
                over(|judged| judged.ttft_model_left_out),
                over(|judged| judged.output_in_sample),
                over(|judged| judged.output_model_left_out),
            ];
            let told = judged.iter().filter(|judged| judged.ttft_in_sample.is_some()).count();
            println!("{key:30} {told:6}  {}", each.join("  "));
        }
    }
}

fn print_constants(calibration: &Calibration) {
    println!("\nconstants that left their usual range");
    for group in calibration.groups() {
        for estimate in group.unusual() {
            println!("  {}: {} {:.3e}", group.scope, estimate.constant, estimate.value);
        }
    }
}

fn percent(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64 * 100.0
}

fn shown(errors: Option<ErrorSummary>) -> String {
    match errors {
        Some(ErrorSummary { mean, median, bias, .. }) => {
            let [mean, median, bias] = [mean, median, bias].map(|share| share * 100.0);
            format!("{mean:5.1} % {median:5.1} % {bias:+5.1} %")
        }
        None => format!("{:>23}", "none"),
    }
}

fn pair(level: &MeasuredRow) -> String {
    format!("{} {}", level.hardware, level.engine.as_deref().unwrap_or("?"))
}

fn band(level: &MeasuredRow) -> String {
    let concurrency = level.load.concurrency.get();
    let bands = [(1, 4), (5, 8), (9, 16), (17, 32), (33, 64), (65, 128)];
    let band = bands.iter().find(|(from, to)| (*from..=*to).contains(&concurrency));
    band.map_or_else(|| " 129 and more".to_owned(), |(from, to)| format!("{from:4} to {to}"))
}

fn lengths(level: &MeasuredRow) -> String {
    format!("{:5} {:5}", level.load.input_tokens.get(), level.load.output_tokens.get())
}

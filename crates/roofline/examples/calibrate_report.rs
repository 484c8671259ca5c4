//! Whether measured levels keep to the bound, and how far off a calibration on them is, by device, engine, model and
//! concurrency. `cargo xtask calibrate-report [MEASURED.csv]` runs it; without a file, on the published results in `fixtures/`.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::PathBuf;

use fizeau_roofline::{
    Calibration, CalibrationFit, Device, ErrorSummary, JudgedFit, KnownModel, MeasuredRow,
    MeasuredTable, Model, System,
};

const PUBLISHED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from(PUBLISHED), PathBuf::from);
    let table = MeasuredTable::read(&std::fs::read_to_string(&path)?)?;
    for error in &table.errors {
        eprintln!("{error}");
    }
    let levels = with_systems(table.levels)?;
    soundness(&levels);

    let samples: Result<Vec<_>, _> =
        levels.iter().map(|(level, system)| level.sample(system)).collect();
    let CalibrationFit { judged, .. } = Calibration::fit(&samples?)?;
    let of = |key: fn(&MeasuredRow) -> String| {
        let keys: Vec<String> = levels.iter().map(|(level, _)| key(level)).collect();
        keys
    };
    print("all", &of(|_| String::new()), &judged);
    print("device and engine", &of(pair), &judged);
    print("model", &of(|level| level.model.clone()), &judged);
    print(
        "device, engine, model",
        &of(|level| format!("{} {}", pair(level), level.model)),
        &judged,
    );
    print("concurrency", &of(band), &judged);
    print("input and output tokens", &of(lengths), &judged);
    print("spread", &of(|level| level.deployment.to_string()), &judged);
    Ok(())
}

fn with_systems(levels: Vec<MeasuredRow>) -> Result<Vec<(MeasuredRow, System)>, Box<dyn Error>> {
    let mut models: HashMap<String, Model> = HashMap::new();
    let mut all = Vec::new();
    for level in levels {
        let model = match models.get(&level.model) {
            Some(model) => model.clone(),
            None => KnownModel::named(&level.model)?.model()?,
        };
        models.insert(level.model.clone(), model.clone());
        let system = level.system(model, Device::named(&level.hardware)?.clone())?;
        all.push((level, system));
    }
    Ok(all)
}

/// Nothing may be faster than the bound. What is, is measured, labelled or modelled wrongly.
fn soundness(levels: &[(MeasuredRow, System)]) {
    let mut beaten: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut nearest = f64::INFINITY;
    for (level, system) in levels {
        let ratio = level.tpot.get() / system.bound_figures(&level.load).tpot.get();
        if ratio < 1.0 {
            let group =
                format!("{} {} C={}", pair(level), level.model, level.load.concurrency.get());
            beaten.entry(group).or_default().push(ratio);
        } else {
            nearest = nearest.min(ratio);
        }
    }
    let count: usize = beaten.values().map(Vec::len).sum();
    println!("{} levels, of which {count} are faster than the bound on TPOT", levels.len());
    for (group, ratios) in &beaten {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!("  {group}: {} levels, at least {least:.2} of the bound", ratios.len());
    }
    println!("the nearest of the others takes {nearest:.2} times the bound");
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

/// Errors of times per output token by `keys`, one for each level.
fn print(title: &str, keys: &[String], judged: &[JudgedFit]) {
    let mut groups: BTreeMap<&str, Vec<&JudgedFit>> = BTreeMap::new();
    for (key, judged) in keys.iter().zip(judged) {
        groups.entry(key).or_default().push(judged);
    }
    println!(
        "\n{title:46} levels    fitted: mean median   bias  model left out: mean median   bias"
    );
    for (key, judged) in groups {
        let fitted = ErrorSummary::of(judged.iter().map(|judged| judged.in_sample));
        let left_out = ErrorSummary::of(judged.iter().filter_map(|judged| judged.model_left_out));
        let shown = |errors: Option<ErrorSummary>| match errors {
            Some(ErrorSummary { mean, median, bias, .. }) => {
                let [mean, median, bias] = [mean, median, bias].map(|share| share * 100.0);
                format!("{mean:5.1} % {median:5.1} % {bias:+5.1} %")
            }
            None => format!("{:>23}", "no other model"),
        };
        println!("{key:46} {:6}  {}  {}", judged.len(), shown(fitted), shown(left_out));
    }
}

//! Draws how far a calibration is off: `residual_pictures RESIDUALS.csv DIR`, of the table that `cargo xtask calibrate-report
//! --residuals` writes. `cargo xtask calibrate-report --residuals-svg DIR` runs both.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use fizeau_report::{CalibrationResidual, ResidualPicture};

/// What is drawn where no table is named, to see that it can be: five levels make a median.
fn sample() -> String {
    let mut rows = vec!["hardware,engine,concurrency,left_out".to_owned()];
    for (device, engine, off) in [("h100-sxm", "vllm", 0.05), ("b200-sxm", "sglang", -0.1)] {
        for at in [8, 64, 512].into_iter().flat_map(|at| [at; 5]) {
            rows.push(format!("{device},{engine},{at},{off}"));
        }
    }
    rows.join("\n")
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<OsString> = std::env::args_os().skip(1).collect();
    match paths.as_slice() {
        [] => {
            for (name, svg) in drawn(&sample())? {
                println!("{name}: {} bytes", svg.len());
            }
        }
        [table, folder] => {
            let folder = Path::new(folder);
            std::fs::create_dir_all(folder)?;
            for (name, svg) in drawn(&std::fs::read_to_string(table)?)? {
                std::fs::write(folder.join(name), svg)?;
            }
        }
        _ => return Err("it takes a table of residuals and a folder".into()),
    }
    Ok(())
}

/// Both pictures of a table, each with the name of its file.
fn drawn(table: &str) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let residuals = read(table)?;
    let pictures = [
        (ResidualPicture::Concurrency, "residuals-concurrency.svg"),
        (ResidualPicture::DevicesAndEngines, "residuals-devices.svg"),
    ];
    let svg = |(picture, name): (ResidualPicture, _)| {
        let svg = picture.svg(&residuals).ok_or("no level has a family left out")?;
        Ok((name, svg))
    };
    pictures.into_iter().map(svg).collect()
}

/// The levels whose family was left out of a fit.
fn read(table: &str) -> Result<Vec<CalibrationResidual>, Box<dyn Error>> {
    let mut lines = table.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |name: &str| {
        let found = heads.iter().position(|head| *head == name);
        found.ok_or_else(|| format!("the table has no column `{name}`"))
    };
    let places = ["hardware", "engine", "concurrency", "left_out"].map(place);
    let [device, engine, concurrency, left_out] = places;
    let places = [device?, engine?, concurrency?, left_out?];
    let mut residuals = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [device, engine, concurrency, left_out] =
            places.map(|place| cells.get(place).copied().unwrap_or_default());
        let error: f64 = left_out.parse().map_err(|error| format!("{line}: {error}"))?;
        if error.is_finite() {
            residuals.push(CalibrationResidual {
                device: device.to_owned(),
                engine: engine.to_owned(),
                concurrency: concurrency.parse().map_err(|error| format!("{line}: {error}"))?,
                ratio: 1.0 + error,
            });
        }
    }
    Ok(residuals)
}

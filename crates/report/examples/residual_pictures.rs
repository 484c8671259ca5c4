//! Draws how far a calibration is off: `residual_pictures RESIDUALS.csv DIR`, of the table that `cargo xtask calibrate-report
//! --residuals` writes. `cargo xtask calibrate-report --residuals-svg DIR` runs both.

use std::error::Error;
use std::path::Path;

use fizeau_report::{CalibrationResidual, ResidualPicture};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args_os().skip(1);
    let (Some(table), Some(folder)) = (paths.next(), paths.next()) else {
        return Err("it takes a table of residuals and a folder".into());
    };
    let residuals = read(&std::fs::read_to_string(table)?)?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (picture, name) in [
        (ResidualPicture::Concurrency, "residuals-concurrency.svg"),
        (ResidualPicture::DevicesAndEngines, "residuals-devices.svg"),
    ] {
        let svg = picture.svg(&residuals).ok_or("no level has a family left out")?;
        std::fs::write(folder.join(name), svg)?;
    }
    Ok(())
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

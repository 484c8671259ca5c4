//! The kernels for GPUs: listed, or written as modules in PTX into a folder that is named, for `cargo xtask ptx` to assemble.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use fizeau_probe::CudaBackend;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from);
    if let Some(folder) = &folder {
        fs::create_dir_all(folder)?;
    }
    for (name, text) in CudaBackend::kernels() {
        match &folder {
            Some(folder) => fs::write(folder.join(name).with_extension("ptx"), text)?,
            None => println!("{name}: {} lines of PTX", text.lines().count()),
        }
    }
    Ok(())
}

//! Writes every kernel for GPUs as a module in PTX into the folder that is named: what `cargo xtask ptx` assembles.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use fizeau_probe::CudaBackend;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder is to be written to?")?);
    fs::create_dir_all(&folder)?;
    for (name, text) in CudaBackend::kernels() {
        fs::write(folder.join(name).with_extension("ptx"), text)?;
    }
    Ok(())
}

//! `fizeau devices`: what is known of devices, and where from.

mod document;
mod list;
mod one;

use fizeau::roofline::Device;

use crate::args::DevicesArgs;
use crate::commands::shared::hardware;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(crate) fn run(args: &DevicesArgs) -> Result<Exit, Fail> {
    let Some(name) = &args.device else {
        let all: Vec<&Device> = Device::all().iter().collect();
        let text = if args.json { document::of(&all)? } else { list::of(&all) };
        return say(text.trim_end()).map(|()| Exit::Good);
    };
    if args.toml {
        let text = match hardware::find(name, "devices")?.file {
            Some(own) => own,
            None => Device::file(name).named("--toml")?.to_owned(),
        };
        return say(text.trim_end()).map(|()| Exit::Good);
    }
    let device = hardware::find(name, "devices")?.device;
    let text = if args.json { document::of(&[&device])? } else { one::of(&device) };
    say(text.trim_end()).map(|()| Exit::Good)
}

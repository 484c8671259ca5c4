//! `fizeau devices`: what is known of devices, and where from.

use fizeau::report::Shown;
use fizeau::roofline::Device;

use crate::args::DevicesArgs;
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::{say, say_either};

const MORE: &str = "
fizeau devices NAME                each figure with its source and date
fizeau devices NAME --toml > FILE  a pattern for a device of your own, which
                                   --hardware FILE then takes";

pub(crate) fn run(args: &DevicesArgs) -> Result<Exit, Fail> {
    let Some(name) = &args.device else {
        let all: Vec<&Device> = Device::all().iter().collect();
        let text = || Shown(&all).text() + "\n" + MORE;
        return say_either(args.json, || Shown(&all).to_json(), text).map(|()| Exit::Good);
    };
    if args.toml {
        let text = match speed::find_device(name, "devices")?.file {
            Some(own) => own,
            None => Device::file(name).named("--toml")?.to_owned(),
        };
        return say(text.trim_end()).map(|()| Exit::Good);
    }
    let device = speed::find_device(name, "devices")?.device;
    say_either(args.json, || Shown(&vec![&device]).to_json(), || Shown(&device).text())?;
    Ok(Exit::Good)
}

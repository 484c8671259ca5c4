//! What a deployment does not do well, in words.

use super::Deployment;
use crate::model::{Dense, FeedForward, Mixer};
use crate::{Collective, Device, DeviceGroup, Model};
use fizeau_core::distinct;

impl Deployment {
    /// What is stored more than once, cut unevenly or left unused when `model` is spread so, a sentence each. None of it
    /// is an error.
    #[must_use]
    pub fn notes(&self, model: &Model) -> Vec<String> {
        let mut notes = Vec::new();
        self.note_caches(model, &mut notes);
        self.note_stages(model, &mut notes);
        self.note_experts(model, &mut notes);
        self.note_widths(model, &mut notes);
        notes
    }

    /// Where `device`'s data has no word about a link that is needed, which part of the communication is therefore left
    /// out of what is expected, a sentence each.
    #[must_use]
    pub fn link_notes(&self, device: &Device) -> Vec<String> {
        let ranks = u32::try_from(self.devices_per_replica()).unwrap_or(u32::MAX);
        // A group whose collectives were measured needs no link.
        let sums = [Collective::AllReduce, Collective::AllGather];
        if sums.iter().all(|of| device.measured(*of, ranks).is_some()) {
            return Vec::new();
        }
        let error = DeviceGroup::of(device, ranks).err();
        let note = |error| {
            format!("{}: {error}; expected times leave that communication out", device.name)
        };
        error.map(note).into_iter().collect()
    }

    fn note_caches(&self, model: &Model, notes: &mut Vec<String>) {
        let tensor = u64::from(self.tensor());
        let kv_heads = model.layers.iter().filter_map(|layers| match &layers.mixer {
            Mixer::Attention(attention) => Some(attention.kv_heads),
            _ => None,
        });
        for heads in distinct(kv_heads.filter(|heads| *heads < tensor)) {
            let times = match tensor / heads.max(1) {
                2 => "twice".to_owned(),
                times => format!("{times} times"),
            };
            let heads = plural(heads, "key-value head");
            notes.push(format!("{heads} on {tensor} ranks: each is stored {times}"));
        }
        let is_latent = |mixer: &Mixer| matches!(mixer, Mixer::Latent(_));
        if tensor > 1 && model.layers.iter().any(|layers| is_latent(&layers.mixer)) {
            notes.push(format!(
                "each of {tensor} ranks keeps the whole latent cache; attention data parallelism would divide it"
            ));
        }
    }

    fn note_stages(&self, model: &Model, notes: &mut Vec<String>) {
        let stages = u64::from(self.pipeline());
        let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
        if !layers.is_multiple_of(stages) {
            let (most, least) = (layers.div_ceil(stages), layers / stages);
            notes.push(format!(
                "{layers} layers in {stages} stages: {most} in some, {least} in others"
            ));
        }
    }

    fn note_experts(&self, model: &Model, notes: &mut Vec<String>) {
        let has_experts = |feed: &FeedForward| matches!(feed, FeedForward::Experts(_));
        let groups = self.expert_groups();
        if groups > 1 && !model.layers.iter().any(|layers| has_experts(&layers.feed_forward)) {
            notes.push(format!("the model has no experts to spread over {groups} groups"));
        }
    }

    /// Widths that engines pad, or refuse.
    fn note_widths(&self, model: &Model, notes: &mut Vec<String>) {
        let tensor = u64::from(self.tensor());
        let cut = self.devices_per_stage() / u64::from(self.expert_groups());
        let widths = model.layers.iter().flat_map(|layers| match &layers.feed_forward {
            FeedForward::Dense(dense) => [Some((dense, tensor)), None],
            FeedForward::Experts(experts) => {
                [Some((&experts.each, cut)), experts.shared.as_ref().map(|of| (of, tensor))]
            }
            FeedForward::None => [None, None],
        });
        let uneven = |(dense, ways): (&Dense, u64)| {
            (!dense.width.is_multiple_of(ways)).then_some((dense.width, ways))
        };
        for (width, ways) in distinct(widths.flatten().filter_map(uneven)) {
            notes.push(format!(
                "a feed-forward width of {width} cut {ways} ways is not even; engines pad it or refuse"
            ));
        }
    }
}

fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

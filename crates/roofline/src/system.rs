//! A model on devices: everything that a query does not change, computed once.

use fizeau_core::{Bytes, Seconds};

use crate::exchange::{Exchanges, PassCollective};
use crate::memory::Memory;
use crate::operator::{Operator, OperatorCut, operators};
use crate::pass::{Binding, Pass, PassTime};
use crate::pass_demand::{PassDemand, PassSums};
use crate::reach::ModelReaches;
use crate::routing::ExpertRouting;
use crate::serving::Serving;
use crate::timed::{ChoosingTokens, Timed};
use crate::totals::{OperatorShares, Totals};
use crate::{Deployment, DeploymentError, Device, Model, Overlap, Parameters, rates};

/// A model on a device, spread over a deployment, served in a certain way.
///
/// Making one costs some microseconds; each answer that it gives costs well under one and allocates nothing.
///
/// ```
/// use fizeau_roofline::{Deployment, Device, KnownModel, Pass, ContextSpan, System};
/// let model = KnownModel::named("llama-3.1-8b")?.model()?; // Llama-3.1-8B, bf16
/// let device = Device::named("h100-sxm")?.clone();
/// let system = System::new(model, device, Deployment::SINGLE)?;
///
/// // One sequence decodes: 15.009 GB of weights over 3.35 TB/s.
/// let fresh = system.bound_pass(&Pass::decode(1.0, ContextSpan::at(0.0))).total;
/// assert_eq!(format!("{:.3} ms", fresh.to_millis().get()), "4.480 ms");
/// assert_eq!(format!("{:.1} tokens/s", 1.0 / fresh.get()), "223.2 tokens/s");
///
/// // With 8,192 tokens in its cache, 1.074 GB more.
/// let long = system.bound_pass(&Pass::decode(1.0, ContextSpan::at(8192.0))).total;
/// assert_eq!(format!("{:.1} tokens/s", 1.0 / long.get()), "208.3 tokens/s");
///
/// // A prompt of 8,192 tokens: 1.280e14 FLOP at 989.5 TFLOP/s.
/// let prompt = system.bound_pass(&Pass::prefill(8192.0, 0.0)).total;
/// assert_eq!(format!("{:.1} ms", prompt.to_millis().get()), "129.3 ms");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// One token of larger models, with nothing in the cache:
///
/// ```
/// use fizeau_roofline::{Deployment, Device, KnownModel, Pass, PassTime, ContextSpan, System, WeightChoice};
///
/// type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
/// let step = |model: &str, weights: &str, device: &str, ranks: u32| -> Result<PassTime> {
///     let model = KnownModel::named(model)?.model()?;
///     let model = if weights.is_empty() { model } else { model.with_weights(&weights.parse()?) };
///     let deployment = Deployment::SINGLE.with_tensor(ranks)?;
///     let system = System::new(model, Device::named(device)?.clone(), deployment)?;
///     Ok(system.bound_pass(&Pass::decode(1.0, ContextSpan::at(0.0))))
/// };
/// let printed = |pass: PassTime| {
///     format!("{:.3} ms, {:.1} tokens/s", pass.total.to_millis().get(), 1.0 / pass.total.get())
/// };
///
/// // Llama-3.1-70B with every matrix in fp8, the LM head too: 69.50 GB over 4.917 TB/s.
/// let large = step("llama-3.1-70b", "fp8,head=fp8", "h200-sxm", 1)?.total;
/// assert_eq!(format!("{:.2} ms, {:.2} tokens/s", large.to_millis().get(), 1.0 / large.get()),
///     "14.13 ms, 70.75 tokens/s");
///
/// // gpt-oss-120b, four experts of 128 in MXFP4, the rest in bf16: 5.000 GB over 3.35 TB/s.
/// let sparse = step("gpt-oss-120b", "", "h100-sxm", 1)?;
/// assert_eq!(printed(sparse), "1.493 ms, 669.9 tokens/s");
///
/// // DeepSeek-V3 with every matrix but the LM head in fp8, on eight devices: 37.55 GB over 8 times 4.917 TB/s.
/// let fp8 = "attention=fp8,dense=fp8,experts=fp8,shared_experts=fp8,router=fp8,head=bf16";
/// let spread = step("deepseek-v3", fp8, "h200-sxm", 8)?.total;
/// assert_eq!(format!("{:.3} ms, {:.0} tokens/s", spread.to_millis().get(), 1.0 / spread.get()),
///     "0.955 ms, 1047 tokens/s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct System {
    model: Model,
    device: Device,
    deployment: Deployment,
    serving: Serving,
    routing: ExpertRouting,
    parameters: Parameters,
    reaches: ModelReaches,
    /// As engines cut the work: for the expectation.
    real: Vec<Timed>,
    /// The same, for an engine that overlaps them.
    shares: OperatorShares,
    /// As evenly as arithmetic allows: for the bound.
    ideal: Totals,
    ideal_operators: Vec<Timed>,
    memory: Memory,
    exchanges: Exchanges,
    /// What holds whatever the load.
    notes: Vec<String>,
    kv_bytes_per_token: Bytes,
}

impl System {
    /// Prepares `model` on `device` in `deployment`.
    ///
    /// # Errors
    /// If the model cannot be spread so.
    pub fn new(
        model: Model,
        device: Device,
        deployment: Deployment,
    ) -> Result<Self, DeploymentError> {
        deployment.check(&model)?;
        Ok(Self::prepared(model, device, deployment))
    }

    /// Of a model that can be spread so.
    fn prepared(model: Model, device: Device, deployment: Deployment) -> Self {
        let reaches = ModelReaches::of(&model);
        let ideal = operators(&model, &deployment, OperatorCut::Ideal);
        // Each token reads so much again, whatever it has in its cache.
        let device = device.reading(Bytes::new(ideal.iter().map(Operator::least_read).sum()));
        let real = timed(&model, &device, &deployment, ExpertRouting::Expected);
        let ideal_operators: Vec<Timed> =
            ideal.into_iter().map(|operator| Timed::ideal(operator, &device)).collect();
        Self {
            shares: OperatorShares::new(&real, &reaches),
            real,
            ideal: Totals::new(ideal_operators.iter(), &reaches, OperatorCut::Ideal),
            ideal_operators,
            memory: Memory::new(&model, &deployment, &reaches),
            exchanges: Exchanges::new(&model, &device, &deployment),
            serving: Serving::default(),
            routing: ExpertRouting::Expected,
            parameters: model.parameters(),
            notes: notes(&model, &device, &deployment),
            kv_bytes_per_token: model.kv_bytes_per_token(),
            reaches,
            model,
            device,
            deployment,
        }
    }

    /// The same system with the engine's settings as `serving` has them.
    #[must_use]
    pub fn with_serving(self, serving: Serving) -> Self {
        Self { serving, ..self }
    }

    /// The same system with the expectation's tokens choosing experts as `routing` says.
    #[must_use]
    pub fn with_routing(self, routing: ExpertRouting) -> Self {
        if routing == self.routing {
            return self;
        }
        let real = timed(&self.model, &self.device, &self.deployment, routing);
        let shares = OperatorShares::new(&real, &self.reaches);
        Self { real, shares, routing, ..self }
    }

    /// The same system, whose bound reads the fewest experts that so many tokens of a pass choose each for themselves, all equally
    /// often; none where that is no more than the bound reads anyway, as of a model without experts. For passes of at most so many
    /// tokens it holds as a mean. On other devices ([`System::with_device`]) the tokens agree again.
    #[must_use]
    pub fn evenly_routed(&self, tokens: f64) -> Option<Self> {
        self.evenly_chosen(ChoosingTokens::decoded(tokens))
    }

    /// [`System::evenly_routed`] for the pass over a prompt of which so many tokens are computed: layers of which only its last
    /// position is needed read the experts of that one alone.
    #[must_use]
    pub fn evenly_routed_prompt(&self, tokens: f64) -> Option<Self> {
        self.evenly_chosen(ChoosingTokens::prompt(tokens))
    }

    fn evenly_chosen(&self, tokens: ChoosingTokens) -> Option<Self> {
        let ideal = self.evenly_routed_totals(tokens)?;
        let ideal_operators =
            self.ideal_operators.iter().map(|timed| timed.evenly_routed(tokens)).collect();
        Some(Self { ideal, ideal_operators, ..self.clone() })
    }

    /// The bound's passes then.
    pub(crate) fn evenly_routed_totals(&self, tokens: ChoosingTokens) -> Option<Totals> {
        let read_more: f64 = self.ideal_operators.iter().map(|timed| timed.read_more(tokens)).sum();
        (read_more > 0.0).then(|| self.ideal.clone().reading_more(read_more))
    }

    /// The same system on other devices.
    #[must_use]
    pub fn with_device(&self, device: Device) -> Self {
        let other = Self::prepared(self.model.clone(), device, self.deployment);
        other.with_serving(self.serving).with_routing(self.routing)
    }

    /// The same model, devices and settings, but spread over as many devices and stages as `deployment` has.
    pub(crate) fn spread(&self, deployment: Deployment) -> Result<Self, DeploymentError> {
        let other = Self::new(
            self.model.clone(),
            self.device.clone(),
            deployment.with_ways_of(&self.deployment),
        )?;
        Ok(other.with_serving(self.serving).with_routing(self.routing))
    }

    /// The model.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The device, one of those deployed.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// How the model is spread.
    #[must_use]
    pub const fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The engine's settings.
    #[must_use]
    pub const fn serving(&self) -> &Serving {
        &self.serving
    }

    /// How the expectation's tokens choose experts.
    #[must_use]
    pub const fn routing(&self) -> ExpertRouting {
        self.routing
    }

    /// The model's counts of parameters, as [`Model::parameters`] has them, counted once.
    pub(crate) const fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// What the reader should know of model and device whatever the load, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// As [`Model::kv_bytes_per_token`], counted once.
    pub(crate) const fn kv_bytes_per_token(&self) -> Bytes {
        self.kv_bytes_per_token
    }

    /// What no engine can undercut: the busiest resource of the stage's devices with the work spread perfectly
    /// evenly, all overlapped, all tokens choosing the same experts, nothing spent on communication.
    ///
    /// With several pipeline stages `pass` is one micro-batch and the time is that of all stages, one after the
    /// other, as each token has to take them.
    #[must_use]
    pub fn bound_pass(&self, pass: &Pass) -> PassTime {
        self.ideal.time(pass)
    }

    /// [`System::bound_pass`] for a batch of which only sums are known. Where layers have windows, no batch with these sums can undercut it
    /// with a [`PassSums::spread`] alone.
    #[must_use]
    pub fn bound_sums(&self, sums: &PassSums) -> PassTime {
        self.ideal.time(sums)
    }

    /// The least time of a pass of which the batch of one attention group alone is known, whatever the other groups have:
    /// [`System::bound_sums`] of that batch, spread over the devices of all groups. But its caches, and the attention to them, are on
    /// those of its own group.
    ///
    /// ```
    /// use fizeau_roofline::{Deployment, Device, KnownModel, PassSums, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let device = Device::named("h100-sxm")?.clone();
    /// let system = System::new(model, device, Deployment::SINGLE.with_attention_groups(4)?)?;
    /// // A thousand sequences of 8,192 tokens each: what takes longest are the caches, on one of the four devices.
    /// let batch = PassSums { decoding: 1_000.0, context: 8_192e3, ..PassSums::default() };
    /// let spread = system.bound_sums(&batch);
    /// assert_eq!(system.bound_group(&batch), spread.cache * 4.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bound_group(&self, batch: &PassSums) -> Seconds {
        let groups = f64::from(self.deployment.attention_groups());
        let spread = self.bound_sums(batch);
        spread.total.max(spread.cache * groups).max(spread.attention * groups)
    }

    /// What the roofline model expects: operator by operator, each the longer of its memory and its arithmetic,
    /// experts as independent tokens pick them, and communication not overlapped but where the deployment says so
    /// ([`Overlap`]).
    ///
    /// Never below [`System::bound_pass`].
    #[must_use]
    pub fn expected_pass(&self, pass: &Pass) -> PassTime {
        let one_by_one = self.with_exchanges(self.operators_of(pass), pass);
        match self.deployment.overlap() {
            Overlap::TwoBatches => self.in_halves(pass, one_by_one),
            _ => one_by_one,
        }
    }

    /// [`System::expected_pass`] for a batch of which only sums are known, nothing overlapped.
    #[must_use]
    pub fn expected_sums(&self, sums: &PassSums) -> PassTime {
        self.with_exchanges(self.operators_of(sums), &sums.as_pass())
    }

    /// The parts of [`System::expected_sums`] but for activations, which are taken to stay on chip; in the total all memory
    /// overlaps with all arithmetic, and communication comes on top. What a simulated engine adds its overheads to.
    #[must_use]
    pub fn overlapped_sums(&self, sums: &PassSums) -> PassTime {
        let parts = self.shares.time(sums);
        let pass = PassTime { binding: Binding::default(), ..parts };
        if self.exchanges.is_empty() { pass } else { self.with_exchanges(pass, &sums.as_pass()) }
    }

    /// Where layers stop reading more of a context, in tokens, in no order: their windows, and what indexers choose. While a batch
    /// decodes and its mean context stays between two of them, each part of its time is a straight line in [`PassSums::context`].
    pub fn windows(&self) -> impl Iterator<Item = u64> {
        self.reaches.iter().filter(|reach| reach.seen.is_finite()).map(|reach| reach.seen as u64)
    }

    /// The collectives that an expectation of `pass` counts, those first that take longest.
    ///
    /// ```
    /// use fizeau_roofline::{Collective, ContextSpan, Deployment, Device, KnownModel, Pass, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let device = Device::named("h100-sxm")?.clone();
    /// let system = System::new(model, device, Deployment::SINGLE.with_tensor(8)?)?;
    /// // 64 sequences decode: 8,192 bytes of each are summed twice a layer, and once for the embedding.
    /// let told = system.collectives_of(&Pass::decode(64.0, ContextSpan::at(1000.0)));
    /// assert_eq!(told[0].collective, Collective::AllReduce);
    /// assert_eq!((told[0].times, told[0].bytes.get()), (65.0, 524_288.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn collectives_of(&self, pass: &Pass) -> Vec<PassCollective> {
        let mut told = self.exchanges.listed(pass);
        told.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
        told
    }

    pub(crate) fn with_exchanges(&self, mut sum: PassTime, pass: &Pass) -> PassTime {
        self.exchanges.add_to(&mut sum, pass);
        (sum.binding.link, sum.binding.hops) = (sum.link, sum.hops);
        sum
    }

    /// Two halves of the batch, of which one talks while the other computes, if that is faster.
    fn in_halves(&self, pass: &Pass, one_by_one: PassTime) -> PassTime {
        let half = Pass { decoding: pass.decoding / 2.0, prompts: pass.prompts / 2.0, ..*pass };
        let computing = self.operators_of(&half);
        let mut both = self.with_exchanges(computing, &half).scaled(2.0);
        let talks = both.communication() > computing.total * 2.0;
        both.total = both.communication().max(computing.total * 2.0);
        if both.total >= one_by_one.total {
            return one_by_one;
        }
        both.binding = if talks {
            Binding { link: both.link, hops: both.hops, ..Binding::default() }
        } else {
            Binding::default().and(2.0, computing.binding)
        };
        both
    }

    pub(crate) fn operators_of<C: PassDemand>(&self, demand: &C) -> PassTime {
        let mut sum = PassTime::default();
        for timed in &self.real {
            timed.add_to(&mut sum, demand);
        }
        sum
    }

    pub(crate) const fn reaches(&self) -> &ModelReaches {
        &self.reaches
    }

    pub(crate) const fn ideal(&self) -> &Totals {
        &self.ideal
    }

    /// All operators, as engines cut them and as evenly as can be, one beside the other.
    pub(crate) fn operators(&self) -> (&[Timed], &[Timed]) {
        (&self.real, &self.ideal_operators)
    }

    pub(crate) const fn memory_account(&self) -> &Memory {
        &self.memory
    }
}

/// What the model's config left open, what the device lacks, and what the deployment does not do well.
fn notes(model: &Model, device: &Device, deployment: &Deployment) -> Vec<String> {
    let mut notes = model.warnings.to_vec();
    if model.has_unsaid_states() {
        notes.push(
            "the config does not say how states are stored: the expectation assumes 32 \
            bits, the bound 16"
                .into(),
        );
    }
    notes.extend(rates::notes(model, device));
    notes.extend(rates::disagreements(model, device));
    notes.extend(device.note.as_deref().map(|note| format!("{}: {note}", device.name)));
    notes.extend(device.cache_note());
    notes.extend(model.cache_note());
    notes.extend(deployment.notes(model));
    notes.extend(deployment.link_notes(device));
    notes
}

fn timed(
    model: &Model,
    device: &Device,
    deployment: &Deployment,
    routing: ExpertRouting,
) -> Vec<Timed> {
    let each = operators(model, deployment, OperatorCut::Real).into_iter();
    each.map(|operator| Timed::real(operator, device, routing)).collect()
}

//! What collectives take.

use fizeau_core::{Bytes, BytesPerSec, Seconds};
use fizeau_roofline::{
    Algorithm, Collective, CollectiveTime, Device, DeviceGroup, DeviceGroupError, Link,
    ReductionSite, Topology,
};
use proptest::prelude::*;

use crate::fixed;

fn link(gb_per_s: f64, micros: f64, topology: Topology) -> Link {
    let (bandwidth, latency) = (BytesPerSec::new(gb_per_s * 1e9), Seconds::new(micros * 1e-6));
    Link { bandwidth, latency, topology }
}

fn switch(domain: u32, reduces: ReductionSite) -> Topology {
    Topology::Switch { domain, reduces }
}

const NETWORK: Topology =
    Topology::Switch { domain: u32::MAX, reduces: ReductionSite::AtEndpoints };

fn topologies() -> impl Strategy<Value = Topology> {
    prop_oneof![
        (2_u32..=72).prop_map(|domain| switch(domain, ReductionSite::AtEndpoints)),
        (2_u32..=72).prop_map(|domain| switch(domain, ReductionSite::InSwitch)),
        (2_u32..=16).prop_map(|domain| Topology::Mesh { domain, pair: None }),
        (1_u8..=6).prop_map(|dimensions| Topology::Torus { dimensions }),
        Just(Topology::Pcie),
        (1.0..900.0, 2_u32..=4).prop_map(|(pair, cards)| {
            Topology::Bridge { pair: BytesPerSec::new(pair * 1e9), cards }
        }),
    ]
}

fn links() -> impl Strategy<Value = Link> {
    (1.0..2000.0, 0.1..20.0, topologies()).prop_map(|(gb, micros, of)| link(gb, micros, of))
}

fn collectives() -> impl Strategy<Value = Collective> {
    proptest::sample::select(Collective::ALL.to_vec())
}

fn sizes() -> impl Strategy<Value = f64> {
    (0.0_f64..40.0).prop_map(f64::exp2)
}

fn close(time: Seconds, expected: f64) -> bool {
    (time.get() - expected).abs() <= 1e-12 * expected.abs()
}

fn best(collective: Collective, ranks: u32, bytes: f64, on: &Link) -> Option<CollectiveTime> {
    collective.best(ranks, Bytes::new(bytes), on).map(|(_, time)| time)
}

/// The formulas, symbol by symbol.
#[test]
fn a_switch_is_the_textbook() {
    let on = link(450.0, 1.5, switch(8, ReductionSite::InSwitch));
    let (bytes, a) = (Bytes::new(1e6), 1.5e-6);
    let once = 1e6 / 450e9;
    let at = |collective: Collective, algorithm, ranks| {
        collective.time(algorithm, ranks, bytes, &on).unwrap()
    };
    for ranks in 2..=8 {
        let n = f64::from(ranks);
        let others = (n - 1.0) / n;
        let expected = [
            (Collective::AllReduce, Algorithm::Ring, 2.0 * others, 2.0 * (n - 1.0)),
            (Collective::AllReduce, Algorithm::OneShot, n - 1.0, 1.0),
            (Collective::AllReduce, Algorithm::TwoShot, 2.0 * others, 2.0),
            (Collective::AllReduce, Algorithm::InSwitch, 1.0 + 1.0 / n, 2.0),
            (Collective::AllGather, Algorithm::Ring, others, n - 1.0),
            (Collective::AllGather, Algorithm::OneShot, others, 1.0),
            (Collective::ReduceScatter, Algorithm::Ring, others, n - 1.0),
            (Collective::AllToAll, Algorithm::OneShot, others, 1.0),
            (Collective::SendReceive, Algorithm::Ring, 1.0, 1.0),
        ];
        for (collective, algorithm, sizes, hops) in expected {
            let time = at(collective, algorithm, ranks);
            assert!(close(time.link, sizes * once), "{collective} {algorithm} {ranks}: {time:?}");
            assert!(close(time.hops, hops * a), "{collective} {algorithm} {ranks}: {time:?}");
        }
    }
}

/// `nccl-tests` counts an all-reduce's bandwidth so that a ring on an idle link shows the link: 448 GB/s for eight MI300X, and
/// 64 for two, which are joined by one link of seven. Measured: 313 and 47.7 (ml-engineering, network chapter).
#[test]
fn a_mesh_gives_two_ranks_one_link() {
    let xgmi = link(448.0, 2.0, Topology::Mesh { domain: 8, pair: None });
    for (ranks, bus) in [(8, 448e9), (4, 192e9), (2, 64e9)] {
        let ring =
            Collective::AllReduce.time(Algorithm::Ring, ranks, Bytes::new(1e9), &xgmi).unwrap();
        let n = f64::from(ranks);
        let shown = 1e9 / ring.link.get() * 2.0 * (n - 1.0) / n;
        assert!((shown / bus - 1.0).abs() < 1e-12, "{ranks}: {shown}");
    }
    // A neighbour is reached by one link however many there are.
    let send = best(Collective::SendReceive, 8, 64e9, &xgmi).unwrap();
    assert!(close(send.link, 1.0), "{send:?}");
}

/// A sum made in the switch shows more bandwidth than a link has, as `nccl-tests` counts it.
#[test]
fn sums_in_the_switch_beat_the_wire() {
    let nvlink = link(450.0, 1.0, switch(8, ReductionSite::InSwitch));
    let (algorithm, time) = Collective::AllReduce.best(8, Bytes::new(16e9), &nvlink).unwrap();
    assert_eq!(algorithm, Algorithm::InSwitch);
    let shown = 16e9 / time.link.get() * 1.75;
    assert!(shown > 480e9, "{shown}");
}

/// What others measured with `nccl-tests` and `rccl-tests` on large messages (ml-engineering, network chapter): the
/// table's links are never beaten, and come within reach.
#[test]
fn measured_bandwidth_is_below_the_link_and_not_far() {
    for (name, ranks, collective, shown) in [
        ("h200-sxm", 8, Collective::AllReduce, 480.0),
        ("h200-sxm", 8, Collective::AllGather, 361.0),
        ("h200-sxm", 8, Collective::ReduceScatter, 363.0),
        ("b200-sxm", 8, Collective::AllReduce, 846.0),
        ("mi300x", 8, Collective::AllReduce, 313.0),
        ("mi300x", 2, Collective::AllReduce, 47.7),
    ] {
        let group = DeviceGroup::of(Device::named(name).unwrap(), ranks).unwrap();
        let n = f64::from(ranks);
        let moved = if collective == Collective::AllReduce { 2.0 } else { 1.0 } * (n - 1.0) / n;
        let best = 16e9 / group.time(collective, Bytes::new(16e9)).total().get() * moved / 1e9;
        assert!((0.55..1.0).contains(&(shown / best)), "{name} {collective}: {shown} of {best}");
    }
}

#[test]
fn every_device_of_the_table_has_times_or_says_why_not() {
    for device in Device::all() {
        for ranks in [1, 2, 4, 8, 64] {
            match DeviceGroup::of(device, ranks) {
                Ok(group) => {
                    let time = group.time(Collective::AllReduce, Bytes::new(1e6)).total().get();
                    assert!(time.is_finite() && (time > 0.0) == (ranks > 1), "{}", device.name);
                }
                Err(DeviceGroupError::NoLink { .. }) => assert!(device.link().is_none()),
                Err(DeviceGroupError::NoNetwork { domain, .. }) => {
                    assert!(device.network().is_none() && domain < ranks);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_small_message_takes_the_fewest_hops() {
    let nvlink = link(450.0, 1.0, switch(8, ReductionSite::AtEndpoints));
    for (bytes, algorithm) in
        [(16e3, Algorithm::OneShot), (1e6, Algorithm::TwoShot), (1e9, Algorithm::TwoShot)]
    {
        let chosen = Collective::AllReduce.best(8, Bytes::new(bytes), &nvlink).unwrap().0;
        assert_eq!(chosen, algorithm, "{bytes}");
    }
}

/// 2 x 2 of a 2-D torus: half of each device's four links lead out of the group.
#[test]
fn a_torus_uses_the_sides_of_the_group() {
    let ici = link(400.0, 1.0, Topology::Torus { dimensions: 2 });
    let gather = |ranks| best(Collective::AllGather, ranks, 1e9, &ici).unwrap();
    assert!(close(gather(4).link, 0.75 * 1e9 / 200e9), "{:?}", gather(4));
    assert!(close(gather(4).hops, 2e-6));
    // 4 x 4: all links, two hops along each side.
    assert!(close(gather(16).link, 15.0 / 16.0 * 1e9 / 400e9), "{:?}", gather(16));
    assert!(close(gather(16).hops, 4e-6));
    // A ring of 4 both ways: a message goes one hop on average ("How to Scale Your Model": a quarter of the all-gather).
    let ring = link(200.0, 1.0, Topology::Torus { dimensions: 1 });
    let all_to_all = best(Collective::AllToAll, 4, 1e9, &ring).unwrap();
    assert!(close(all_to_all.link, 1e9 / 200e9), "{all_to_all:?}");
}

/// Sides of 2 have one link along them and longer ones two, of `2 d` links a device; sides of a group are as long as each other as its
/// number allows. A message of an all-to-all goes `n/4` hops along a side of even length and `(n^2 - 1)/(4 n)` along another ("How to Scale
/// Your Model").
#[test]
fn groups_in_a_torus_by_hand() {
    use Collective::{AllGather, AllReduce, AllToAll, ReduceScatter, SendReceive};
    for (dimensions, ranks, collective, share_of_all_links, hops) in [
        // 2 x 2 x 2: three of six links.
        (3, 8, AllGather, 7.0 / 8.0 * 6.0 / 3.0, 3.0),
        (3, 8, AllReduce, 2.0 * 7.0 / 8.0 * 6.0 / 3.0, 6.0),
        // 3 x 4: all four links; one hop along a side of three, two along one of four.
        (2, 12, ReduceScatter, 11.0 / 12.0, 3.0),
        // Along the side of three 2/3 hops on average, along the other one; each over two links of four.
        (2, 12, AllToAll, 1.0 / 2.0 * 4.0, 3.0),
        // 1 x 7, a prime: (49 - 1)/28 hops over two links.
        (2, 7, AllToAll, 48.0 / 28.0 / 2.0 * 4.0, 3.0),
        (2, 7, AllGather, 6.0 / 7.0 * 4.0 / 2.0, 3.0),
        (1, 5, AllToAll, 24.0 / 20.0 / 2.0 * 2.0, 2.0),
        (1, 2, AllToAll, 0.5 * 2.0, 1.0),
        (3, 64, AllGather, 63.0 / 64.0, 6.0),
        // A neighbour is at the end of one link.
        (3, 8, SendReceive, 6.0, 1.0),
    ] {
        let ici = link(600.0, 1.0, Topology::Torus { dimensions });
        let time = best(collective, ranks, 1e9, &ici).unwrap();
        let what = format!("{collective} of {ranks} in {dimensions}: {time:?}");
        assert!(close(time.link, share_of_all_links * 1e9 / 600e9), "{what}");
        assert!(close(time.hops, hops * 1e-6), "{what}");
    }
}

#[test]
fn bridges_join_pairs_only() {
    let bridge = Topology::Bridge { pair: BytesPerSec::new(300e9), cards: 2 };
    let card = link(64.0, 3.0, bridge);
    let pcie = link(64.0, 3.0, Topology::Pcie);
    let time = |link: &Link, ranks| {
        let group = DeviceGroup::new(ranks, Some(link), None).unwrap();
        group.time(Collective::AllReduce, Bytes::new(1e9)).link.get()
    };
    assert!((time(&card, 2) - 1e9 / 300e9).abs() < 1e-12);
    assert!((time(&pcie, 2) - 1e9 / 64e9).abs() < 1e-12);
    // Half of the data crosses PCIe, once each way, after the pairs have met.
    assert!((time(&card, 4) - (1e9 / 300e9 + 0.5e9 / 64e9)).abs() < 1e-12);
    assert!(time(&card, 4) < time(&pcie, 4));
}

#[test]
fn the_cards_of_a_bridge_and_of_two_dies() {
    let time = |name, ranks| {
        let device = Device::named(name).unwrap();
        let time =
            DeviceGroup::of(device, ranks).unwrap().time(Collective::AllReduce, Bytes::new(1e9));
        1e9 / 1e9 / time.link.get()
    };
    // Four H200 NVL on one bridge send their part of a ring's 3/2 at 450 GB/s.
    assert!((time("h200-nvl", 4) - 450.0 / 1.5).abs() < 1e-6, "{}", time("h200-nvl", 4));
    assert!((time("h200-nvl", 2) - 450.0).abs() < 1e-6);
    // The dies of an MI250X; two of other cards would have a seventh of 175 GB/s.
    assert!((time("mi250x", 2) - 200.0).abs() < 1e-6);
    assert!(time("mi250x", 4) < 175.0);
    // Two DGX Spark have a network between them and nothing else.
    assert!((time("dgx-spark", 2) - 25.0).abs() < 1e-6);
}

#[test]
fn no_link_is_no_guess() {
    let nvlink = link(450.0, 1.0, switch(8, ReductionSite::InSwitch));
    assert_eq!(DeviceGroup::new(2, None, None), Err(DeviceGroupError::NoLink { ranks: 2 }));
    let beyond = DeviceGroup::new(16, Some(&nvlink), None).unwrap_err();
    assert_eq!(beyond, DeviceGroupError::NoNetwork { ranks: 16, domain: 8 });
    assert!(
        beyond
            .to_string()
            .contains("a link joins only 8 of them, and no network that joins the rest is known"),
        "{beyond}"
    );
    // Two machines of eight are as far as this network goes.
    let pair = link(50.0, 5.0, switch(2, ReductionSite::AtEndpoints));
    assert!(DeviceGroup::new(16, Some(&nvlink), Some(&pair)).is_ok());
    assert!(DeviceGroup::new(17, Some(&nvlink), Some(&pair)).is_err());
    assert!(DeviceGroup::new(1, None, None).is_ok());
    assert_eq!(Collective::AllReduce.best(9, Bytes::new(1.0), &nvlink), None);
    assert_eq!(Collective::AllGather.time(Algorithm::TwoShot, 4, Bytes::new(1.0), &nvlink), None);
}

/// Two machines of eight: within at 450 GB/s, across at 50 GB/s a device.
#[test]
fn two_levels_are_scatter_reduce_gather() {
    let nvlink = link(450.0, 1.0, switch(8, ReductionSite::AtEndpoints));
    let network = link(50.0, 5.0, NETWORK);
    let group = DeviceGroup::new(16, Some(&nvlink), Some(&network)).unwrap();
    assert_eq!((group.ranks_within(), group.domains()), (8, 2));
    let time = group.time(Collective::AllReduce, Bytes::new(1e9));
    // Across, one shot and two are alike in bytes for two, and one is fewer hops.
    let link = 2.0 * 7.0 / 8.0 * 1e9 / 450e9 + 1e9 / 8.0 / 50e9;
    assert!(close(time.link, link), "{time:?}");
    assert!((time.hops.get() - 7e-6).abs() < 1e-12, "{time:?}");
    // Each of the others crosses the network once, and the link once.
    for (collective, within, across, hops) in [
        (Collective::AllGather, 7.0 / 8.0, 1.0 / 8.0 / 2.0, 6.0),
        (Collective::ReduceScatter, 7.0 / 8.0, 1.0 / 8.0 / 2.0, 6.0),
        (Collective::AllToAll, 7.0 / 8.0, 1.0 / 2.0, 6.0),
        (Collective::SendReceive, 0.0, 1.0, 5.0),
    ] {
        let time = group.time(collective, Bytes::new(1e9));
        let link = within * 1e9 / 450e9 + across * 1e9 / 50e9;
        assert!((time.link.get() / link - 1.0).abs() < 1e-12, "{collective}: {time:?}");
        assert!((time.hops.get() - hops * 1e-6).abs() < 1e-12, "{collective}: {time:?}");
    }
    // As many in each machine: twelve are twice six.
    let twelve = DeviceGroup::new(12, Some(&nvlink), Some(&network)).unwrap();
    assert_eq!((twelve.ranks_within(), twelve.domains()), (6, 2));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_ring_is_what_nccl_tests_count(ranks in 2_u32..=72, bytes in sizes(), gb in 1.0..2000.0) {
        let on = link(gb, 1.0, switch(72, ReductionSite::AtEndpoints));
        let time = Collective::AllReduce.time(Algorithm::Ring, ranks, Bytes::new(bytes), &on);
        let n = f64::from(ranks);
        let expected = 2.0 * (n - 1.0) / n * bytes / (gb * 1e9);
        prop_assert!(close(time.unwrap().link, expected));
    }

    #[test]
    fn more_bytes_and_slower_hops_take_longer(
        collective in collectives(), on in links(), ranks in 2_u32..=64, bytes in sizes(), more in 1.0..100.0
    ) {
        let Some(time) = best(collective, ranks, bytes, &on) else { return Ok(()) };
        let larger = best(collective, ranks, bytes * more, &on).unwrap();
        prop_assert!(larger.total() >= time.total());
        let slower = Link { latency: on.latency * more, ..on };
        prop_assert!(best(collective, ranks, bytes, &slower).unwrap().total() >= time.total());
        prop_assert!(time.total().get().is_finite() && time.total().get() > 0.0);
    }

    #[test]
    fn more_bandwidth_is_never_slower(
        collective in collectives(), on in links(), ranks in 1_u32..=64, bytes in sizes(), more in 1.0..10.0
    ) {
        let Some(time) = best(collective, ranks, bytes, &on) else { return Ok(()) };
        let faster = Link { bandwidth: on.bandwidth * more, ..on };
        let faster = best(collective, ranks, bytes, &faster).unwrap();
        prop_assert!(faster.total() <= time.total());
    }

    #[test]
    fn the_best_is_as_good_as_each(
        collective in collectives(), on in links(), ranks in 1_u32..=64, bytes in sizes()
    ) {
        let Some((chosen, time)) = collective.best(ranks, Bytes::new(bytes), &on) else { return Ok(()) };
        let of = |algorithm| collective.time(algorithm, ranks, Bytes::new(bytes), &on);
        prop_assert_eq!(of(chosen), Some(time));
        for other in Algorithm::ALL.into_iter().filter_map(of) {
            prop_assert!(time.total() <= other.total());
        }
    }

    #[test]
    fn one_rank_takes_no_time(collective in collectives(), on in links(), bytes in sizes()) {
        prop_assert_eq!(best(collective, 1, bytes, &on), Some(CollectiveTime::default()));
        let alone = DeviceGroup::new(1, Some(&on), None).unwrap();
        prop_assert_eq!(alone.time(collective, Bytes::new(bytes)), CollectiveTime::default());
    }

    /// However near the network comes to the link, two levels are not faster than one would be.
    #[test]
    fn two_levels_are_never_faster_than_one(
        collective in collectives(),
        within in 2_u32..=16,
        domains in 2_u32..=16,
        gb in 1.0..1000.0,
        share in 0.01..1.0,
        bytes in sizes(),
    ) {
        prop_assume!(collective != Collective::SendReceive);
        let near = link(gb, 1.0, switch(within, ReductionSite::AtEndpoints));
        let far = link(gb * share, 1.0 / share, NETWORK);
        let both = DeviceGroup::new(within * domains, Some(&near), Some(&far)).unwrap();
        let two = both.time(collective, Bytes::new(bytes)).total();
        let ideal = Link { topology: NETWORK, ..near };
        let one = best(collective, within * domains, bytes, &ideal).unwrap().total();
        prop_assert!(two.get() >= one.get() * (1.0 - 1e-12), "{two:?} {one:?}");
    }

    /// A group on one link is what the link gives it.
    #[test]
    fn one_level_is_the_link(collective in collectives(), on in links(), ranks in 1_u32..=64, bytes in sizes()) {
        prop_assume!(!matches!(on.topology, Topology::Bridge { .. }));
        let Some(time) = best(collective, ranks, bytes, &on) else { return Ok(()) };
        let group = DeviceGroup::new(ranks, Some(&on), None).unwrap();
        prop_assert_eq!(group.time(collective, Bytes::new(bytes)), time);
    }
}

//! Kernels that stream nothing: following pointers, doing nothing, waiting.

use super::writer::{Class, Passed, Writer};

/// `chase(place, turns)`: one thread follows pointers from the one that lies in `place`, eight a turn, and leaves there where it
/// arrived: the next launch goes on from it, and no line is seen again before the cycle is at its end.
pub(in crate::cuda) fn chase() -> String {
    let mut w = Writer::new("chase", &[("place", Passed::Long), ("turns", Passed::Long)]);
    let place = w.address("place");
    let turns = w.parameter("turns");
    let at = w.register(Class::Long);
    let done = w.register(Class::Predicate);
    let turn = w.label();
    w.put(format_args!("ld.global.u64 {at}, [{place}]"));
    w.place(turn);
    for _ in 0..CHASE_HOPS {
        w.put(format_args!("ld.global.u64 {at}, [{at}]"));
    }
    w.put(format_args!("sub.s64 {turns}, {turns}, 1"));
    w.put(format_args!("setp.ne.s64 {done}, {turns}, 0"));
    w.put(format_args!("@{done} bra {turn}"));
    w.put(format_args!("st.global.u64 [{place}], {at}"));
    w.finish()
}

/// Loads of one turn of [`chase`].
pub(in crate::cuda) const CHASE_HOPS: u64 = 8;

/// `empty()`: what a launch costs.
pub(in crate::cuda) fn empty() -> String {
    Writer::new("empty", &[("nothing", Passed::Long)]).finish()
}

/// `spin(out, cycles)`: one thread waits until so many cycles of its multiprocessor have gone by, and leaves how many it were. Against
/// the time that events give it tells the clock.
pub(in crate::cuda) fn spin() -> String {
    let mut w = Writer::new("spin", &[("out", Passed::Long), ("cycles", Passed::Long)]);
    let (out, cycles) = (w.address("out"), w.parameter("cycles"));
    let [begun, now] = w.registers(Class::Long);
    let waits = w.register(Class::Predicate);
    let turn = w.label();
    w.put(format_args!("mov.u64 {begun}, %clock64"));
    w.place(turn);
    w.put(format_args!("mov.u64 {now}, %clock64"));
    w.put(format_args!("sub.s64 {now}, {now}, {begun}"));
    w.put(format_args!("setp.lt.s64 {waits}, {now}, {cycles}"));
    w.put(format_args!("@{waits} bra {turn}"));
    w.put(format_args!("st.global.u64 [{out}], {now}"));
    w.finish()
}

//! Which types may move between threads is part of the API.

use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Secret, Target};

const fn is_send<T: Send>() {}

/// Two implementations of `some` fit a type that is `Send`, and only one fits another: this compiles for that one alone.
trait NotSend<How> {
    fn some() {}
}

struct IsSend;

impl<T: ?Sized> NotSend<()> for T {}
impl<T: ?Sized + Send> NotSend<IsSend> for T {}

#[test]
fn a_target_moves_between_threads_and_a_transport_does_not() {
    is_send::<Target>();
    is_send::<Secret>();
    is_send::<Backend>();
    is_send::<MonotonicClock>();
    <HttpTransport<MonotonicClock> as NotSend<_>>::some();
}

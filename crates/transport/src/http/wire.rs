//! One connection and hyper's machinery on it.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use fizeau_core::Clock;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::connect::why;
use super::socket::{IoLog, Stamped};

/// A connection that is driven by whoever uses it, in the same task: no hand-over to another task stands between
/// the arrival of bytes and the reading of them.
pub(super) struct Wire<C: Clock>(Box<Inner<C>>);

struct Inner<C: Clock> {
    sender: SendRequest<Full<Bytes>>,
    /// None once it is over. hyper forgets a request that was handed over and not begun when the connection ended
    /// idle, and answers it only as the connection is dropped; kept, it would leave the request waiting for ever.
    connection: Option<Connection<TokioIo<Stamped<C>>, Full<Bytes>>>,
    log: Rc<IoLog>,
}

impl<C: Clock> Wire<C> {
    pub(super) async fn new(stream: TcpStream, clock: Rc<C>) -> hyper::Result<Self> {
        let log = Rc::new(IoLog::default());
        let io = TokioIo::new(Stamped::new(stream, clock, Rc::clone(&log)));
        let (sender, connection) = http1::handshake(io).await?;
        Ok(Self(Box::new(Inner { sender, connection: Some(connection), log })))
    }

    pub(super) fn log(&self) -> &Rc<IoLog> {
        &self.0.log
    }

    /// Starts a request. The future makes no progress by itself: the wire must be driven beside it.
    pub(super) fn start(
        &mut self,
        request: hyper::Request<Full<Bytes>>,
    ) -> impl Future<Output = hyper::Result<hyper::Response<Incoming>>> + use<C> {
        self.0.log.begin();
        self.0.sender.send_request(request)
    }

    /// Lets the connection read and write what it can.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        // An error shows wherever it matters: at the response or at the body.
        if let Some(connection) = &mut self.0.connection
            && Pin::new(connection).poll(cx).is_ready()
        {
            self.0.connection = None;
        }
    }

    /// Polls `body` for data, driving the connection as needed; none at its end. Trailers are skipped.
    ///
    /// The data that this returns came in the *last* read that the log knows. hyper reads from the socket
    /// only when its buffer is empty, so that no piece of a body spans two reads; and it hands pieces over
    /// through a slot for one, without reading on before the slot has been emptied, which happens here.
    pub(super) fn poll_data(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Bytes>>> {
        let mut driven = false;
        loop {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending if driven => return Poll::Pending,
                Poll::Pending => {
                    self.drive(cx);
                    driven = true;
                }
            }
        }
    }

    /// Whether another request can be sent, as far as can be known without sending it. The one look at the
    /// socket that this takes finds out if the server has closed it meanwhile.
    pub(super) async fn is_usable(&mut self) -> bool {
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(())
        })
        .await;
        self.0.connection.is_some() && self.0.sender.is_ready()
    }
}

/// What broke a connection, in words: the innermost cause that has some.
pub(super) fn cause(error: &hyper::Error) -> String {
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return why(io);
        }
        source = inner.source();
    }
    error.to_string()
}

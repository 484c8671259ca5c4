//! Collectives by NCCL, NVIDIA's library, where it is installed. Types and numbers are those of `nccl.h` of NCCL 2.32.3.

#![allow(unsafe_code, reason = "the library takes pointers and handles")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{c_int, c_void};
use std::ptr;

use super::error::CudaError;
use super::library::{Opened, functions};
use super::ranks::{Buffers, Exchange};
use crate::measurement::CollectiveOp;

type Handle = *mut c_void;

const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];
/// `ncclBfloat16`, and the bytes of one.
const BF16: c_int = 9;
const ELEMENT: u64 = 2;
/// `ncclSum`.
const SUM: c_int = 0;

functions! {
    Functions {
        connect = "ncclCommInitAll" (*mut Handle, c_int, *const c_int);
        destroy = "ncclCommDestroy" (Handle);
        abort = "ncclCommAbort" (Handle);
        trouble = "ncclCommGetAsyncError" (Handle, *mut c_int);
        begin_group = "ncclGroupStart" ();
        end_group = "ncclGroupEnd" ();
        all_reduce = "ncclAllReduce" (*const c_void, *mut c_void, usize, c_int, c_int, Handle, Handle);
        broadcast = "ncclBroadcast" (*const c_void, *mut c_void, usize, c_int, c_int, Handle, Handle);
        reduce_scatter = "ncclReduceScatter" (
            *const c_void, *mut c_void, usize, c_int, c_int, Handle, Handle,
        );
        all_gather = "ncclAllGather" (*const c_void, *mut c_void, usize, c_int, Handle, Handle);
        send = "ncclSend" (*const c_void, usize, c_int, c_int, Handle, Handle);
        receive = "ncclRecv" (*mut c_void, usize, c_int, c_int, Handle, Handle);
    }
}

fn checked(call: &'static str, code: c_int) -> Result<(), CudaError> {
    let name = match code {
        0 => return Ok(()),
        1 => "ncclUnhandledCudaError",
        2 => "ncclSystemError",
        3 => "ncclInternalError",
        4 => "ncclInvalidArgument",
        5 => "ncclInvalidUsage",
        6 => "ncclRemoteError",
        7 => "ncclInProgress",
        _ => "an error without a name",
    };
    Err(CudaError::LibraryFailed { call, code, name: name.to_owned() })
}

/// What the library calls its version: 21801, and up to 2.8 it had one digit less.
const fn version_of(number: u32) -> (u32, u32, u32) {
    let of = if number >= 10_000 { 10_000 } else { 1000 };
    (number / of, number % of / 100, number % 100)
}

fn opened() -> Result<(Opened, (u32, u32, u32)), CudaError> {
    let library = Opened::first_of(&NAMES).map_err(|reason| CudaError::NoLibrary {
        library: "NCCL",
        names: NAMES.join(", "),
        reason,
    })?;
    let mut number = 0;
    // SAFETY: a function that writes one number, called while the library is open.
    let code = unsafe {
        type Version = unsafe extern "system" fn(*mut c_int) -> c_int;
        library.function::<Version>("ncclGetVersion")?(&raw mut number)
    };
    checked("ncclGetVersion", code)?;
    Ok((library, version_of(number.max(0) as u32)))
}

/// The version that is installed.
pub(super) fn version() -> Result<(u32, u32, u32), CudaError> {
    opened().map(|(_, version)| version)
}

/// The library with a communicator for each device.
#[derive(Debug)]
pub(super) struct Nccl {
    functions: Functions,
    communicators: Vec<Handle>,
}

impl Nccl {
    /// Connects these devices of this process, each a rank.
    pub(super) fn connect(devices: &[u32]) -> Result<Self, CudaError> {
        let functions = Functions::of(opened()?.0)?;
        let mut communicators = vec![ptr::null_mut(); devices.len()];
        let all: Vec<c_int> = devices.iter().map(|index| *index as c_int).collect();
        // SAFETY: there is room for as many handles as devices are named; they are given back when `Nccl` is dropped.
        let code = unsafe {
            (functions.connect)(communicators.as_mut_ptr(), all.len() as c_int, all.as_ptr())
        };
        checked("ncclCommInitAll", code)?;
        Ok(Self { functions, communicators })
    }

    /// Puts a collective into the queue of every rank.
    pub(super) fn queue(
        &self,
        exchange: Exchange,
        on: &[Buffers],
        streams: &[Handle],
    ) -> Result<(), CudaError> {
        // SAFETY: a group is a matter of this thread, and is ended below whatever comes between.
        checked("ncclGroupStart", unsafe { (self.functions.begin_group)() })?;
        let mut ranks = on.iter().zip(&self.communicators).zip(streams);
        let queued = ranks.try_for_each(|((buffers, communicator), stream)| {
            self.call(exchange, *buffers, (*communicator, *stream))
        });
        // SAFETY: ends what was begun above.
        let ended = unsafe { (self.functions.end_group)() };
        queued?;
        checked("ncclGroupEnd", ended)
    }

    /// One rank's part.
    fn call(
        &self,
        Exchange { op, elements }: Exchange,
        buffers: Buffers,
        (communicator, stream): (Handle, Handle),
    ) -> Result<(), CudaError> {
        let at = |address: u64| address as usize as *mut c_void;
        let (given, result, count) = (at(buffers.given), at(buffers.result), elements as usize);
        let with = &self.functions;
        // SAFETY: communicator and stream live as long as `self` and the devices; a wrong address makes the device fail, not the host.
        let (call, code) = unsafe {
            match op {
                CollectiveOp::AllReduce => (
                    "ncclAllReduce",
                    (with.all_reduce)(given, result, count, BF16, SUM, communicator, stream),
                ),
                CollectiveOp::ReduceScatter => (
                    "ncclReduceScatter",
                    (with.reduce_scatter)(given, result, count, BF16, SUM, communicator, stream),
                ),
                CollectiveOp::AllGather => (
                    "ncclAllGather",
                    (with.all_gather)(given, result, count, BF16, communicator, stream),
                ),
                CollectiveOp::Broadcast => (
                    "ncclBroadcast",
                    (with.broadcast)(given, result, count, BF16, 0, communicator, stream),
                ),
                _ => return self.to_each(elements, buffers, (communicator, stream)),
            }
        };
        checked(call, code)
    }

    /// One rank's part of an all-to-all, as the library's guide has it: a send to each and a receive from each, in one group.
    fn to_each(
        &self,
        elements: u64,
        buffers: Buffers,
        (communicator, stream): (Handle, Handle),
    ) -> Result<(), CudaError> {
        for peer in 0..self.communicators.len() {
            let part = ELEMENT * elements * peer as u64;
            let at = |address: u64| (address + part) as usize as *mut c_void;
            let (given, result) = (at(buffers.given), at(buffers.result));
            let (count, peer) = (elements as usize, peer as c_int);
            let (send, receive) = (self.functions.send, self.functions.receive);
            // SAFETY: as in `call`.
            let (sent, received) = unsafe {
                let sent = send(given, count, BF16, peer, communicator, stream);
                (sent, receive(result, count, BF16, peer, communicator, stream))
            };
            checked("ncclSend", sent)?;
            checked("ncclRecv", received)?;
        }
        Ok(())
    }

    /// What went wrong since, while nobody waited.
    pub(super) fn trouble(&self) -> Result<(), CudaError> {
        self.communicators.iter().try_for_each(|communicator| {
            let mut found = 0;
            // SAFETY: the library writes one number.
            let code = unsafe { (self.functions.trouble)(*communicator, &raw mut found) };
            checked("ncclCommGetAsyncError", code)?;
            checked("a collective", found)
        })
    }

    /// Ends kernels that wait for a rank that does not come.
    pub(super) fn abort(mut self) {
        for communicator in self.communicators.drain(..) {
            // SAFETY: each handle is given back once and is used by nobody afterwards.
            let _ = unsafe { (self.functions.abort)(communicator) };
        }
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        for communicator in &self.communicators {
            // SAFETY: each handle is given back once and is used by nobody afterwards.
            let _ = unsafe { (self.functions.destroy)(*communicator) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `NCCL_VERSION` of nccl.h.
    #[test]
    fn versions_are_read_by_their_digits() {
        assert_eq!(version_of(23_203), (2, 32, 3));
        assert_eq!(version_of(2_708), (2, 7, 8));
    }

    /// Where it is installed it has every function that is called; where not, one line says so.
    #[test]
    fn the_real_library_is_absent_or_has_all_functions() {
        match opened() {
            Ok((library, version)) => {
                assert!(version >= (2, 7, 0), "{version:?}");
                Functions::of(library).unwrap();
            }
            Err(error) => {
                let line = error.to_string();
                assert!(!line.contains('\n') && line.len() < 400, "{line}");
            }
        }
    }
}

//! Whether a shard is cut off from the others while it measures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Says whether the system has given up a link. It sends nothing, and takes nothing that has come.
pub(super) type IsCut = Box<dyn Fn() -> bool + Send>;

/// How often it is asked.
const LOOK: Duration = Duration::from_secs(1);

/// Asks now and then, for as long as it is kept, whether all links are cut. The replies of a server are then likely to be cut off too,
/// and whoever waits for them could wait until the network is back.
#[derive(Debug)]
pub(crate) struct CutWatch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl CutWatch {
    /// Calls `on_cut` once all of `links` are cut; none where there are no links that can be asked.
    pub(super) fn start(
        mut links: Vec<IsCut>,
        on_cut: impl FnOnce() + Send + 'static,
    ) -> Option<Self> {
        if links.is_empty() {
            return None;
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let watch = move || {
            while !until.load(Ordering::SeqCst) {
                // One that is there says that this shard is not cut off; one that was cut stays so.
                while links.pop_if(|is_cut| is_cut()).is_some() {}
                if links.is_empty() {
                    return on_cut();
                }
                thread::park_timeout(LOOK);
            }
        };
        // Where the system refuses a thread, a cut is noticed as the level ends.
        let thread = thread::Builder::new().name("shards".to_owned()).spawn(watch).ok()?;
        Some(Self { is_over, thread: Some(thread) })
    }
}

impl Drop for CutWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It calls nothing that could fail.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn link(is_cut: bool) -> IsCut {
        Box::new(move || is_cut)
    }

    #[test]
    fn who_is_cut_off_from_all_is_told_and_who_still_has_one_link_is_not() {
        let told = |links: Vec<IsCut>| {
            let (said, heard) = mpsc::channel();
            let (requested, was_asked) = mpsc::channel();
            let last: IsCut = Box::new(move || requested.send(()).is_ok());
            let links = links.into_iter().chain([last]).collect();
            let watch = CutWatch::start(links, move || said.send(()).unwrap());
            was_asked.recv().unwrap();
            drop(watch);
            heard.recv().is_ok()
        };
        assert!(told(vec![]) && told(vec![link(true), link(true)]));
        assert!(!told(vec![link(false)]) && !told(vec![link(true), link(false)]));
        assert!(CutWatch::start(Vec::new(), || {}).is_none());
    }
}

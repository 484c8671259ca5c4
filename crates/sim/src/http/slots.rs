//! Connections by number.

use super::conn::Conn;

/// Connections, each under the lowest number that was free.
#[derive(Default)]
pub(super) struct ConnSlots {
    conns: Vec<Option<Box<Conn>>>,
    free: Vec<usize>,
}

impl ConnSlots {
    /// Keeps a connection; its number.
    pub(super) fn insert(&mut self, conn: Conn) -> usize {
        let conn = Some(Box::new(conn));
        let free = self.free.pop();
        match free.and_then(|slot| Some((slot, self.conns.get_mut(slot)?))) {
            Some((slot, place)) => {
                *place = conn;
                slot
            }
            None => {
                self.conns.push(conn);
                self.conns.len() - 1
            }
        }
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.conns.len() - self.free.len()
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Conn> {
        self.conns.get_mut(slot)?.as_deref_mut()
    }

    pub(super) fn remove(&mut self, slot: usize) -> Option<Box<Conn>> {
        let conn = self.conns.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(conn)
    }
}

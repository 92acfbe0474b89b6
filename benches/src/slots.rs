//! The calls in flight, one slot each.

use crate::request::{FIRST_ID, LAST_ID};

/// A fixed number of slots whose index is the low bits of the id: looking an answer up costs no hashing.
///
/// A slot's ids count up and none is ever used twice, so a repeated answer is known as such.
#[derive(Debug)]
pub struct Slots {
    slots: Vec<Slot>,
    stride: u64,
    open: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    id: u64,
    sent: u64,
    open: bool,
}

impl Slots {
    /// `window` closed slots (at least one).
    #[must_use]
    pub fn new(window: u32) -> Self {
        let window = window.max(1);
        let slots = (0..window)
            .map(|index| Slot {
                id: FIRST_ID + u64::from(index),
                sent: 0,
                open: false,
            })
            .collect();
        Self {
            slots,
            stride: u64::from(window).next_power_of_two(),
            open: 0,
        }
    }

    /// How many slots there are.
    #[must_use]
    pub fn window(&self) -> usize {
        self.slots.len()
    }

    /// How many calls are outstanding.
    #[must_use]
    pub const fn open_count(&self) -> usize {
        self.open
    }

    /// Opens a closed slot and returns its new id; `None` once ids would need another digit.
    pub fn open(&mut self, index: usize) -> Option<u64> {
        let slot = &mut self.slots[index];
        debug_assert!(!slot.open, "one call per slot");
        slot.id += self.stride;
        slot.open = true;
        self.open += 1;
        (slot.id <= LAST_ID).then_some(slot.id)
    }

    /// Notes when the call in a slot was sent.
    pub fn sent(&mut self, index: usize, nanos: u64) {
        self.slots[index].sent = nanos;
    }

    /// Closes the slot of this id and returns its index and when the call was sent; `None` if it is not outstanding.
    pub fn close(&mut self, id: u64) -> Option<(usize, u64)> {
        let index = (id & (self.stride - 1)) as usize;
        let slot = self.slots.get_mut(index)?;
        if !slot.open || slot.id != id {
            return None;
        }
        slot.open = false;
        self.open -= 1;
        Some((index, slot.sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_answered_once() {
        let mut slots = Slots::new(5);
        let ids: Vec<u64> = (0..5)
            .map(|index| slots.open(index).expect("new"))
            .collect();
        slots.sent(3, 42);
        assert_eq!(slots.open_count(), 5);
        assert_eq!(slots.close(ids[3]), Some((3, 42)));
        assert_eq!(slots.close(ids[3]), None);
        let again = slots.open(3).expect("new");
        assert!(!ids.contains(&again));
        assert_eq!(slots.close(ids[3]), None);
        assert_eq!(slots.close(again), Some((3, 42)));
        assert_eq!(slots.open_count(), 4);
    }

    #[test]
    fn an_id_of_no_call_is_not_outstanding() {
        let mut slots = Slots::new(3);
        let id = slots.open(0).expect("new");
        // Slot 3 of 4 does not exist; slot 1 exists and is closed; the last would be slot 0 in its next turn.
        for other in [id + 3, id + 1, id + 4, 0, u64::MAX] {
            assert_eq!(slots.close(other), None, "{other}");
        }
        assert_eq!(slots.close(id).map(|(index, _)| index), Some(0));
    }

    #[test]
    fn ids_end_before_they_need_another_digit() {
        let mut slots = Slots::new(1);
        slots.slots[0].id = LAST_ID - 1;
        assert_eq!(slots.open(0), Some(LAST_ID));
        slots.close(LAST_ID).expect("outstanding");
        assert_eq!(slots.open(0), None);
    }
}

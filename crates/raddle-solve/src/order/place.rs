//! Events, and where each stands in its chain.

/// Something that happens at one place of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event(u32);

/// Events in a fixed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chain(pub(super) u32);

/// An event's chain and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) chain: u32,
    pub(super) pos: u32,
}

/// The place of every event, and the event of every place.
#[derive(Debug, Default)]
pub(super) struct Places {
    of_event: Vec<Place>,
    chains: Vec<Vec<Event>>,
}

impl Event {
    /// Its number: events are numbered from zero as they are created.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Places {
    pub(super) fn add_chain(&mut self) -> Chain {
        self.chains.push(Vec::new());
        Chain(index(self.chains.len() - 1))
    }

    pub(super) fn add_event(&mut self, chain: Chain) -> Event {
        let event = Event(index(self.of_event.len()));
        let members = &mut self.chains[chain.0 as usize];
        self.of_event.push(Place {
            chain: chain.0,
            pos: index(members.len()),
        });
        members.push(event);
        event
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.of_event.len()
    }

    pub(super) fn of(&self, event: Event) -> Place {
        self.of_event[event.index()]
    }

    pub(super) fn at(&self, chain: u32, pos: u32) -> Event {
        self.chains[chain as usize][pos as usize]
    }

    pub(super) fn chains(&self) -> &[Vec<Event>] {
        &self.chains
    }

    /// The event before this one in its chain.
    pub(super) fn before(&self, event: Event) -> Option<Event> {
        let Place { chain, pos } = self.of(event);
        pos.checked_sub(1).map(|pos| self.at(chain, pos))
    }

    /// The event after this one in its chain.
    pub(super) fn after(&self, event: Event) -> Option<Event> {
        let Place { chain, pos } = self.of(event);
        self.chains[chain as usize].get(pos as usize + 1).copied()
    }
}

/// Handles are 32 bits wide.
pub(super) fn index(len: usize) -> u32 {
    u32::try_from(len).expect("more than 2^32 of a kind in one solver")
}

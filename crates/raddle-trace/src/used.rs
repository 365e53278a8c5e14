//! What a trace refers to: the sites and program counters whose positions its trailer must hold.

use std::collections::BTreeSet;

use crate::event::{Event, EventKind};
use crate::file::EventBlock;
use crate::ids::Address;
use crate::sharing::SiteSet;

/// Program counters that were seen lately are kept in so many places.
const LATELY: usize = 1024;

/// Gathers sites and program counters, when shown every event.
#[derive(Clone, Debug)]
pub struct Used {
    /// Sites of events.
    pub sites: SiteSet,
    /// Program counters of actions and return addresses of calls. Each is the address *behind* a
    /// call, so its source position is that of the byte before it.
    pub pcs: BTreeSet<Address>,
    /// Some of `pcs`, each at a place that follows from it: most program counters come again soon.
    lately: Box<[Address; LATELY]>,
}

impl Default for Used {
    fn default() -> Self {
        Self {
            sites: SiteSet::default(),
            pcs: BTreeSet::new(),
            lately: Box::new([Address(0); LATELY]),
        }
    }
}

impl Used {
    /// Takes note of a block's events.
    pub fn observe_block(&mut self, block: &EventBlock) {
        block.sites.iter().for_each(|site| self.sites.insert(*site));
        let pcs = block.pcs.iter().filter(|pc| **pc != Address(0));
        pcs.for_each(|pc| self.pc(*pc));
    }

    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) {
        if let Some(site) = event.site() {
            self.sites.insert(site);
        }
        match event.kind {
            EventKind::Action { pc, .. } if pc != Address(0) => {
                self.pc(pc);
            }
            EventKind::Enter { return_address, .. } => {
                self.pc(return_address);
            }
            _ => {}
        }
    }

    fn pc(&mut self, pc: Address) {
        let place = (pc.0 ^ pc.0 >> 10) as usize % LATELY;
        if self.lately[place] != pc {
            self.lately[place] = pc;
            self.pcs.insert(pc);
        }
    }
}

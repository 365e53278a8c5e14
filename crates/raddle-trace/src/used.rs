//! What a trace refers to: the sites and program counters whose positions its trailer must hold.

use std::collections::BTreeSet;

use crate::event::{Event, EventKind};
use crate::ids::Address;
use crate::sharing::SiteSet;

/// Gathers sites and program counters, when shown every event.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Sites of events.
    pub sites: SiteSet,
    /// Program counters of actions and return addresses of calls. Each is the address *behind* a
    /// call, so its source position is that of the byte before it.
    pub pcs: BTreeSet<Address>,
}

impl Used {
    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) {
        if let Some(site) = event.site() {
            self.sites.insert(site);
        }
        match event.kind {
            EventKind::Action { pc, .. } if pc != Address(0) => {
                self.pcs.insert(pc);
            }
            EventKind::Enter { return_address, .. } => {
                self.pcs.insert(return_address);
            }
            _ => {}
        }
    }
}

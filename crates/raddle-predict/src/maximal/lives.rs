//! Memory is accessed before it is freed.
//!
//! An execution may free without having executed an access of the trace, but not execute both in the
//! wrong order. So an object is a location that its freeing writes: an access that is executed finds it
//! unwritten. An access behind the cut does not count, which lets a goal ask for a use after free.

use raddle_solve::{Event as Node, Location, Source, Sources, When};

use super::Maximal;
use crate::view::{ObjectId, Pos};

/// An object that is freed in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    location: Location,
    unfreed: Sources,
    /// Its freeing.
    pub(super) free: Pos,
}

impl Maximal<'_> {
    /// Accesses that are executed come before the freeing of what they touch.
    pub(super) fn encode_lives(&mut self) {
        for free in self.positions() {
            let object = self.view.object_of(free);
            let Some(object) = object.filter(|object| self.freeing(*object) == Some(free)) else {
                continue;
            };
            if let Some(node) = self.node(free) {
                let location = self.solver.location(None);
                self.solver.write(location, node, None);
                let unfreed = self.solver.sources(location, &[Source::Initial]);
                let life = Life {
                    location,
                    unfreed,
                    free,
                };
                self.lives.insert(object, life);
            }
        }
        if self.lives.is_empty() {
            return;
        }
        for pos in self.positions() {
            if let Some(node) = self.node(pos) {
                self.access_alive(pos, node);
            }
        }
    }

    /// If this node, which does what the event at a position does, is executed, it finds its memory alive.
    pub(super) fn access_alive(&mut self, pos: Pos, node: Node) {
        for life in self.lives_of(pos) {
            if self.view.lane(life.free) != self.view.lane(pos) {
                let when = When::Before(self.cut);
                self.solver.read(life.location, node, life.unfreed, when);
            }
        }
    }

    /// The objects that an event accesses and that are freed in the window.
    pub(super) fn lives_of(&self, pos: Pos) -> Vec<Life> {
        let cells = self.view.cells_of(pos);
        let mut objects: Vec<ObjectId> = cells
            .filter_map(|cell| self.view.cells()[cell.index()].object)
            .collect();
        objects.dedup();
        let lives = objects.iter().filter_map(|object| self.lives.get(object));
        lives.copied().collect()
    }

    /// Where an object is freed.
    fn freeing(&self, object: ObjectId) -> Option<Pos> {
        let free = self.view.objects()[object.index()].free?;
        self.view.position(free)
    }
}

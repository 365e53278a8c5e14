//! Synchronisation objects: which events act on which, and in which order they did.
//!
//! An object is its place and its life: a destroyed mutex and its successor at the same place are
//! two. Threads are objects too, of their own creation, end and joining.

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::ThreadId;
use raddle_trace::wire::Mark;

use super::places::Places;
use crate::table::Table;

/// A synchronisation object of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub(crate) u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Place(u64),
    Thread(ThreadId),
}

/// An object's life.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    /// Destruction of the one that was at its place before.
    after: Option<usize>,
    /// Its own destruction.
    destroyed: Option<usize>,
    events: u32,
}

/// Objects and the events on them.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// By event: its object, and how many events on it came before.
    of_event: Vec<Option<(ObjectId, u32)>>,
    lives: Vec<Life>,
}

impl Objects {
    pub(super) fn new(events: &[Event], places: &Places) -> Self {
        let mut objects = Self::default();
        let mut current: Table<Key, ObjectId> = Table::default();
        for (at, event) in events.iter().enumerate() {
            let key = match thread_object(event) {
                Some(thread) => Some(Key::Thread(thread)),
                None => places.object(at).map(Key::Place),
            };
            let Some(key) = key else {
                objects.of_event.push(None);
                continue;
            };
            let id = *current.entry(key).or_insert_with(|| objects.add(None));
            let life = &mut objects.lives[id.0 as usize];
            objects.of_event.push(Some((id, life.events)));
            life.events += 1;
            if is_destruction(event) {
                life.destroyed = Some(at);
                let next = objects.add(Some(at));
                current.insert(key, next);
            }
        }
        objects
    }

    fn add(&mut self, after: Option<usize>) -> ObjectId {
        let id = ObjectId(self.lives.len() as u32);
        self.lives.push(Life {
            after,
            ..Life::default()
        });
        id
    }

    /// The object that an event acts on.
    pub(crate) fn of(&self, at: usize) -> Option<ObjectId> {
        self.of_event[at].map(|(id, _)| id)
    }

    /// How many events acted on its object before an event.
    pub(crate) fn rank(&self, at: usize) -> u32 {
        self.of_event[at].map_or(0, |(_, rank)| rank)
    }

    /// The destruction of an object's predecessor at its place.
    pub(crate) fn predecessor_destroyed(&self, object: ObjectId) -> Option<usize> {
        self.lives[object.0 as usize].after
    }

    /// The destruction of an object.
    pub(crate) fn destroyed(&self, object: ObjectId) -> Option<usize> {
        self.lives[object.0 as usize].destroyed
    }
}

pub(crate) fn is_destruction(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Action {
            action: Action::Destroy { .. },
            ..
        }
    )
}

/// The thread whose life an event is about.
pub(crate) fn thread_object(event: &Event) -> Option<ThreadId> {
    let EventKind::Action { action, .. } = event.kind else {
        return None;
    };
    match action {
        Action::Fork { child: thread } | Action::Join { thread, .. } => Some(thread),
        Action::Begin { .. } | Action::End => Some(event.thread),
        Action::Request {
            lock,
            wants: Mark::Join,
            ..
        } => u32::try_from(lock.0).ok().map(ThreadId),
        _ => None,
    }
}

//! Locks: held by one, or shared.
//!
//! A lock that is downgraded in the window is not worth the trouble: the operations on it keep their order.

use std::collections::{BTreeMap, BTreeSet};

use raddle_solve::{Event as Node, Hold, Mode, Resource, When};
use raddle_trace::event::LockMode;

use super::Maximal;
use crate::view::{self, Kind, Lane, Pos, SyncId};

impl Maximal<'_> {
    /// Of two holds that exclude each other, one ends before the other begins.
    pub(super) fn encode_holds(&mut self) {
        let holds = self.view.holds();
        let start = holds.partition_point(|hold| hold.acquire.0 < self.window.start);
        let end = holds.partition_point(|hold| hold.acquire.0 < self.window.end);
        let chained = self.chain_downgraded();
        let is_apart =
            |lock: SyncId| self.view.syncs()[lock.index()].is_irregular || chained.contains(&lock);
        let begun: Vec<view::Hold> = holds[start..end]
            .iter()
            .filter(|hold| !is_apart(hold.lock))
            .copied()
            .collect();
        let held: Vec<Held> = (0..self.view.threads().len())
            .flat_map(|lane| self.held_before(Lane(lane as u16)))
            .filter(|held| !is_apart(held.lock))
            .collect();
        let mut resources: BTreeMap<SyncId, Resource> = BTreeMap::new();
        for hold in &begun {
            let Some(from) = self.node(hold.acquire) else {
                continue;
            };
            let to = hold.release.and_then(|release| self.node(release));
            let resource = *resources
                .entry(hold.lock)
                .or_insert_with(|| self.solver.resource());
            self.solver.hold(
                resource,
                Hold {
                    from,
                    to,
                    mode: match hold.mode {
                        LockMode::Exclusive => Mode::Exclusive,
                        LockMode::Shared => Mode::Shared,
                    },
                    when: When::Before(self.cut),
                },
            );
        }
        self.released_first(&held, &begun);
    }

    /// Keeps the order of the operations on locks that are downgraded, and says which these are.
    fn chain_downgraded(&mut self) -> BTreeSet<SyncId> {
        let view = self.view;
        let is_downgrade = |pos: &Pos| view.kind(*pos) == Kind::Downgrade;
        let downgrades = self.positions().filter(is_downgrade);
        let locks: BTreeSet<SyncId> = downgrades.filter_map(|pos| view.sync_of(pos)).collect();
        let mut latest: BTreeMap<SyncId, Node> = BTreeMap::new();
        for pos in self.positions().filter(|_| !locks.is_empty()) {
            let operates = matches!(
                view.kind(pos),
                Kind::Acquire | Kind::Release | Kind::Downgrade
            );
            let lock = view.sync_of(pos).filter(|lock| locks.contains(lock));
            if let (Some(lock), Some(node)) = (lock.filter(|_| operates), self.node(pos))
                && let Some(before) = latest.insert(lock, node)
            {
                self.solver.order(before, node);
            }
        }
        locks
    }

    /// What a thread holds when the window begins and gives back in it.
    fn held_before(&self, lane: Lane) -> Vec<Held> {
        let view = self.view;
        let events = view.lane_events(lane);
        let start = events.partition_point(|pos| pos.0 < self.window.start);
        let end = events.partition_point(|pos| pos.0 < self.window.end);
        let Some(&first) = events[start..end].first() else {
            return Vec::new();
        };
        let mut held: Vec<(SyncId, LockMode)> = view.lockset(view.lockset_of(first)).to_vec();
        let mut given_back = Vec::new();
        for (number, &pos) in events[start..end].iter().enumerate() {
            let gives_back = view.kind(pos) == Kind::Release;
            let Some(lock) = view.sync_of(pos).filter(|_| gives_back && !held.is_empty()) else {
                continue;
            };
            // Until it is held in no mode at all.
            let after = events.get(start + number + 1);
            let still = after.is_some_and(|after| {
                let lockset = view.lockset(view.lockset_of(*after));
                lockset.iter().any(|(other, _)| *other == lock)
            });
            let Some(end) = self.node(pos).filter(|_| !still) else {
                continue;
            };
            let ended = held.iter().filter(|(other, _)| *other == lock);
            given_back.extend(ended.map(|&(lock, mode)| Held {
                lock,
                mode,
                lane,
                end,
            }));
            held.retain(|(other, _)| *other != lock);
        }
        given_back
    }

    /// A hold that the window begins with is over before another that it excludes begins.
    fn released_first(&mut self, held: &[Held], begun: &[view::Hold]) {
        let mut by_lock: BTreeMap<SyncId, Vec<&Held>> = BTreeMap::new();
        for hold in held {
            by_lock.entry(hold.lock).or_default().push(hold);
        }
        for other in begun {
            for held in by_lock.get(&other.lock).into_iter().flatten() {
                let excludes =
                    held.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive;
                if let Some(from) = self.node(other.acquire)
                    && excludes
                    && other.lane != held.lane
                {
                    self.solver.order(held.end, from);
                }
            }
        }
    }
}

/// A hold that the window begins with.
struct Held {
    lock: SyncId,
    mode: LockMode,
    lane: Lane,
    /// Its release.
    end: Node,
}

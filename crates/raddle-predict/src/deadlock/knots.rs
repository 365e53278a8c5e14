//! Which wishes can be part of a circle at all.
//!
//! What is waited for are locks and ends of threads. A wish leads from each lock that its thread holds, and from the end
//! of its thread, to what it waits for: the lock graph of Goodlock (Havelund, SPIN 2000), with ends. A circle of
//! wishes is a cycle of this graph, so each of its wishes leads from a node to one of the same strongly connected
//! component. Other wishes are not searched from: programs take most locks in an order, and there is no cycle in an
//! order however many paths it has. Components are found by Tarjan's algorithm (SIAM Journal on Computing, 1972), in
//! linear time.

use super::wishes::{Wanted, Wish};
use crate::view::{Lane, SyncId, View};

/// A component that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// By wish: whether it leads from a node to one of the same component.
pub(super) fn in_knots(view: &View, wishes: &[Wish]) -> Vec<bool> {
    let graph = Graph::new(view, wishes);
    let components = graph.components();
    let component = |node: u32| components[node as usize];
    let is_inside = |wish: &Wish| {
        let wanted = component(graph.wanted(wish));
        let mut from = graph.sources(view, wish);
        from.any(|node| component(node) == wanted)
    };
    wishes.iter().map(is_inside).collect()
}

/// Locks and ends of threads, and the wishes between them.
struct Graph {
    syncs: u32,
    /// By node: where its edges begin in `edges`; one more at the end.
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Graph {
    fn new(view: &View, wishes: &[Wish]) -> Self {
        let mut graph = Self {
            syncs: view.syncs().len() as u32,
            starts: Vec::new(),
            edges: Vec::new(),
        };
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for wish in wishes {
            let wanted = graph.wanted(wish);
            pairs.extend(graph.sources(view, wish).map(|from| (from, wanted)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let nodes = view.syncs().len() + view.threads().len();
        graph.starts = vec![0; nodes + 1];
        for (from, _) in &pairs {
            graph.starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            graph.starts[node + 1] += graph.starts[node];
        }
        graph.edges = pairs.into_iter().map(|(_, to)| to).collect();
        graph
    }

    fn end_of(&self, lane: Lane) -> u32 {
        self.syncs + u32::from(lane.0)
    }

    /// What a wish leads to.
    fn wanted(&self, wish: &Wish) -> u32 {
        match wish.wanted {
            Wanted::Lock(SyncId(lock), _) => lock,
            Wanted::End(lane) => self.end_of(lane),
        }
    }

    /// What a wish leads from.
    fn sources<'v>(&self, view: &'v View, wish: &Wish) -> impl Iterator<Item = u32> + use<'v> {
        let held = view.lockset(wish.held).iter().map(|(lock, _)| lock.0);
        held.chain([self.end_of(wish.lane)])
    }

    fn edges_of(&self, node: u32) -> &[u32] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.edges[start as usize..end as usize]
    }

    /// By node: a number of its strongly connected component.
    fn components(&self) -> Vec<u32> {
        let nodes = self.starts.len() - 1;
        let mut search = Tarjan {
            graph: self,
            order: vec![UNKNOWN; nodes],
            low: vec![0; nodes],
            component: vec![UNKNOWN; nodes],
            open: Vec::new(),
            count: 0,
        };
        for node in 0..nodes as u32 {
            if search.order[node as usize] == UNKNOWN {
                search.visit(node);
            }
        }
        search.component
    }
}

/// A depth-first search, without recursion: chains of locks may be long.
struct Tarjan<'g> {
    graph: &'g Graph,
    /// By node: when it was met.
    order: Vec<u32>,
    /// By node: the earliest open node that it is known to lead to.
    low: Vec<u32>,
    component: Vec<u32>,
    /// Nodes that were met and have no component yet.
    open: Vec<u32>,
    count: u32,
}

impl Tarjan<'_> {
    fn visit(&mut self, root: u32) {
        // Nodes of the path, and how many of their edges were followed.
        let mut path: Vec<(u32, usize)> = vec![(root, 0)];
        self.meet(root);
        while let Some((node, followed)) = path.last_mut() {
            let from = *node as usize;
            if let Some(&to) = self.graph.edges_of(*node).get(*followed) {
                *followed += 1;
                if self.order[to as usize] == UNKNOWN {
                    self.meet(to);
                    path.push((to, 0));
                } else if self.component[to as usize] == UNKNOWN {
                    self.low[from] = self.low[from].min(self.order[to as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                let parent = parent as usize;
                self.low[parent] = self.low[parent].min(self.low[from]);
            }
            if self.low[from] == self.order[from] {
                self.close(from as u32);
            }
        }
    }

    fn meet(&mut self, node: u32) {
        self.order[node as usize] = self.count;
        self.low[node as usize] = self.count;
        self.count += 1;
        self.open.push(node);
    }

    /// Everything met since a node is its component.
    fn close(&mut self, node: u32) {
        while let Some(member) = self.open.pop() {
            self.component[member as usize] = node;
            if member == node {
                break;
            }
        }
    }
}

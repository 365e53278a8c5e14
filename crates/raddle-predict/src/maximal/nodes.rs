//! The solver's events: those of the window, each thread a chain.

use std::ops::Range;

use raddle_solve::{Chain, Event as Node, Solver};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use super::Maximal;
use super::hidden::{Hidden, index_of};
use crate::view::{Lane, Pos, View};

/// The events of a window in a solver.
#[derive(Debug)]
pub(super) struct Nodes {
    /// By position in the window: its node, and the one before in its thread.
    pub(super) kept: Vec<(Node, Option<Node>)>,
    /// Events that the view does not keep.
    pub(super) extras: Vec<(EventIndex, Node)>,
    /// By node: its event.
    pub(super) events: Vec<EventIndex>,
}

impl Nodes {
    /// Makes the nodes, in the order of the trace, before anything else of the solver's.
    pub(super) fn new(
        solver: &mut Solver,
        view: &View,
        trace: &[Event],
        window: Range<u32>,
        hidden: &Hidden,
    ) -> Self {
        let start = hidden.extras_before(index_of(view, window.start)).len();
        let extras = &hidden.extras_before(index_of(view, window.end))[start..];
        let lane_of = |index: EventIndex| {
            let thread = trace.get(index.0 as usize)?.thread;
            let lane = view.threads().iter().position(|known| *known == thread)?;
            Some(Lane(lane as u16))
        };
        let chains: Vec<Chain> = view.threads().iter().map(|_| solver.chain()).collect();
        let mut latest: Vec<Option<Node>> = vec![None; chains.len()];
        let mut nodes = Self {
            kept: Vec::with_capacity(window.len()),
            extras: Vec::new(),
            events: Vec::with_capacity(window.len() + extras.len()),
        };
        let mut extras = extras.iter().copied().peekable();
        for pos in window.clone().map(Pos).map(Some).chain([None]) {
            let index = pos.map_or(EventIndex(u64::MAX), |pos| view.event_index(pos));
            while let Some(extra) = extras.next_if(|extra| *extra < index) {
                if let Some(lane) = lane_of(extra) {
                    let node = solver.event_in(chains[lane.index()]);
                    latest[lane.index()] = Some(node);
                    nodes.extras.push((extra, node));
                    nodes.events.push(extra);
                }
            }
            if let Some(pos) = pos {
                let lane = view.lane(pos);
                let node = solver.event_in(chains[lane.index()]);
                let before = latest[lane.index()].replace(node);
                nodes.kept.push((node, before));
                nodes.events.push(index);
            }
        }
        nodes
    }
}

impl Maximal<'_> {
    /// The solver's event for a position, if it lies in the window.
    pub(super) fn node(&self, pos: Pos) -> Option<Node> {
        self.kept(pos).map(|(node, _)| node)
    }

    /// The one before it in its thread.
    pub(super) fn node_before(&self, pos: Pos) -> Option<Node> {
        self.kept(pos).and_then(|(_, before)| before)
    }

    fn kept(&self, pos: Pos) -> Option<(Node, Option<Node>)> {
        let at = pos.0.checked_sub(self.window.start)?;
        self.nodes.kept.get(at as usize).copied()
    }

    /// The solver's event for one of the trace, if it has one.
    pub(super) fn node_of(&self, index: EventIndex) -> Option<Node> {
        let extras = &self.nodes.extras;
        match extras.binary_search_by_key(&index, |(extra, _)| *extra) {
            Ok(at) => Some(extras[at].1),
            Err(_) => self.view.position(index).and_then(|pos| self.node(pos)),
        }
    }
}

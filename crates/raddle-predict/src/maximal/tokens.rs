//! Condition variables and semaphores: who waits takes a notification or a post, whichever it is.
//!
//! A waiter may take any notification that comes after its wait began and before it wakes; one that is no
//! broadcast wakes one waiter. A semaphore's waiter takes a post, or one of those that the semaphore had;
//! none is taken twice. To keep this small, only those near the one taken in the trace are considered.

use std::collections::BTreeMap;

use raddle_solve::Lit;
use raddle_trace::action::Action;
use raddle_trace::event::EventKind;

use super::Maximal;
use crate::view::{EdgeKind, Kind, Pos, SyncId};

/// How far from the token that was taken in the trace others are considered, on both sides.
const NEAR: usize = 4;

/// Something that lets one waiter go on, or all.
#[derive(Clone, Copy)]
struct Token {
    /// The event that brings it; none if it was there.
    from: Option<Pos>,
    is_for_all: bool,
}

/// Who takes a token.
#[derive(Clone, Copy)]
struct Taker {
    /// The event that needs it.
    pos: Pos,
    /// It has to come after this.
    since: Option<Pos>,
    /// Which one it took in the trace.
    took: usize,
}

impl Maximal<'_> {
    /// Waiting on condition variables and semaphores.
    pub(super) fn encode_waiting(&mut self) {
        let mut uses: BTreeMap<SyncId, Vec<Pos>> = BTreeMap::new();
        for pos in self.positions() {
            let waits = matches!(
                self.view.kind(pos),
                Kind::CondWake | Kind::CondNotify | Kind::SemWait | Kind::SemPost
            );
            if let Some(sync) = self.view.sync_of(pos).filter(|_| waits) {
                uses.entry(sync).or_default().push(pos);
            }
        }
        for events in uses.into_values() {
            self.encode_condition(&events);
            self.encode_semaphore(&events);
        }
    }

    fn encode_condition(&mut self, events: &[Pos]) {
        let mut tokens: Vec<(Pos, Token)> = Vec::new();
        let mut takers = Vec::new();
        for &pos in events {
            match action(&self.event(pos).kind) {
                Some(Action::CondNotify { all, .. }) => {
                    let token = Token {
                        from: Some(pos),
                        is_for_all: all,
                    };
                    tokens.push((pos, token));
                }
                Some(Action::CondWake {
                    notifier: Some(_), ..
                }) => {
                    let mut edges = self.view.edges_to(pos).iter();
                    let recorded = edges.rfind(|edge| edge.kind == EdgeKind::Notify);
                    let Some(recorded) = recorded else {
                        self.keep_place(pos);
                        continue;
                    };
                    // One from before the window is there already.
                    if let Ok(took) =
                        tokens.binary_search_by_key(&recorded.from, |(notify, _)| *notify)
                    {
                        let since = self.previous_wait(pos);
                        takers.push(Taker { pos, since, took });
                    }
                }
                _ => {}
            }
        }
        let tokens: Vec<Token> = tokens.into_iter().map(|(_, token)| token).collect();
        self.encode_taking(&tokens, &takers);
    }

    /// Where the wait began that ends at an event.
    fn previous_wait(&self, wake: Pos) -> Option<Pos> {
        let mut before = self.previous(wake);
        while let Some(pos) = before {
            if self.view.kind(pos) == Kind::CondWait {
                return Some(pos);
            }
            before = self.previous(pos);
        }
        None
    }

    fn encode_semaphore(&mut self, events: &[Pos]) {
        let mut initial = None;
        let mut value = 0;
        let mut is_regular = true;
        let (mut posts, mut waits) = (Vec::new(), Vec::new());
        for &pos in events {
            let (now, before) = match action(&self.event(pos).kind) {
                Some(Action::SemPost { value, .. }) => {
                    posts.push(pos);
                    (value, value.checked_sub(1))
                }
                Some(Action::SemWait { value, .. }) => {
                    waits.push(pos);
                    (value, value.checked_add(1))
                }
                _ => continue,
            };
            is_regular &= before.is_some() && (initial.is_none() || before == Some(value));
            initial = initial.or(before);
            value = now;
        }
        if !is_regular {
            for pair in posts.iter().chain(&waits) {
                self.keep_place(*pair);
            }
            return;
        }
        let initial = usize::try_from(initial.unwrap_or(0)).unwrap_or(usize::MAX);
        if initial >= waits.len() {
            return;
        }
        let token = |from| Token {
            from,
            is_for_all: false,
        };
        let there = std::iter::repeat_n(token(None), initial);
        let tokens: Vec<Token> = there
            .chain(posts.iter().map(|post| token(Some(*post))))
            .collect();
        let takers: Vec<Taker> = waits
            .iter()
            .enumerate()
            .map(|(took, &pos)| Taker {
                pos,
                since: None,
                took,
            })
            .collect();
        self.encode_taking(&tokens, &takers);
    }

    fn encode_taking(&mut self, tokens: &[Token], takers: &[Taker]) {
        let mut taken: Vec<Vec<Lit>> = vec![Vec::new(); tokens.len()];
        for taker in takers {
            let Some(node) = self.node(taker.pos) else {
                continue;
            };
            let mut clause = vec![!self.executed(node)];
            let last = (taker.took + NEAR + 1).min(tokens.len());
            for number in taker.took.saturating_sub(NEAR)..last {
                if let Some(takes) = self.takes(taker, tokens[number]) {
                    clause.push(takes);
                    taken[number].push(takes);
                }
            }
            self.solver.require(&clause);
        }
        for (token, takers) in tokens.iter().zip(&taken) {
            if token.is_for_all {
                continue;
            }
            for (number, one) in takers.iter().enumerate() {
                for other in &takers[number + 1..] {
                    self.solver.require(&[!*one, !*other]);
                }
            }
        }
    }

    /// That a taker takes a token; none if it cannot.
    fn takes(&mut self, taker: &Taker, token: Token) -> Option<Lit> {
        let takes = self.solver.boolean();
        let Some(from) = token.from.and_then(|from| self.node(from)) else {
            return Some(takes);
        };
        let node = self.node(taker.pos)?;
        let comes_first = self.solver.before(from, node);
        let since = taker.since.and_then(|since| self.node(since));
        let comes_after = since.map_or(Lit::TRUE, |since| self.solver.before(since, from));
        if comes_first == Lit::FALSE || comes_after == Lit::FALSE {
            return None;
        }
        self.solver.require(&[!takes, comes_first]);
        self.solver.require(&[!takes, comes_after]);
        Some(takes)
    }
}

fn action(kind: &EventKind) -> Option<Action> {
    match kind {
        EventKind::Action { action, .. } => Some(*action),
        _ => None,
    }
}

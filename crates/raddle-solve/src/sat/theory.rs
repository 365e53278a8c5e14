//! What the search and a theory have to say to each other.
//!
//! The search owns the Boolean assignment. It tells the theory of every *observed* variable that is
//! assigned, asks it for conclusions whenever unit propagation has come to rest, and asks it to complete
//! the assignment when every other variable has a value. A theory answers with implied literals, a
//! conflict, new clauses, or values for the observed variables that have none; it explains an implied
//! literal only if conflict analysis asks for it.

use super::Search;
use crate::lit::Lit;

/// Literals, all true, that cannot be true together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict(pub(crate) Vec<Lit>);

/// What a theory thinks of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// As far as the theory is concerned, it can be completed as it proposes.
    Consistent,
    /// It cannot, or not yet: clauses or variables were added to the search.
    Extended,
}

/// The other half of the search.
pub(crate) trait Theory {
    /// A new decision level begins.
    fn push_level(&mut self);

    /// Forgets what was told in levels above `level`.
    fn pop_to(&mut self, level: usize);

    /// `lit`, of an observed variable, has become true. Told once for each, in the order of the trail.
    fn assign(&mut self, lit: Lit);

    /// Draws conclusions from what was told: appends to `implied` literals that follow. They may have a
    /// value already; one that is false is a conflict, which the search finds and explains itself.
    fn propagate(&mut self, search: &Search, implied: &mut Vec<Lit>) -> Result<(), Conflict>;

    /// Appends to `reason` literals that were true before `lit` was implied and from which it follows.
    fn explain(&mut self, lit: Lit, reason: &mut Vec<Lit>);

    /// Every variable that is not observed has a value, and nothing is left to propagate: completes the
    /// assignment. If that does not succeed, the theory adds clauses with [`Search::clause`] (over old or
    /// new variables) that rule the assignment out or refine it.
    fn check(&mut self, search: &mut Search) -> Check;

    /// Whether a literal that has no value holds in the assignment as the last check completed it.
    fn proposes(&self, lit: Lit) -> bool;

    /// Where in that assignment a literal matters: what matters earlier is to be mended first.
    fn rank(&self, lit: Lit) -> u32;

    /// The completed assignment satisfies all clauses: is there anything else against it?
    fn confirm(&mut self, search: &mut Search) -> Check;
}

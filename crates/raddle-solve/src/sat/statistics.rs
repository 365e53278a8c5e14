//! What the search did.

/// Counters over all queries of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Conflicts analysed.
    pub conflicts: u64,
    /// Decisions, without assumptions.
    pub decisions: u64,
    /// Literals whose watch lists were gone through.
    pub propagations: u64,
    /// A measure of the memory accesses of propagation.
    pub ticks: u64,
    /// Restarts.
    pub restarts: u64,
    /// Reductions of the learnt clauses.
    pub reductions: u64,
    /// Literals of learnt clauses that minimisation removed.
    pub minimized: u64,
    /// Times the theory was asked for conclusions.
    pub theory_rounds: u64,
    /// Literals the theory implied.
    pub theory_propagations: u64,
    /// Conflicts the theory found.
    pub theory_conflicts: u64,
    /// Literals the theory was asked to explain.
    pub explanations: u64,
    /// Full assignments the theory checked.
    pub checks: u64,
    /// Clauses that came out of these checks.
    pub lemmas: u64,
}

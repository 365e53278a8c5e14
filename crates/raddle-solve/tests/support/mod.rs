//! What the tests and benchmarks of the solver share: constraint problems as plain data, and several
//! independent ways to judge an answer. Nothing in here but `run` and `check` calls the solver.

#![allow(
    dead_code,
    reason = "each test and benchmark uses the part that it needs"
)]

pub mod bits;
pub mod brute;
pub mod check;
pub mod evaluate;
pub mod facts;
pub mod instance;
pub mod must;
pub mod pipe;
pub mod random;
pub mod rng;
pub mod run;
pub mod saturate;
pub mod shrink;
pub mod smtlib;
pub mod trace;
pub mod window;

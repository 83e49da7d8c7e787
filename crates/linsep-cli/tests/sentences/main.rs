//! The numbers of printed sentences against exact arithmetic that shares no code with the program.
//!
//! Small random tables go through the program itself. What it prints is read back as decimal numbers and compared
//! with fractions that are computed here: a bound is never on the wrong side of the truth, and never farther from
//! it than its last digit says.

#[path = "../common/mod.rs"]
mod common;

mod exact;
mod margins;
mod optima;
mod ranks;
mod tables;

//! The only makers of claims. Whoever has found something hands it over here; what leaves this room was
//! confirmed by the checker, which shares no code with the solvers.

pub mod optimal;
pub(crate) mod part;
pub mod planes;
pub mod recovered;
pub mod separating;

//! House rules, checked by reading the sources of the whole workspace. A rule that is broken is
//! reported with file and line.

mod arrows;
mod public_api;
mod sources;
mod words;

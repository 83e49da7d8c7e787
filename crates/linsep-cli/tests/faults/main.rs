//! What becomes of files when the disk is full, a call of the system fails or a signal comes, for every
//! command that writes any.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/writers.rs"]
#[allow(dead_code)] // The arguments are for the program's own tests.
mod writers;

mod calls;
mod interposer;
mod room;
mod signals;

//! The server from outside, by a client that writes requests byte by byte.

mod client;
mod field;
mod own;
mod runs;
mod security;

//! Reading tables from text files.

mod parts;
mod sources;
mod tables;

#[path = "../support/files.rs"]
mod files;

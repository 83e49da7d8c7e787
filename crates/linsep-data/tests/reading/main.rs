//! Reading tables from text files.

mod long;
mod parts;
mod sources;
mod tables;

#[path = "../support/files.rs"]
mod files;

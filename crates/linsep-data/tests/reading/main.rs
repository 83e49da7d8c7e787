//! Reading tables from text files.

mod long;
mod parts;
mod people;
mod sources;
mod tables;
mod terms;

#[path = "../support/files.rs"]
mod files;

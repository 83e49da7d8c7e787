//! Reading tables from text files.

mod parts;
mod tables;

#[path = "../support/files.rs"]
mod files;

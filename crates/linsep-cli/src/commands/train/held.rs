//! What a run holds, and where: its rows, copies of them in other layouts, and what is in temporary files.

use linsep::Dataset;
use linsep::data::error::size;
use linsep::data::memory;
use serde_json::{Value, json};

/// What is held at the end of a run.
pub(super) struct Held {
    store: u64,
    /// Bytes of the store that are in temporary files.
    store_in_files: u64,
    layouts: Vec<(&'static str, u64)>,
    /// Bytes of all lists in temporary files.
    in_files: u64,
    most_used: u64,
}

impl Held {
    /// What is held of a data set while its run is still there.
    pub(super) fn of(data: &Dataset) -> Held {
        let store = data.store();
        Held {
            store: store.bytes(),
            store_in_files: store.file_bytes(),
            layouts: data.layouts().held(),
            in_files: memory::in_files(),
            most_used: memory::most_used(),
        }
    }

    /// In one line.
    pub(super) fn words(&self) -> String {
        let place = if self.store_in_files > 0 { " in a temporary file" } else { "" };
        let mut parts = vec![format!("store {}{place}", size(self.store))];
        parts.extend(self.layouts.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))));
        if self.in_files > 0 {
            parts.push(format!("{} in temporary files in all", size(self.in_files)));
        }
        // Of interest to who set a limit; it differs a little from run to run.
        if memory::limit().is_some() {
            parts.push(format!("at most {} of memory in use", size(self.most_used)));
        }
        parts.join(", ")
    }

    pub(super) fn json(&self) -> Value {
        let layout = |(name, bytes): &(&str, u64)| json!({ "name": name, "bytes": bytes });
        json!({
            "store_bytes": self.store,
            "mapped_bytes": self.in_files,
            "layouts": self.layouts.iter().map(layout).collect::<Vec<_>>(),
        })
    }
}

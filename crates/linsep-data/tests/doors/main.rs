//! Arrays become features: the same table as text, labels and weights, and what is refused.

mod equal;
mod labels;
mod refused;

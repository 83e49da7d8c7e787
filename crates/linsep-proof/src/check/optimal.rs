//! How a claim `optimal` is checked.

use super::{Checked, Checker};
use crate::fitted::Planes;
use crate::optimal::Optimality;

impl Checker<'_> {
    pub(super) fn optimal(&self, _: &Planes, _: &Optimality) -> Checked<String> {
        Err("this checker cannot check the claim yet".into())
    }
}

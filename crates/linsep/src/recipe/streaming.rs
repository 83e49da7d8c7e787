//! Settings of a stream, whose rows are seen once: what needs a look at all rows is refused where it was
//! asked for, and left out where it was not.

use super::{Ability, Recipe, Settings};
use linsep_data::error::{Error, Result};

/// A setting, the value that a stream takes, and another one that does no harm.
const STREAMED: [(&str, &str, &str); 6] = [
    ("verdict", "off", ""),
    ("order", "cyclic", ""),
    ("scale", "none", "unit"),
    ("class-weight", "none", ""),
    ("stop", "clean-epoch", "limit"),
    ("init", "zero", ""),
];

impl Recipe {
    /// Makes settings fit for a stream. Where they are `fixed`, being those of a run that goes on, a default
    /// that does not fit is refused as if it had been asked for.
    pub fn settle_stream(&self, settings: &mut Settings, fixed: bool) -> Result<()> {
        let refuse = |words: String| Err(Error::usage(words));
        if self.parameters.iter().any(|p| p.name == "multiclass" && settings.get(p) == "ovo") {
            return refuse(
                "`multiclass=ovo` is not for a stream: pairs have rows of their own".to_owned(),
            );
        }
        if !self.has(Ability::Stream) {
            return Err(self.cannot(Ability::Stream));
        }
        for (name, value, also) in STREAMED {
            let Some(parameter) = self.parameters.iter().find(|p| p.name == name) else { continue };
            let given = (fixed || settings.has(name)).then(|| settings.get(parameter).to_owned());
            match given.as_deref() {
                None if parameter.default == value => {}
                None => settings.set(name, value),
                Some(given) if given == value || given == also => {}
                // The planes of a model are known before the first row; a random start is not.
                Some(given) if name == "init" && given != "random" => {}
                Some(given) => {
                    return refuse(format!(
                        "`{name}={given}` is not for a stream, which sees every row once; it takes {value}"
                    ));
                }
            }
        }
        let normalised = self.parameters.iter().find(|p| p.name == "normalised");
        if let Some(normalised) = normalised
            && settings.get(normalised) == "off"
            && !settings.has("eta")
        {
            return refuse(format!(
                "the rate of {} comes from all rows, and a stream shows them once; give `eta`",
                self.name
            ));
        }
        Ok(())
    }
}

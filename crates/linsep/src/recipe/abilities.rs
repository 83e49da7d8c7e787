//! What learners can do, declared once: by each entry of the registry.
//!
//! [`Abilities`] stands in every [`Recipe`]. Checks of commands, messages, the table of
//! `docs/reference/abilities.md` and the tests of its cells come from it. [`Recipe::can`] answers for
//! settings and a number of classes, [`Recipe::require`] refuses with the names of learners that can.

use super::{ALL, Recipe, Settings};
use linsep_data::error::{Error, Result};
use linsep_proof::Loss;

/// What a learner can do.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Abilities {
    /// What it can do, at least under some settings.
    pub can: AbilitySet,
    /// Where settings take an ability away.
    pub only: &'static [Only],
    /// The kinds of claims that its certificates make, by name.
    pub claims: &'static [&'static str],
    /// The losses that it minimises up to a certified gap.
    pub losses: &'static [Loss],
    /// Whether it holds a matrix with a row and a column for each feature.
    pub matrix: bool,
}

impl Abilities {
    /// No ability at all, for entries to add to.
    pub(super) const NONE: Abilities =
        Abilities { can: AbilitySet(0), only: &[], claims: &[], losses: &[], matrix: false };

    /// These and more.
    pub(super) const fn and(self, more: &[Ability]) -> Abilities {
        let mut all = self;
        let mut at = 0;
        while at < more.len() {
            all.can.0 |= 1 << more[at] as u32;
            at += 1;
        }
        all
    }

    /// These without some.
    pub(super) const fn without(self, some: &[Ability]) -> Abilities {
        let less = Abilities::NONE.and(some).can.0;
        Abilities { can: AbilitySet(self.can.0 & !less), ..self }
    }
}

/// A set of abilities.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AbilitySet(u32);

impl AbilitySet {
    /// Whether an ability is among them.
    pub const fn contains(self, ability: Ability) -> bool {
        self.0 & (1 << ability as u32) != 0
    }

    /// Each of them, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Ability> {
        Ability::ALL.iter().copied().filter(move |ability| self.contains(*ability))
    }
}

impl std::fmt::Debug for AbilitySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// An ability that a learner has only while a setting has one of these values.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Only {
    /// What depends on the setting.
    pub ability: Ability,
    /// The name of the setting.
    pub setting: &'static str,
    /// The values that leave the ability.
    pub values: &'static [&'static str],
    /// Whether the setting matters for more than two classes only.
    pub many: bool,
}

impl Only {
    pub(super) const fn with(
        ability: Ability,
        setting: &'static str,
        values: &'static [&'static str],
    ) -> Only {
        Only { ability, setting, values, many: false }
    }

    /// The same for more than two classes only.
    pub(super) const fn of_many(
        ability: Ability,
        setting: &'static str,
        values: &'static [&'static str],
    ) -> Only {
        Only { many: true, ..Only::with(ability, setting, values) }
    }

    /// The condition in words, as in the table of the documentation.
    pub fn words(&self) -> String {
        if self.values.is_empty() {
            return "not for more than two classes".to_owned();
        }
        let values = self.values.join(" or ");
        let many = if self.many { "for more than two classes " } else { "" };
        format!("{many}only with {} {values}", self.setting)
    }
}

macro_rules! abilities {
    ($(#[doc = $doc:literal] $variant:ident, $word:literal, $lack:literal;)+) => {
        /// Something that a learner can do or cannot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Ability { $(#[doc = $doc] $variant,)+ }

        impl Ability {
            /// Every ability, in the order of the table.
            pub const ALL: &'static [Ability] = &[$(Ability::$variant),+];

            /// The short name, as in the table of the documentation.
            pub fn word(self) -> &'static str { match self { $(Ability::$variant => $word,)+ } }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Ability::$variant => $doc.trim_ascii(),)+ }
            }

            /// What a learner without it lacks, as in "fisher `cannot be traced`".
            fn lack(self) -> &'static str { match self { $(Ability::$variant => $lack,)+ } }
        }
    };
}

abilities! {
    /// K classes: all planes are learned together.
    Joint, "joint", "does not learn the planes of K classes together";
    /// K classes: one binary classifier for each class.
    Ovr, "ovr", "has no one-versus-rest";
    /// K classes: the same without one for the last class.
    OvrK1, "ovr-k-1", "has no one-versus-rest without the last class";
    /// K classes: one binary classifier for each pair.
    Ovo, "ovo", "has no one-versus-one";
    /// Rows have weights; one of weight 0 is absent.
    RowWeights, "row weights", "does not weight rows";
    /// Classes can be weighted equally.
    ClassWeights, "class weights", "does not weight classes";
    /// Weights can be kept between bounds.
    BoxConstraints, "box constraints", "takes no bounds on weights";
    /// A row is needed only while it is visited.
    Stream, "stream", "needs all rows at once";
    /// A run can go on with other data than it began with.
    CarryOn, "carry on", "cannot go on with other rows than those it began with";
    /// A run can begin near its optimum, so that C can be chosen along a path.
    WarmStart, "warm start", "cannot begin near an optimum of another C";
    /// The updates of a run can be written down and replayed.
    Trace, "trace", "has updates that are not sums of rows, so there is nothing to trace";
    /// A run bounds the largest margin while it lasts.
    MarginBound, "margin bound", "does not bound the largest margin while it runs";
    /// The mistakes of a pass are counted: rows that were not strictly on their side when visited.
    CountMistakes, "mistakes", "does not count the mistakes of a pass";
    /// Models have probabilities of their own.
    Probabilities, "probabilities", "has no probabilities of its own";
    /// Probabilities can be fitted to scores of rows held out.
    Calibrate, "calibration", "either has probabilities of its own or no scores that call for a link";
    /// The rows that hold the planes are known, with their multipliers.
    Support, "support rows", "has planes that are held by no rows";
    /// It is known which predictions no better solution changes.
    Flips, "flips", "does not say how far the best model can be";
    /// Rows can be drawn from the model.
    Sample, "sampling", "makes a discriminative model, and a discriminative model does not know how its data came about";
    /// Other models can be proved to be near the optimum of its objective, and runs know their gap.
    Certify, "certify", "does not bound what other models can reach";
}

impl Ability {
    /// The ability that a value of the setting `multiclass` asks for.
    pub fn of_scheme(word: &str) -> Option<Ability> {
        match word {
            "joint" | "softmax" | "crammer-singer" => Some(Ability::Joint),
            "ovr" => Some(Ability::Ovr),
            "ovr-k-1" => Some(Ability::OvrK1),
            "ovo" => Some(Ability::Ovo),
            _ => None,
        }
    }

    /// The ability that a setting asks for, whatever its value.
    pub(super) fn of_setting(name: &str) -> Option<Ability> {
        match name {
            "class-weight" => Some(Ability::ClassWeights),
            "lower" | "upper" => Some(Ability::BoxConstraints),
            _ => None,
        }
    }

    /// The names of the learners that have it.
    pub fn learners(self) -> Vec<&'static str> {
        let able = ALL.iter().filter(|recipe| recipe.has(self));
        able.map(|recipe| recipe.name).collect()
    }
}

impl Recipe {
    /// Whether the learner has an ability under some settings.
    pub fn has(&self, ability: Ability) -> bool {
        self.abilities.can.contains(ability)
    }

    /// Whether the learner has an ability under these settings, with so many classes.
    pub fn can(&self, ability: Ability, settings: &Settings, classes: usize) -> bool {
        self.has(ability) && self.hindrance(ability, settings, classes).is_none()
    }

    /// Refuses an ability that the learner does not have under these settings, with the learners that
    /// have it.
    pub fn require(&self, ability: Ability, settings: &Settings, classes: usize) -> Result<()> {
        match self.hindrance(ability, settings, classes) {
            _ if !self.has(ability) => Err(self.cannot(ability)),
            None => Ok(()),
            Some(only) => Err(Error::usage(format!(
                "{} with {} {} {} ({}); learners that can: {}",
                self.name,
                only.setting,
                self.value_of(only.setting, settings),
                ability.lack(),
                only.words(),
                ability.learners().join(", ")
            ))),
        }
    }

    /// That the learner does not have an ability, and which learners have it.
    pub fn cannot(&self, ability: Ability) -> Error {
        let able = ability.learners().join(", ");
        Error::usage(format!("{} {}; learners that can: {able}", self.name, ability.lack()))
    }

    /// The first condition that settings do not meet.
    fn hindrance(&self, ability: Ability, settings: &Settings, classes: usize) -> Option<&Only> {
        let mut conditions = self.abilities.only.iter().filter(|only| only.ability == ability);
        conditions.find(|only| {
            let matters = classes > 2 || !only.many;
            matters && !only.values.contains(&self.value_of(only.setting, settings))
        })
    }

    fn value_of<'a>(&self, setting: &str, settings: &'a Settings) -> &'a str {
        let parameter = self.parameters.iter().find(|parameter| parameter.name == setting);
        if parameter == Some(&super::parameters::SOFTMAX) {
            return super::optimisers::scheme(settings);
        }
        parameter.map_or("", |parameter| settings.get(parameter))
    }

    /// The learner that minimises a loss up to a certified gap.
    pub fn minimising(loss: Loss) -> Option<&'static Recipe> {
        ALL.iter().find(|recipe| recipe.abilities.losses.contains(&loss))
    }

    /// Bytes that the learner needs for each of so many features beside its planes: those that solve
    /// equations hold a matrix, its factors and the block that is being summed.
    pub fn bytes_per_feature(&self, features: u64) -> u64 {
        if self.abilities.matrix { 32 * features } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a parameter says and what an ability says is one thing.
    #[test]
    fn abilities_and_parameters_agree() {
        for recipe in ALL {
            let named = |name: &str| recipe.parameters.iter().find(|p| p.name == name);
            let name = recipe.name;
            assert_eq!(
                recipe.has(Ability::ClassWeights),
                named("class-weight").is_some(),
                "{name}"
            );
            assert_eq!(recipe.has(Ability::BoxConstraints), named("lower").is_some(), "{name}");
            if let Some(scheme) = named("multiclass") {
                let words = scheme.words.iter().map(|word| Ability::of_scheme(word));
                let words: Vec<Ability> = words.collect::<Option<_>>().unwrap();
                let schemes = [Ability::Joint, Ability::Ovr, Ability::OvrK1, Ability::Ovo];
                for scheme in schemes {
                    assert_eq!(recipe.has(scheme), words.contains(&scheme), "{name} {scheme:?}");
                }
            }
            for only in recipe.abilities.only {
                let setting = named(only.setting).unwrap_or_else(|| panic!("{name} {only:?}"));
                let known =
                    |value: &&str| *value == setting.default || setting.words.contains(value);
                assert!(only.values.iter().all(known), "{name} {only:?}");
                assert!(recipe.has(only.ability), "{name} {only:?}");
            }
            assert_eq!(recipe.has(Ability::Certify), !recipe.abilities.losses.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_refusal_names_the_learners_that_can() {
        let lda = Recipe::find("lda").unwrap();
        let words = lda.require(Ability::Support, &Settings::default(), 2).unwrap_err().to_string();
        assert_eq!(
            words,
            "lda has planes that are held by no rows; learners that can: svm, hard-margin"
        );
        let mut settings = Settings::default();
        settings.set("criterion", "jn");
        let descent = Recipe::find("descent").unwrap();
        let words = descent.require(Ability::CarryOn, &settings, 2).unwrap_err().to_string();
        assert!(words.starts_with("descent with criterion jn cannot go on"), "{words}");
        assert!(words.contains("averaged"), "{words}");
    }
}

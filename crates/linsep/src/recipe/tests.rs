//! Every entry builds, and wrong values are named.

use super::*;

#[test]
fn defaults_are_accepted_and_wrong_values_named() {
    for recipe in ALL {
        assert!(recipe.build(&Settings::default()).is_ok(), "{}", recipe.name);
        for parameter in recipe.parameters {
            let mut settings = Settings::default();
            settings.set(parameter.name, "no such value");
            let message = recipe.build(&settings).err().unwrap().to_string();
            assert!(message.contains(parameter.name), "{message}");
        }
    }
    let mut settings = Settings::default();
    settings.set("gamma", "1");
    assert!(ALL[0].build(&settings).err().unwrap().to_string().contains("no setting"));
    assert!(Recipe::find("percepton").is_err());
}

//! Methods that set one public field each, for structs that other crates cannot write down whole.

/// `setters! { Limits { with_epochs => epochs: Option<u64> } }` writes `Limits::with_epochs`.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($name:ident { $($setter:ident => $field:ident: $type:ty),* $(,)? }) => {
        impl $name {
            $(
                #[doc = concat!("The same with another `", stringify!($field), "`.")]
                #[must_use]
                pub fn $setter(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
    ($name:ident.$holder:ident { $($setter:ident => $field:ident: $type:ty),* $(,)? }) => {
        impl $name {
            $(
                #[doc = concat!("The same with another `", stringify!($field), "` in [`", stringify!($holder), "`](Self::", stringify!($holder), ").")]
                #[must_use]
                pub fn $setter(mut self, $field: $type) -> Self {
                    self.$holder.$field = $field;
                    self
                }
            )*
        }
    };
}

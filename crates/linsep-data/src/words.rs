//! Choices among few words.

/// A choice among few words. Gives each its text form and its parser.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $what:literal { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every word that is accepted.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word of this choice.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<$name> {
                match text {
                    $($word => Ok($name::$variant),)*
                    _ => Err(Error::usage(format!(
                        "{} \"{text}\" is none of {}", $what, $name::WORDS.join(", ")
                    ))),
                }
            }
        }
    };
}

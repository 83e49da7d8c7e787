//! The certificate file: claims together with the data they speak of.

use crate::basis::Basis;
use crate::claim::Certificate;
use crate::claim::Claim;
use crate::digest::Version;
use crate::form;
use crate::rows::Reading;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first format, which is still read. Its gap is (primal − bound)/primal.
pub const FORMAT: &str = "linsep.certificate/1";

/// The format that is written. Inside a model its claims refer to the planes of the model; one that stands
/// alone has planes of its own.
pub const FORMAT_2: &str = "linsep.certificate/2";

/// A certificate as it stands in a file, or inside a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CertificateFile {
    /// [`FORMAT`] or [`FORMAT_2`].
    pub format: String,
    /// Which data the claims speak of.
    pub data: DataIdentity,
    /// How the columns of the file became features; a model file has this in its own place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputField>,
    /// What the numbers mean.
    pub reading: ReadingField,
    /// Whether planes have a bias.
    pub bias: bool,
    /// The basis functions; null where planes are planes of the columns themselves.
    pub basis: Option<Basis>,
    /// What is claimed.
    pub claims: Vec<Claim>,
}

setters! {
    CertificateFile {
        with_input => input: Option<InputField>,
        with_basis => basis: Option<Basis>,
        with_claims => claims: Vec<Claim>,
    }
}

/// Which data, by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DataIdentity {
    /// The digest of the whole table.
    pub sha256: String,
    /// The version of the digest; where it is not written, it is the first.
    #[serde(default, skip_serializing_if = "Version::is_unnamed")]
    pub digest: Version,
    /// Its number of rows.
    pub rows: u64,
    /// What is known of the rows in any order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiset: Option<AnyOrder>,
}

/// A table by its rows, in whatever order they stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnyOrder {
    /// The digest of the rows as a multiset, [`Multiset`](crate::digest::Multiset).
    pub sha256: String,
    /// (row, SHA-256 of its bytes) of the rows that claims name by their numbers, by which they are found; rows rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<(u64, String)>,
}

impl AnyOrder {
    /// A multiset of rows, and the hashes of some.
    pub fn new(sha256: String, rows: Vec<(u64, String)>) -> AnyOrder {
        AnyOrder { sha256, rows }
    }
}

setters! {
    DataIdentity {
        with_digest => digest: Version,
        with_multiset => multiset: Option<AnyOrder>,
    }
}

/// What the numbers mean, column by column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReadingField {
    /// The meaning of every column that is not an exception.
    pub default: Reading,
    /// Columns that are binary64 although the default is decimal.
    pub binary64: Vec<u32>,
}

impl DataIdentity {
    /// Data by its digest in the latest version.
    pub fn new(sha256: String, rows: u64) -> DataIdentity {
        DataIdentity { sha256, digest: Version::LATEST, rows, multiset: None }
    }
}

impl ReadingField {
    /// A reading with exceptions.
    pub fn new(default: Reading, binary64: Vec<u32>) -> ReadingField {
        ReadingField { default, binary64 }
    }
}

/// How the columns of a file became features, in the words of who wrote the certificate. The checker
/// does not read it: it is given features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputField(Value);

impl InputField {
    /// The field that says this; `None` if it has no JSON form.
    pub fn of<T: Serialize>(input: &T) -> Option<InputField> {
        serde_json::to_value(input).ok().map(InputField)
    }

    /// What the field says; the words tell what is wrong with it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        T::deserialize(&self.0).map_err(|error| error.to_string())
    }
}

impl ReadingField {
    /// The reading of a column.
    pub fn of(&self, column: u32) -> Reading {
        match self.default {
            Reading::Decimal if self.binary64.binary_search(&column).is_err() => Reading::Decimal,
            _ => Reading::Binary64,
        }
    }
}

impl CertificateFile {
    /// Claims about data.
    pub fn new(
        data: DataIdentity,
        reading: ReadingField,
        bias: bool,
        certificate: Certificate,
    ) -> Self {
        let format = FORMAT_2.to_owned();
        CertificateFile {
            format,
            data,
            input: None,
            reading,
            bias,
            basis: None,
            claims: certificate.claims,
        }
    }

    /// Reads a file strictly: unknown fields and other versions are refused.
    pub fn from_json(bytes: &[u8]) -> Result<CertificateFile, FileError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        let head: Head =
            serde_json::from_slice(bytes).map_err(|e| FileError::Syntax(e.to_string()))?;
        if head.format != FORMAT && head.format != FORMAT_2 {
            return Err(match head.format.strip_prefix("linsep.certificate/") {
                Some(_) => FileError::Version(head.format),
                None => FileError::Syntax(format!("the format is not {FORMAT_2}")),
            });
        }
        let file: CertificateFile = form::strict(bytes).map_err(FileError::Syntax)?;
        file.check_form()?;
        file.upgraded()
    }

    /// The same claims in the second format, which measures a gap by the bound.
    pub fn upgraded(mut self) -> Result<CertificateFile, FileError> {
        if self.format == FORMAT {
            for claim in &mut self.claims {
                let Claim::Optimal { optimality, .. } = claim else { continue };
                if let Err(reason) = optimality.measure_by_bound() {
                    return Err(FileError::Syntax(reason));
                }
                if optimality.gap.is_infinite() {
                    let reason = optimality.vacuous();
                    *claim = Claim::Unproved { reason };
                }
            }
            self.format = FORMAT_2.to_owned();
        }
        Ok(self)
    }

    /// Refuses what no correct writer makes.
    pub fn check_form(&self) -> Result<(), FileError> {
        if self.format != FORMAT && self.format != FORMAT_2 {
            return Err(FileError::Version(self.format.clone()));
        }
        if self.format == FORMAT && self.claims.iter().any(is_of_format_2) {
            let words = format!("a claim of it needs the format {FORMAT_2}");
            return Err(FileError::Syntax(words));
        }
        if let Some(basis) = &self.basis {
            basis.check_form().map_err(FileError::Syntax)?;
        }
        if !self.reading.binary64.is_sorted_by(|a, b| a < b) {
            return Err(FileError::Syntax("the columns of the reading are not rising".into()));
        }
        Ok(())
    }

    /// The content of a file.
    pub fn to_json(&self) -> String {
        // Plain data with finite numbers always has a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Whether the first format does not know the kind of the claim.
fn is_of_format_2(claim: &Claim) -> bool {
    matches!(
        claim,
        Claim::Coefficients { .. }
            | Claim::JointCoefficients { .. }
            | Claim::JointTouching { .. }
            | Claim::JointOverlapping { .. }
            | Claim::Forced { .. }
    )
}

/// Why a certificate file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// It is not a certificate of this format.
    Syntax(String),
    /// It is of another version.
    Version(String),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Syntax(words) => write!(f, "not a valid certificate: {words}"),
            FileError::Version(found) => write!(f, "the format {found} is newer than {FORMAT_2}"),
        }
    }
}

impl std::error::Error for FileError {}

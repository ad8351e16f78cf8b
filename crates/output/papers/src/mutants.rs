//! Checks the claims of figures with mutants: wrong schemes, or wrong measurements, in the place of the paper's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figure::{Figure, Mutant};
use crate::result::{CheckError, check};
use crate::runs::Settings;

/// The claims of a figure with a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantResult {
    /// The figure, as `PAPER/FIGURE`.
    pub figure: String,
    /// The name of the mutant.
    pub mutant: String,
    /// The fault, in words.
    pub says: String,
    /// For each label the scheme that replaces the labelled one.
    pub schemes: BTreeMap<String, String>,
    /// For each text of a measured expression the text that replaces it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, String>,
    /// The claims that are recorded as holding and fail with the mutant.
    pub fail: Vec<String>,
    /// The claims that are recorded as holding and hold with the mutant.
    pub pass: Vec<String>,
    /// The claims that are recorded as holding and have no value with the mutant, which does not show that they can fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undefined: Vec<String>,
    /// The reason why the paper itself does not distinguish the schemes. Absent if a claim should fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indistinct: Option<String>,
}

impl MutantResult {
    /// Checks whether a claim fails, or the file says why none does.
    pub fn is_as_recorded(&self) -> bool {
        self.fail.is_empty() == self.indistinct.is_some()
    }
}

/// Runs figures with each of their mutants, and evaluates the claims that are recorded as holding.
///
/// # Errors
/// Runs that could not be made, an interrupt, or an expression that has no value.
pub fn mutants(figures: &[&Figure], settings: &Settings<'_>) -> Result<Vec<MutantResult>, CheckError> {
    let mutants: Vec<&Mutant> = figures.iter().flat_map(|figure| &figure.mutants).collect();
    let results = check(&mutants.iter().map(|mutant| &mutant.figure).collect::<Vec<_>>(), settings)?;
    let result = |(mutant, result): (&&Mutant, crate::result::FigureResult)| {
        let pairs = mutant.figure.claims.iter().zip(&result.claims);
        let (undefined, defined): (Vec<_>, Vec<_>) = pairs.partition(|(_, result)| result.is_undefined());
        let (pass, fail): (Vec<_>, Vec<_>) =
            defined.into_iter().partition(|(claim, result)| result.is_as_recorded(claim));
        let ids =
            |pairs: Vec<(&crate::claim::Claim, _)>| pairs.iter().map(|(claim, _)| claim.id.clone()).collect();
        MutantResult {
            figure: mutant.figure.name(),
            mutant: mutant.name.clone(),
            says: mutant.says.clone(),
            schemes: mutant.schemes.iter().cloned().collect(),
            measured: mutant.measured.iter().cloned().collect(),
            fail: ids(fail),
            pass: ids(pass),
            undefined: ids(undefined),
            indistinct: mutant.indistinct.clone(),
        }
    };
    Ok(mutants.iter().zip(results).map(result).collect())
}

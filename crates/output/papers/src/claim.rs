//! A claim of a figure: what it measures and expects, what the file records of it, and the measurements behind its reason.

use firstflight_scenario::FileError;
use toml::Spanned;

use crate::expectation::{Expectation, WANTED};
use crate::expression::Expression;
use crate::file::{ClaimFile, EvidenceFile, FigureFile, HabitatFile, TriedFile};
use crate::names;
use crate::points::Points;
use crate::printed::{self, Printed};
use crate::set_up::{SetUp, named};
use crate::words::{OverRuns, Source, Status};

/// A claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The name of the claim within the figure.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The source of the claimed value in the paper.
    pub source: Source,
    /// The reason for the tolerance.
    pub tolerance: String,
    /// The outcome that the file records.
    pub status: Status,
    /// Why the claim does not hold, is not testable or is unsettled.
    pub why: String,
    /// The expectation of the measured value.
    pub expected: Option<Expectation>,
    /// The measurement; `None` if nothing is measured.
    pub measurement: Option<Measurement>,
    /// The axis along which the claim is measured one value after the other.
    pub over: Option<Over>,
    /// The measurements that do not settle the claim.
    pub tried: Vec<Tried>,
    /// The measurements and commands that give the numbers of `why`.
    pub evidence: Vec<Evidence>,
}

/// A measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The name of the set-up; `None` for the figure's scenario.
    pub set_up: Option<String>,
    /// The measured expression, as the file writes it.
    pub measured: String,
    pub(crate) over_runs: OverRuns,
    pub(crate) expression: Expression,
}

/// The axis along which a claim is measured one value after the other.
#[derive(Clone, Debug)]
pub struct Over {
    /// The key of the axis.
    pub key: String,
    /// The recorded value from which on the claim holds; `None` if it does not hold at the last value.
    pub from: Option<String>,
    /// The index of the axis.
    pub(crate) axis: usize,
}

/// A measurement that does not settle its claim.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The measurement.
    pub measurement: Measurement,
    /// The recorded value.
    pub gives: Printed,
    /// Whether the recorded value meets the expectation.
    pub holds: bool,
}

/// The source of a number in a claim's `why`.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A measurement.
    Measured {
        /// The measurement.
        measurement: Measurement,
        /// The recorded value.
        gives: Printed,
    },
    /// The output of a command.
    Printed {
        /// The command line: `firstflight`, the subcommand and its arguments.
        command: String,
        /// Texts that the output has.
        prints: Vec<String>,
    },
}

/// The subcommands that evidence may run. They write only to standard output, and depend on no file.
const COMMANDS: [&str; 2] = ["model", "race"];

/// The options of these subcommands that write or read files.
const OF_FILES: [&str; 8] =
    ["--parquet", "--report", "--figure", "--series", "--pcap", "--events", "--qlog", "--svg"];

/// The part of a file that claims refer to.
pub(crate) struct Scene<'a> {
    pub(crate) text: &'a str,
    pub(crate) points: &'a Points,
    pub(crate) set_ups: &'a [SetUp],
}

impl Scene<'_> {
    /// Reads the claims of a file.
    pub(crate) fn claims(&self, file: &FigureFile) -> Result<Vec<Claim>, FileError> {
        let mut claims: Vec<Claim> = Vec::new();
        for one in &file.claim {
            let claim = self.claim(one)?;
            if claims.iter().any(|before| before.id == claim.id) {
                let message = format!("id: there are two claims `{}`; each needs a separate name", claim.id);
                return Err(self.fault(&one.get_ref().id, message));
            }
            claims.push(claim);
        }
        Ok(claims)
    }

    /// Reads the claims of a file in a habitat, in which the scene's runs are made.
    pub(crate) fn claims_there(
        &self,
        file: &FigureFile,
        there: &HabitatFile,
    ) -> Result<Vec<Claim>, FileError> {
        let mut claims = Vec::new();
        for (id, recorded) in &there.claims {
            let at_id = |message: &str| Err(self.fault(id, format!("claims: {message}")));
            let place = file.claim.iter().position(|claim| claim.get_ref().id.get_ref() == id.get_ref());
            let Some(place) = place else {
                return at_id(&format!("there is no claim `{}`", id.get_ref()));
            };
            let said = file.claim[place].get_ref();
            if recorded.status == Status::Unsettled {
                return at_id(
                    "`unsettled` is not allowed in a habitat; `holds`, `does_not_hold` and `not_testable` are",
                );
            }
            if recorded.status != Status::Holds && recorded.why.trim().is_empty() {
                return at_id("a claim that does not hold or is not testable says `why`, from evidence");
            }
            let measured = recorded.measured.as_ref().or(said.measured.as_ref());
            let is_tested = recorded.status != Status::NotTestable;
            if is_tested && (measured.is_none() || said.expected.is_none()) {
                return at_id(
                    "a claim that is tested has `expected`, and `measured`, there or in the figure",
                );
            }
            let read = |measured| self.measurement(None, measured, said.over_runs);
            let measurement = measured.filter(|_| is_tested).map(read).transpose()?;
            let (status, why) = (recorded.status, recorded.why.clone());
            claims.push((place, Claim { status, why, measurement, ..self.words(said)? }));
        }
        // The claims are in the order of the file.
        claims.sort_by_key(|(place, _)| *place);
        Ok(claims.into_iter().map(|(_, claim)| claim).collect())
    }

    fn claim(&self, spanned: &Spanned<ClaimFile>) -> Result<Claim, FileError> {
        let file = spanned.get_ref();
        let status = *file.status.get_ref();
        let at_status = |message: &str| Err(self.fault(&file.status, format!("status: {message}")));
        if status != Status::Holds && file.why.trim().is_empty() {
            return at_status(
                "a claim that does not hold, is not testable or is unsettled says `why`, from evidence",
            );
        }
        if status != Status::NotTestable && (file.measured.is_none() || file.expected.is_none()) {
            return at_status("a claim without `measured` and `expected` is `not_testable`");
        }
        if file.expected.is_some() && status != Status::NotTestable && file.tolerance.trim().is_empty() {
            let message =
                "tolerance: it is missing; the reason of the bound or the tolerance is wanted, in words";
            return Err(self.fault(&file.id, message.to_owned()));
        }
        let is_unsettled = status == Status::Unsettled;
        if is_unsettled && file.tried.len() < 2 {
            return at_status(
                "an unsettled claim has two or more entries in `tried`, each with `gives` and `holds`",
            );
        }
        if !is_unsettled && !file.tried.is_empty() {
            return at_status("`tried` is not allowed for this status; it is for `unsettled`");
        }
        let claim = self.words(file)?;
        let read = |measured| self.measurement(file.set_up.as_ref(), measured, file.over_runs);
        let measurement = file.measured.as_ref().map(read).transpose()?;
        let tried = file.tried.iter().map(|tried| self.tried(file, tried)).collect::<Result<_, _>>()?;
        let evidence = file.evidence.iter().map(|one| self.evidence(file, one)).collect::<Result<_, _>>()?;
        Ok(Claim { measurement, over: self.over(file)?, tried, evidence, ..claim })
    }

    /// Reads the parts of a claim that do not depend on the runs.
    fn words(&self, file: &ClaimFile) -> Result<Claim, FileError> {
        let id = file.id.get_ref();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
        if id.is_empty() || !id.chars().all(is_plain) {
            let message = format!("id: `{id}` is not allowed; letters, digits, `-` and `.` are");
            return Err(self.fault(&file.id, message));
        }
        let expectation = |said: &Spanned<String>| {
            let message = || format!("expected: `{}` has no meaning; {WANTED}", said.get_ref());
            Expectation::parse(said.get_ref()).ok_or_else(|| self.fault(said, message()))
        };
        Ok(Claim {
            id: id.clone(),
            says: file.says.clone(),
            source: file.source,
            tolerance: file.tolerance.clone(),
            status: *file.status.get_ref(),
            why: file.why.clone(),
            expected: file.expected.as_ref().map(expectation).transpose()?,
            measurement: None,
            over: None,
            tried: Vec::new(),
            evidence: Vec::new(),
        })
    }

    /// Returns the runs of the set-up of this name; without a name, those of the figure.
    fn points(&self, set_up: Option<&Spanned<String>>) -> Result<&Points, FileError> {
        let set_up = named(self.text, self.set_ups, set_up)?;
        Ok(set_up.map_or(self.points, |set_up| &set_up.points))
    }

    fn measurement(
        &self,
        set_up: Option<&Spanned<String>>,
        measured: &Spanned<String>,
        over_runs: Option<OverRuns>,
    ) -> Result<Measurement, FileError> {
        Ok(Measurement {
            set_up: set_up.map(|set_up| set_up.get_ref().clone()),
            measured: measured.get_ref().clone(),
            over_runs: over_runs.unwrap_or_default(),
            expression: names::read(self.text, measured, None, self.points(set_up)?)?,
        })
    }

    fn over(&self, file: &ClaimFile) -> Result<Option<Over>, FileError> {
        let Some(over) = &file.over else {
            return match &file.from {
                None => Ok(None),
                Some(from) => Err(self.fault(from, "from: it is for a claim with `over`".to_owned())),
            };
        };
        let key = over.get_ref();
        let points = self.points(file.set_up.as_ref())?;
        let Some(axis) = points.axes.iter().position(|axis| axis.key == *key) else {
            let hint = names::near(key, points.axes.iter().map(|axis| axis.key.as_str()));
            return Err(self.fault(over, format!("over: [vary] has no key `{key}`; {hint}")));
        };
        let from = match (&file.from, *file.status.get_ref()) {
            (Some(from), Status::Holds) => {
                let place = points.place(key, from.get_ref());
                let (_, place) = place.map_err(|message| self.fault(from, format!("from: {message}")))?;
                Some(points.axes[axis].values[place].name.clone())
            }
            (None, Status::Holds) => {
                let message =
                    format!("over: `from` is missing: the value of {key} from which on the claim holds");
                return Err(self.fault(over, message));
            }
            (None, Status::DoesNotHold) => None,
            (Some(from), Status::DoesNotHold) => {
                let message = "from: a claim that holds from a value on has the status `holds`";
                return Err(self.fault(from, message.to_owned()));
            }
            (_, Status::NotTestable | Status::Unsettled) => {
                let message = "over: a claim with it has the status `holds` or `does_not_hold`";
                return Err(self.fault(over, message.to_owned()));
            }
        };
        Ok(Some(Over { key: key.clone(), from, axis }))
    }

    /// Reads the measurement of an entry. Without an expression it is that of the claim.
    fn entry(
        &self,
        claim: &ClaimFile,
        set_up: Option<&Spanned<String>>,
        measured: Option<&Spanned<String>>,
        over_runs: Option<OverRuns>,
    ) -> Result<Measurement, FileError> {
        let Some(expression) = measured.or(claim.measured.as_ref()) else {
            let message = "evidence: `measured` is missing; the claim has none";
            return Err(self.fault(&claim.id, message.to_owned()));
        };
        let of_claim = claim.over_runs.filter(|_| measured.is_none());
        self.measurement(set_up, expression, over_runs.or(of_claim))
    }

    fn tried(&self, claim: &ClaimFile, file: &TriedFile) -> Result<Tried, FileError> {
        let measurement = self.entry(claim, file.set_up.as_ref(), file.measured.as_ref(), file.over_runs)?;
        Ok(Tried { measurement, gives: self.printed(&file.gives)?, holds: file.holds })
    }

    fn evidence(&self, claim: &ClaimFile, spanned: &Spanned<EvidenceFile>) -> Result<Evidence, FileError> {
        let file = spanned.get_ref();
        let absent = |said: &Spanned<String>, what: &str, text: &str| {
            self.fault(
                said,
                format!("{what}: `why` does not have `{text}`; it has each text of its evidence"),
            )
        };
        match (&file.gives, &file.command) {
            (Some(said), None) if file.prints.is_empty() => {
                let gives = self.printed(said)?;
                if let Some(text) = gives.missing_in(&claim.why) {
                    return Err(absent(said, "gives", text));
                }
                let measurement =
                    self.entry(claim, file.set_up.as_ref(), file.measured.as_ref(), file.over_runs)?;
                Ok(Evidence::Measured { measurement, gives })
            }
            (None, Some(command))
                if !file.prints.is_empty() && file.measured.is_none() && file.set_up.is_none() =>
            {
                let prints = &file.prints;
                if let Some(said) = prints.iter().find(|said| !printed::has(&claim.why, said.get_ref())) {
                    return Err(absent(said, "prints", said.get_ref()));
                }
                let prints = prints.iter().map(|said| said.get_ref().clone()).collect();
                Ok(Evidence::Printed { command: self.command(command)?, prints })
            }
            _ => {
                let message = "evidence: `measured` and `gives`, or `command` and `prints` are wanted";
                Err(FileError::new(self.text, spanned.span(), message.to_owned()))
            }
        }
    }

    fn printed(&self, said: &Spanned<String>) -> Result<Printed, FileError> {
        let message = || format!("gives: `{}` is not allowed; {}", said.get_ref(), printed::WANTED);
        Printed::parse(said.get_ref()).ok_or_else(|| self.fault(said, message()))
    }

    fn command(&self, said: &Spanned<String>) -> Result<String, FileError> {
        let words: Vec<&str> = said.get_ref().split_whitespace().collect();
        let is_known =
            words.first() == Some(&"firstflight") && words.get(1).is_some_and(|name| COMMANDS.contains(name));
        if !is_known {
            let all = COMMANDS.map(|name| format!("`firstflight {name} …`")).join(" and ");
            let message = format!("command: `{}` is not allowed; {all} are", said.get_ref());
            return Err(self.fault(said, message));
        }
        let is_of_files = |word: &&&str| OF_FILES.contains(&word.split('=').next().unwrap_or_default());
        if let Some(option) = words.iter().find(is_of_files) {
            let message = format!("command: `{option}` is not allowed; the command prints its results");
            return Err(self.fault(said, message));
        }
        Ok(said.get_ref().clone())
    }

    fn fault<T>(&self, at: &Spanned<T>, message: String) -> FileError {
        FileError::new(self.text, at.span(), message)
    }
}

//! The keys of a path as options of the command line. They come from the scenario crate's table of keys.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use firstflight_scenario::keys::{Heading, Key, keys};

/// The options for the path and for the endpoints on it.
#[derive(Debug, Default)]
pub(crate) struct PathKeys {
    /// The keys that were given, each with its text.
    pub(crate) given: Vec<(&'static str, String)>,
    /// The list of schemes, as text.
    pub(crate) schemes: Option<String>,
}

/// The options for the number of runs.
#[derive(Debug, Default)]
pub(crate) struct RunKeys {
    /// The keys that were given, each with its text.
    pub(crate) given: Vec<(&'static str, String)>,
}

/// The options for the endpoints, used by commands whose path already exists.
#[derive(Debug, Default)]
pub(crate) struct EndKeys {
    /// The keys that were given, each with its text.
    pub(crate) given: Vec<(&'static str, String)>,
}

impl Args for EndKeys {
    fn augment_args(command: Command) -> Command {
        command.args(under(Heading::Schemes).map(option)).args(under(Heading::Endpoints).map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EndKeys {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: given(matches, under(Heading::Schemes).chain(under(Heading::Endpoints))) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The name of the option with the list of schemes.
pub(crate) const SCHEMES: &str = "schemes";

impl Args for PathKeys {
    fn augment_args(command: Command) -> Command {
        let schemes = text(SCHEMES, "LIST")
            .help("Schemes: all, or NAME[:k=v[,k=v]…][,NAME…]; -NAME takes one away, as in all,-vegas [all]")
            .help_heading(Heading::Schemes.name());
        command
            .args(under(Heading::Path).map(option))
            .arg(schemes)
            .args(under(Heading::Schemes).map(option))
            .args(under(Heading::Endpoints).map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PathKeys {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let keys = under(Heading::Path).chain(under(Heading::Schemes)).chain(under(Heading::Endpoints));
        Ok(Self { given: given(matches, keys), schemes: matches.get_one::<String>(SCHEMES).cloned() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RunKeys {
    fn augment_args(command: Command) -> Command {
        command.args(under(Heading::Runs).map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunKeys {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: given(matches, under(Heading::Runs)) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options for a path with real packets. The remaining keys are accepted too, so that they can be refused with a reason, but the help
/// does not show them.
#[derive(Debug, Default)]
pub(crate) struct RealKeys {
    /// The keys that were given, each with its text.
    pub(crate) given: Vec<(&'static str, String)>,
    /// A list of schemes, which is refused if it was given.
    pub(crate) schemes: Option<String>,
}

impl Args for RealKeys {
    fn augment_args(command: Command) -> Command {
        let option = |key: &'static Key| {
            let option = option(key).hide(!key.real);
            match key.name {
                "duration" => option.help("How long the run lasts [as long as the command at host A]"),
                "limit" => option.help("The longest time that the command at host A may take [none]"),
                _ => option,
            }
        };
        command.args(keys().map(option)).arg(text(SCHEMES, "LIST").hide(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RealKeys {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: given(matches, keys()), schemes: matches.get_one::<String>(SCHEMES).cloned() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn under(heading: Heading) -> impl Iterator<Item = &'static Key> {
    keys().filter(move |key| key.heading == heading)
}

fn option(key: &'static Key) -> Arg {
    let option = if key.is_flag() {
        Arg::new(key.name).long(key.name).action(ArgAction::SetTrue)
    } else if key.repeats {
        text(key.name, key.value_name()).action(ArgAction::Append)
    } else {
        text(key.name, key.value_name())
    };
    option.help(key.help_line()).help_heading(key.heading.name())
}

/// Returns an option whose value is kept as text here; the scenario crate parses it.
pub(crate) fn text(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).allow_hyphen_values(true)
}

/// Returns those of `keys` that were given, each with its text.
fn given(matches: &ArgMatches, keys: impl Iterator<Item = &'static Key>) -> Vec<(&'static str, String)> {
    let flag = |key: &Key| matches.get_flag(key.name).then(|| true.to_string());
    // The values of a repeated key are joined into one text.
    let value = |key: &Key| {
        let all: Vec<&str> = matches.get_many::<String>(key.name)?.map(String::as_str).collect();
        Some(all.join(";"))
    };
    let text = |key: &Key| if key.is_flag() { flag(key) } else { value(key) };
    keys.filter_map(|key| Some((key.name, text(key)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_options_under_their_headings_and_take_values_unless_flags() {
        let command = RunKeys::augment_args(PathKeys::augment_args(Command::new("race")));
        for key in keys() {
            let option = command.get_arguments().find(|option| option.get_long() == Some(key.name));
            let option = option.unwrap_or_else(|| panic!("--{}", key.name));
            assert_eq!(option.get_help_heading(), Some(key.heading.name()), "{}", key.name);
            assert_eq!(option.get_action().takes_values(), !key.is_flag(), "{}", key.name);
        }
    }
}

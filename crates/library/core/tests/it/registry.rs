//! Names, parameters and needs.

use firstflight::registry::{
    self, Ability, Help, Kind, Missing, Needs, Offers, ParameterError, Problem, Value, check,
};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Rate, Span};

const INITIAL: Initial = Initial { segments: 10, ssthresh: None };

#[test]
fn names_are_unique_and_found() {
    for (index, entry) in registry::schemes().iter().enumerate() {
        assert_eq!(registry::scheme(entry.name).map(|found| found.name), Some(entry.name));
        assert!(registry::schemes()[..index].iter().all(|before| before.name != entry.name));
        assert!(registry::law(entry.law).is_some(), "{}", entry.law);
    }
    for name in ["slow-start", "slow-start-paced", "limited", "hystart", "paced"] {
        assert!(registry::scheme(name).is_some(), "{name}");
    }
    for name in ["adaptive", "search", "suss", "bbr", "careful-resume"] {
        assert!(registry::scheme(name).is_some(), "{name}");
    }
    assert!(registry::law("westwood").is_some() && registry::law("bbr").is_some());
    assert!(registry::law("reno").is_some() && registry::law("cubic").is_some());
    assert!(registry::restart("rfc5681").is_some());
    assert!(registry::scheme("slow").is_none());
}

#[test]
fn every_default_is_a_value_that_is_allowed() {
    for entry in registry::schemes() {
        for parameter in entry.parameters {
            assert!(parameter.kind.allows(parameter.default), "{}:{}", entry.name, parameter.name);
            let set = [(parameter.name, parameter.default)];
            assert!(entry.build(INITIAL, &set).is_ok());
        }
    }
}

#[test]
fn invalid_settings_are_refused_by_name_with_allowed_values() {
    let limited = registry::scheme("limited").expect("registered");
    let error = |settings: &[(&str, Value)]| limited.build(INITIAL, settings).err().map(|e| e.to_string());
    let text = |text: &str| Some(text.to_owned());

    assert_eq!(
        error(&[("max-ssthresh", Value::Count(1))]),
        text("limited: max-ssthresh is 1, allowed is a whole number from 2 to 65535")
    );
    assert_eq!(
        error(&[("max-ssthresh", Value::Span(Span::from_millis(5)))]),
        text("limited: max-ssthresh is 5ms, allowed is a whole number from 2 to 65535")
    );
    assert_eq!(
        error(&[("max", Value::Count(5))]),
        text("limited has no parameter max: it has max-ssthresh, division")
    );
    assert_eq!(
        error(&[("max-ssthresh", Value::Count(5)), ("max-ssthresh", Value::Count(6))]),
        text("limited: max-ssthresh is set twice")
    );
    let none = registry::scheme("slow-start").expect("registered");
    assert_eq!(
        none.build(INITIAL, &[("x", Value::Count(1))]).err(),
        Some(ParameterError { owner: "slow-start", name: "x", problem: Problem::Unknown(&[]) })
    );
}

#[test]
fn values_are_written_as_the_command_line_takes_them() {
    let cases = [
        (Value::Count(100), "100"),
        (Value::Span(Span::from_micros(5)), "5us"),
        (Value::Span(Span::from_micros(1_500)), "1.5ms"),
        (Value::Span(Span::ZERO), "0ns"),
        (Value::Rate(Rate::from_bps(5_120_000)), "5.12mbit"),
        (Value::Bytes(Bytes::new(64_000)), "64kB"),
        (Value::Bytes(Bytes::new(1_001)), "1.001kB"),
        (Value::Fraction { ppm: 50_000 }, "5%"),
        (Value::Fraction { ppm: 1_250 }, "0.125%"),
        (Value::Word("paper"), "paper"),
    ];
    for (value, text) in cases {
        assert_eq!(value.to_string(), text);
    }
    assert_eq!(Kind::Word(&["practical", "paper"]).to_string(), "practical, paper");
    assert_eq!(Kind::Word(&["paper"]).word("paper"), Some(Value::Word("paper")));
    assert_eq!(Kind::Word(&["paper"]).word("pap"), None);
}

#[test]
fn a_host_that_lacks_what_a_choice_needs_is_refused_by_name() {
    let everything = Offers::all("the simulator");
    let window_only = Offers::of("a window-only host", &[Ability::AckClock]);
    for entry in registry::schemes() {
        assert_eq!(entry.check(&[], everything), Ok(()));
    }
    let refused = |name| registry::scheme(name).expect("registered").check(&[], window_only);
    assert_eq!(refused("slow-start"), Ok(()));
    assert_eq!(
        refused("slow-start-paced"),
        Err(Missing { of: "slow-start-paced", host: "a window-only host", ability: Ability::Rate })
    );
    let law = |name| {
        registry::law(name).expect("registered").check(window_only).map_err(|missing| missing.to_string())
    };
    assert_eq!(law("reno"), Ok(()));
    assert_eq!(
        law("cubic-linux"),
        Err("cubic-linux needs a count of the packets that each ACK acknowledges, which a window-only host cannot give".to_owned())
    );
    let restart = registry::restart("rfc5681").expect("registered").check(window_only);
    assert_eq!(restart.map_err(|missing| missing.ability), Err(Ability::IdleQuestion));
    assert_eq!(check("nothing", Needs::default(), Offers::of("a host", &[])), Ok(()));
}

#[test]
fn a_host_need_not_give_what_a_scheme_only_uses() {
    let without = |missing| {
        let offered: Vec<Ability> = Ability::ALL.into_iter().filter(|ability| *ability != missing).collect();
        let paced = registry::scheme("paced").expect("registered");
        paced.check(&[], Offers::of("a host", &offered)).map_err(|missing| missing.to_string())
    };
    assert_eq!(
        without(Ability::ExactSendTimes),
        Err("paced needs exact transmission times, which a host cannot give".to_owned())
    );
    assert_eq!(without(Ability::SackSplit), Ok(()));
    assert_eq!(without(Ability::DeliveryRate), Ok(()));
}

#[test]
fn abilities_imply_weaker_ones_of_the_same_kind() {
    let host = Offers::of("a host", &[Ability::PacketAcks, Ability::Timer]);
    for ability in [Ability::NewestAck, Ability::PacketCounts, Ability::LateTimer] {
        assert!(host.has(ability), "{}", ability.name());
    }
    assert!(!Offers::of("a host", &[Ability::NewestAck]).has(Ability::PacketAcks));
    // An ability that another one implies is not named twice.
    let needs = Needs::of(&[Ability::PacketAcks]).using(&[Ability::Timer]);
    assert_eq!(needs.iter().collect::<Vec<_>>(), [Ability::PacketAcks]);
    assert_eq!(needs.used().collect::<Vec<_>>(), [Ability::Timer]);
}

#[test]
fn a_scheme_around_another_needs_what_the_one_inside_needs() {
    let entry = registry::scheme("quick-start").expect("registered");
    let inside = entry.parameter("around").expect("it has a scheme inside");
    let around = |name| [("around", inside.kind.word(name).expect("a plain scheme"))];
    assert!(!entry.needs_with(&[]).has(Ability::Train));
    assert!(!entry.needs_with(&around("slow-start")).has(Ability::Train));
    assert!(entry.needs_with(&around("paced")).has(Ability::Train));
}

#[test]
fn help_beyond_the_sender_is_declared_including_that_of_inner_schemes() {
    let help = |name| {
        let entry = registry::scheme(name).expect("registered");
        entry.needs.help().map(Help::name).collect::<Vec<_>>()
    };
    assert_eq!(help("quick-start"), ["router-help"]);
    for name in ["careful-resume", "leap-saved"] {
        assert_eq!(help(name), ["memory"]);
    }
    let helped = ["quick-start", "careful-resume", "leap-saved"];
    let others = registry::schemes().iter().filter(|one| !helped.contains(&one.name));
    others.for_each(|one| assert_eq!(help(one.name), [""; 0], "{}", one.name));
    let policies = registry::restarts().iter().filter(|one| one.needs.help().next().is_some());
    assert_eq!(policies.map(|one| one.name).collect::<Vec<_>>(), ["quick-start"]);

    let entry = registry::scheme("quick-start").expect("registered");
    let inside = entry.parameter("around").and_then(|around| around.kind.word("careful-resume"));
    let needs = entry.needs_with(&[("around", inside.expect("a plain scheme"))]);
    assert_eq!(needs.help().collect::<Vec<_>>(), [Help::Routers, Help::Memory]);
    // A scheme works without abilities that it only uses; marks that it needs are help.
    assert_eq!(Needs::of(&[Ability::Marks]).help().collect::<Vec<_>>(), [Help::Marks]);
    assert_eq!(Needs::default().using(&[Ability::Marks, Ability::RateRequest]).help().count(), 0);
}

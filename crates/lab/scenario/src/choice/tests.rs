use firstflight::Bytes;
use firstflight::registry::Kind;

use super::list::names;
use super::*;
use crate::parameter::read;
use crate::parse_choices;
use crate::scenario::Scenario;

fn fault(list: &str) -> String {
    parse_choices(list).expect_err(list).to_string()
}

#[test]
fn slow_start_is_that_of_the_registry() {
    assert_eq!(SchemeChoice::slow_start().name(), "slow-start");
}

#[test]
fn all_is_every_scheme_that_is_built() {
    let all = parse_choices("all").expect("all");
    assert_eq!(all.len(), registry::schemes().len());
    let listed = names(Registry::builtin()).replace(", ", ",");
    assert_eq!(show_choices(&all), listed);
    assert_eq!(show_choices(&parse_choices(&listed).expect("all by name")), listed);
}

#[test]
fn a_dash_takes_a_scheme_away_from_what_is_listed_before_it() {
    let listed = |list: &str| {
        let choices = parse_choices(list).unwrap_or_else(|error| panic!("{list}: {error}"));
        show_choices(&choices)
    };
    let all = names(Registry::builtin()).replace(", ", ",");
    assert_eq!(listed("all,-vegas"), all.replace(",vegas", ""));
    assert_eq!(listed("-vegas,-paced"), all.replace(",vegas", "").replace(",paced,", ","), "of all");
    assert_eq!(listed("all,-paced,paced:first=4"), all.replace(",paced,", ",") + ",paced:first=4");
    assert_eq!(listed("vegas,paced,-vegas"), "paced");
    let two = "slow-start,paced:as=a,paced:first=4,as=b";
    assert_eq!(listed(&format!("{two},-a")), "slow-start,paced:first=4,as=b", "a label is one row");
    assert_eq!(listed(&format!("{two},-paced")), "slow-start", "a scheme is all its rows");
    for (list, says) in [
        ("all,-vegsa", "unknown scheme `vegsa`; is `vegas` meant?"),
        ("all,-", "a scheme is missing; as in"),
        ("slow-start,-vegas", "`-vegas` takes nothing away: `vegas` is not in the list before it"),
        ("all,-vegas,-vegas", "`-vegas` takes nothing away"),
        ("all,-paced:first=4", "`-paced:first=4` has parameters; `-NAME` is wanted"),
        ("all,-vegas,first=4", "the parameter `first=4` belongs to no scheme"),
        ("vegas,-vegas", "nothing is left to race; a scheme is wanted"),
    ] {
        assert!(fault(list).starts_with(says), "{list}: {}", fault(list));
    }
}

#[test]
fn a_scheme_from_elsewhere_is_told_the_name_here() {
    for (name, here) in [
        ("newreno", "write `slow-start:avoidance=reno`"),
        ("bbr2", "write `bbr:avoidance=bbr`, which is BBRv3: earlier versions are not here"),
        ("BBRv3", "write `bbr:avoidance=bbr`, which is BBRv3"),
        ("hystartpp", "write `hystart++`"),
        ("cubic", "write `hystart-linux`, whose law is CUBIC, or `slow-start:avoidance=cubic`"),
        ("HyStart_Linux", "is `hystart-linux` meant?"),
    ] {
        assert_eq!(fault(name), format!("unknown scheme `{name}`; {here}"));
    }
}

#[test]
fn a_list_names_what_stands_in_it_by_itself() {
    let choice = |name| parse_choices(name).expect(name).remove(0);
    assert!(is_named("all,-vegas,paced:first=4,as=x", &choice("paced")));
    for list in ["all", "all,-vegas", "-vegas", "slow-start:as=vegas"] {
        assert!(!is_named(list, &choice("vegas")), "{list}");
    }
}

#[test]
fn the_same_scheme_twice_takes_a_label() {
    assert!(fault("slow-start,slow-start").contains("twice"));
    let two = parse_choices("slow-start,slow-start:as=again").expect("two");
    assert_eq!((two[0].name(), two[1].name()), ("slow-start", "again"));
    assert_eq!(show_choices(&two), "slow-start,slow-start:as=again");
    assert!(fault("slow-start:as=x,slow-start:as=x").contains("twice"));
    assert!(fault("slow-start:as=../x").contains("label"));
}

#[test]
fn an_item_with_a_sign_belongs_to_the_scheme_before_it() {
    let two = parse_choices("slow-start,as=first,slow-start").expect("two");
    assert_eq!((two[0].name(), two[1].name()), ("first", "slow-start"));
    assert!(fault("as=first,slow-start").contains("belongs to no scheme"));
    assert!(fault("all,as=first").contains("belongs to no scheme"));
}

#[test]
fn a_scheme_may_have_options_of_the_path_for_itself() {
    let list = "slow-start,slow-start:recovery=sack,iw=10p,ssthresh=5p,as=literal";
    let choices = parse_choices(list).expect("two");
    assert_eq!(choices[1].params(), "recovery=sack,iw=10p,ssthresh=5p");
    assert_eq!(show_choices(&choices), list);
    let base = Scenario::default();
    assert_eq!(base.for_scheme(&choices[0]), base);
    let own = base.for_scheme(&choices[1]);
    assert_eq!((own.iw, own.ssthresh), (10, Some(Bytes::new(5 * 960))));
    assert_eq!(own.recovery, firstflight_tcp::Recovery::Sack);
    assert!(fault("slow-start:recovery=magic").starts_with("slow-start: recovery: "));
}

#[test]
fn duplicate_settings_are_refused() {
    for (list, wanted) in [
        ("paced:first=10,first=11", "paced: first is set twice"),
        ("slow-start:iw=4p,iw=4p", "slow-start: iw is set twice"),
        ("vegas:restart=ssr,as=x,restart=nssr", "vegas: restart is set twice"),
        ("limited:as=x,as=y", "limited: as is set twice"),
    ] {
        assert_eq!(fault(list), wanted);
    }
}

#[test]
fn a_zero_needs_no_unit_and_range_errors_state_the_allowed_range() {
    let params = |list| parse_choices(list).expect(list)[0].params();
    assert_eq!(params("paced:slack=0"), "slack=0ns");
    assert_eq!(params("careful-resume:saved=0,rtt=0"), "");
    assert_eq!(
        fault("paced:slack=-1ms"),
        "paced: slack: `-1ms` is negative; allowed is a time from 0ns to 1s"
    );
    assert!(fault("quick-start:request=100tbit").ends_with("allowed is a rate from 0bit to 1.31072gbit"));
}

#[test]
fn explicit_defaults_are_shown_if_a_profile_changes_defaults() {
    let params = |list| parse_choices(list).expect(list)[0].params();
    assert_eq!(params("paced:profile=paper,first=10"), "profile=paper,first=10");
    assert_eq!(params("search:variant=00,threshold=26%"), "variant=00,threshold=26%");
    assert_eq!(params("paced:first=10,profile=practical"), "profile=practical,first=10");
    assert_eq!(params("paced:first=iw,profile=practical"), "");
}

#[test]
fn every_bound_of_a_parameter_can_be_written() {
    let schemes = registry::schemes().iter().flat_map(|entry| entry.parameters);
    let restarts = registry::restarts().iter().flat_map(|entry| entry.parameters);
    for parameter in schemes.chain(restarts) {
        let bounds = match parameter.kind {
            Kind::Count { min, max } | Kind::CountOr { min, max, .. } => {
                [Value::Count(min), Value::Count(max)]
            }
            Kind::Span { min, max } => [Value::Span(min), Value::Span(max)],
            Kind::Rate { min, max } => [Value::Rate(min), Value::Rate(max)],
            Kind::Bytes { min, max } => [Value::Bytes(min), Value::Bytes(max)],
            Kind::Fraction { min_ppm, max_ppm } => {
                [Value::Fraction { ppm: min_ppm }, Value::Fraction { ppm: max_ppm }]
            }
            Kind::Word(_) => continue,
        };
        for bound in bounds {
            assert_eq!(read(parameter, &bound.to_string()), Ok(bound), "{}", parameter.name);
        }
    }
}

#[test]
fn every_default_of_a_parameter_can_be_written() {
    let schemes = registry::schemes().iter().flat_map(|entry| entry.parameters);
    let restarts = registry::restarts().iter().flat_map(|entry| entry.parameters);
    for parameter in schemes.chain(restarts) {
        let shown = parameter.default.to_string();
        assert_eq!(read(parameter, &shown), Ok(parameter.default), "{}={shown}", parameter.name);
    }
}

#[test]
fn unknown_schemes_are_refused_by_name() {
    assert_eq!(fault("slow-strat"), "unknown scheme `slow-strat`; is `slow-start` meant?");
    assert!(fault("zzzzzzzzzzzzzzzzz").contains("; there are slow-start"));
    assert!(fault("").contains("missing"));
    assert!(fault("slow-start,").contains("missing"));
    assert!(fault("slow-start:").contains("no parameter"));
    assert!(fault("slow-start:nonsense=1").contains("slow-start has no parameter nonsense"));
    assert_eq!(fault("paced:frist=3"), "paced has no parameter frist; is `first` meant?");
    assert_eq!(fault("paced:recovry=sack"), "paced has no parameter recovry; is `recovery` meant?");
    let of_the_path = fault("slow-start:initial-rto=2s");
    assert!(of_the_path.contains("initial-rto is a key of the whole path, --initial-rto"), "{of_the_path}");
    assert!(of_the_path.contains("rto-floor"), "what a scheme may have is listed: {of_the_path}");
}

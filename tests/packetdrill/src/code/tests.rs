use super::*;

struct Info;

impl Names for Info {
    fn value(&self, name: &str) -> Option<i64> {
        match name {
            "tcpi_snd_cwnd" => Some(10),
            "TCP_CA_Open" => Some(0),
            _ => None,
        }
    }
}

fn run(text: &str) -> Result<(), (usize, Fault)> {
    Code::default().run(text, 1, &Info)
}

#[test]
fn an_assertion_that_holds_passes() {
    for text in [
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "assert (tcpi_snd_cwnd == 10), 'cwnd=%d' % tcpi_snd_cwnd",
        "assert 9 < tcpi_snd_cwnd <= 10 and not TCP_CA_Open or 1/0",
        "x = 4; x += 1; assert x * 2 == tcpi_snd_cwnd; print(x)",
        "assert -7 // 2 == -4 and -7 % 3 == 2 and 7 // -2 == -4 and 7 % -3 == -2",
        "assert min(3, 2) == 2 and max(1, 2.5) == 2.5 and abs(-1) == 1 and 2 ** 10 == 1024",
        "# a comment; assert 0\nassert 'a' 'b' == \"ab\"",
        "assert (1 +\n 1) == 2",
    ] {
        assert_eq!(run(text), Ok(()), "{text}");
    }
}

#[test]
fn one_that_does_not_hold_says_what_and_where() {
    let fault = run("print(1)\nassert tcpi_snd_cwnd == 11, 'cwnd is %d, not %s' % (tcpi_snd_cwnd, 11)");
    let message = "`assert tcpi_snd_cwnd == 11, 'cwnd is %d, not %s' % (tcpi_snd_cwnd, 11)` does not hold: cwnd is 10, not 11";
    assert_eq!(fault, Err((2, Fault::Failed(message.to_owned()))));
    assert!(matches!(run("assert 1 > 2"), Err((1, Fault::Failed(_)))));
}

#[test]
fn variables_live_on() {
    let mut code = Code::default();
    assert_eq!(code.run("cwnd = 58", 1, &Info), Ok(()));
    assert_eq!(code.run("cwnd += 1; assert cwnd == 59", 2, &Info), Ok(()));
}

#[test]
fn unknown_code_is_reported_by_name() {
    for (text, named) in [
        ("assert tcpi_options", "tcpi_options"),
        ("import os", "import"),
        ("os.system('x')", "`.`"),
        ("open('x')", "open"),
        ("assert 1 / 0", "zero"),
        ("assert 9223372036854775807 + 1", "large"),
        ("assert [1]", "["),
        ("if x: assert 0", "if"),
        ("'%d' % (1, 2)", "values"),
        ("'%d %d' % 1", "values"),
    ] {
        let Err((1, Fault::Unsupported(what))) = run(text) else { panic!("{text} was taken") };
        assert!(what.contains(named), "{text}: {what}");
    }
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    for text in ["(".repeat(100_000), "-".repeat(100_000), format!("assert {} 1", "not ".repeat(100_000))] {
        drop(run(&text));
    }
}

#[test]
fn a_long_chain_of_operators_is_refused_not_followed() {
    for operator in ["+", "-", "*", "|", "^", "&", "<<", "%", " and ", " or ", "+1 and "] {
        let text = format!("assert {}1 > 0", format!("1{operator}").repeat(100_000));
        let Err((1, Fault::Unsupported(what))) = run(&text) else { panic!("`{operator}` was followed") };
        assert_eq!(what, "a statement of more than 512 operators in code", "{operator}");
    }
    for operator in ["+", "|", " and ", " or "] {
        assert_eq!(run(&format!("assert {}1 > 0", format!("1{operator}").repeat(512))), Ok(()), "{operator}");
    }
}

#[test]
fn a_tuple_that_grows_from_statement_to_statement_is_refused() {
    for grown in ["x = (x, x); ", "x = (x,); ", "x = (1, x); "] {
        let Err((1, Fault::Unsupported(what))) = run(&format!("x = 1; {}", grown.repeat(1_000))) else {
            panic!("`{grown}` was taken")
        };
        assert_eq!(what, "a value too large in code", "{grown}");
    }
    assert_eq!(run("x = (1, (2, 3)); assert x == (1, (2, 3))"), Ok(()));
}

//! A Chromium without a window, controlled over its debugging pipe (the `DevTools` protocol), as by a reader with a keyboard, a screen and
//! a printer, on a network that the test controls.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// A timeout that no action of a page exceeds, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// The time between two checks of a condition.
const POLL: Duration = Duration::from_millis(20);

pub(crate) struct Chromium {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    profile: PathBuf,
    last: u64,
    /// The page's session.
    session: Option<String>,
    /// Events in the page since it was opened.
    events: VecDeque<Value>,
    network: Network,
}

/// Checks whether the page is loaded and each plot is drawn that is not folded away.
const DRAWN: &str = "document.readyState === 'complete' && [...document.querySelectorAll('.plot')]
    .every((plot) => plot.closest('details:not([open])') || plot.querySelector('.js-plotly-plot .main-svg:first-child'))";

/// How a page is displayed.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) dark: bool,
}

pub(crate) const SCREEN: Look = Look { width: 1280, dark: false };

/// A proxy that answers no request and records all of them: the only network that a page has.
struct Network {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Chromium {
    /// Starts the browser. Without one, prints a line about the skipped test.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let Some(browser) = installed() else {
            println!("skipped: no Chromium on the PATH, so no page was opened in it ({name})");
            return None;
        };
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}.profile"));
        let _ = std::fs::remove_dir_all(&profile);
        // The pipe is on descriptors 3 and 4, which only a shell can put there without unsafe code.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                "--no-first-run",
            ])
            // The browser's own requests cannot leave this machine.
            .args([
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let commands = child.stdin.take().expect("piped");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let message = std::mem::take(&mut message);
                if sender.send(serde_json::from_slice(&message).expect("JSON")).is_err() {
                    break;
                }
            }
        });
        let network = Network::new();
        let mut this = Self {
            child,
            commands,
            answers,
            profile,
            last: 0,
            session: None,
            events: VecDeque::new(),
            network,
        };
        let proxy = format!("127.0.0.1:{}", this.network.port);
        // A separate browser context, whose requests, including those to this machine, go to the test's proxy; the browser's own do not.
        let context = this.call(
            "Target.createBrowserContext",
            &json!({"proxyServer": proxy, "proxyBypassList": "<-loopback>"}),
        );
        let page = json!({"url": "about:blank", "browserContextId": context["browserContextId"]});
        let target = this.call("Target.createTarget", &page);
        let attached =
            this.call("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}));
        this.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            this.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(this)
    }

    /// Opens a file, and waits until all of its plots are drawn.
    pub(crate) fn open(&mut self, page: &Path, look: Look) {
        self.screen(look);
        self.events.clear();
        self.network.asked.lock().expect("not poisoned").clear();
        self.call("Page.navigate", &json!({"url": format!("file://{}", page.display())}));
        for _ in 0..PATIENCE.as_millis() / POLL.as_millis() {
            if self.evaluate("location.pathname") == json!(page) && self.evaluate(DRAWN) == json!(true) {
                return;
            }
            std::thread::sleep(POLL);
        }
        panic!("{} is not drawn", page.display());
    }

    /// Changes how the open page is displayed.
    pub(crate) fn look(&mut self, look: Look) {
        self.screen(look);
        // A page redraws itself when its width has been constant for a moment.
        self.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 100)), 250))");
    }

    fn screen(&mut self, look: Look) {
        let scheme = if look.dark { "dark" } else { "light" };
        let media = json!({"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &media);
        let screen =
            json!({"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": look.width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Returns the value of an expression in the page; if it is a promise, the value of the promise.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let said = self.call(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(said.get("exceptionDetails").is_none(), "{expression}: {said:#}");
        said["result"]["value"].clone()
    }

    /// Presses a key: `Tab`, `Enter`, `Escape`, `ArrowRight`, or one character.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowRight" => (39, ""),
            " " => (32, " "),
            other => (i64::from(other.to_ascii_uppercase().as_bytes()[0]), other),
        };
        let name = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let down = json!({"type": name, "key": key, "windowsVirtualKeyCode": code, "text": text});
        self.call("Input.dispatchKeyEvent", &down);
        self.call(
            "Input.dispatchKeyEvent",
            &json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}),
        );
    }

    /// Replaces the reader's mouse by touch input from now on.
    pub(crate) fn take_the_mouse_away(&mut self) {
        self.call("Emulation.setTouchEmulationEnabled", &json!({"enabled": true, "maxTouchPoints": 1}));
    }

    /// Swipes a finger up the screen from a point, by this many pixels.
    pub(crate) fn swipe_up(&mut self, [x, y]: [u32; 2], by: u32) {
        const STEPS: u32 = 10;
        self.call(
            "Input.dispatchTouchEvent",
            &json!({"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}),
        );
        for step in 1..=STEPS {
            let at = json!({"x": x, "y": y - by * step / STEPS});
            self.call("Input.dispatchTouchEvent", &json!({"type": "touchMove", "touchPoints": [at]}));
        }
        self.call("Input.dispatchTouchEvent", &json!({"type": "touchEnd", "touchPoints": []}));
        self.evaluate("new Promise((done) => setTimeout(done, 300))");
    }

    /// Prints the page on A4 to a file. Backgrounds are printed too, so dark parts of the screen would be visible.
    pub(crate) fn print(&mut self, to: &Path) {
        let printed =
            self.call("Page.printToPDF", &json!({"printBackground": true, "preferCSSPageSize": true}));
        std::fs::write(to, base64(printed["data"].as_str().expect("the file in base 64"))).expect("written");
    }

    /// Directs the downloads of the page into a folder.
    pub(crate) fn save_into(&mut self, folder: &Path) {
        self.call("Page.setDownloadBehavior", &json!({"behavior": "allow", "downloadPath": folder}));
    }

    /// Returns the complaints of the page: of its console, its script and its policy.
    pub(crate) fn complaints(&mut self) -> String {
        self.evaluate("0");
        let mut complaints = String::new();
        for event in &self.events {
            if ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"]
                .contains(&event["method"].as_str().unwrap_or_default())
            {
                let _ = writeln!(complaints, "{event}");
            }
        }
        complaints
    }

    /// Returns the requests of the page: the addresses that it requested, and the request lines that the proxy received. Its own file and
    /// data that it holds itself are no requests.
    pub(crate) fn requests(&mut self, page: &Path) -> Vec<String> {
        self.evaluate("new Promise((done) => setTimeout(done, 300))");
        let own = format!("file://{}", page.display());
        let wanted = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let mut requests: Vec<String> = wanted
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .filter(|url| *url != own && !url.starts_with("data:") && !url.starts_with("blob:"))
            .map(str::to_owned)
            .collect();
        requests.extend(self.network.asked.lock().expect("not poisoned").iter().cloned());
        requests
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("the browser listens");
        loop {
            let answer = self.answers.recv_timeout(PATIENCE);
            let mut answer = answer.unwrap_or_else(|error| panic!("no answer to {method}: {error}"));
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push_back(answer);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.session = None;
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        for _ in 0..500 {
            if !self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
                break;
            }
            std::thread::sleep(POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

impl Network {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let notes = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let notes = Arc::clone(&notes);
                std::thread::spawn(move || {
                    let line = first_line(&stream);
                    notes.lock().expect("not poisoned").push(line);
                });
            }
        });
        Self { port, asked }
    }
}

/// Returns the first line of a request. A request that is not complete within a second is recorded as far as it arrived.
fn first_line(stream: &TcpStream) -> String {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut line = String::new();
    let _ = BufReader::new(stream.take(1000)).read_line(&mut line);
    line.trim_end().to_owned()
}

fn installed() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|at| names.map(|name| at.join(name))).find(|file| file.is_file())
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits =
            four.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}

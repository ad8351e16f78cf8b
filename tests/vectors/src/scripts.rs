//! The scripts, by folder of `vectors/`.

mod bbr;
mod careful_resume;
mod cubic;
mod hystart_linux;
mod hystart_plus;
mod leap;
mod search;
mod slow_start;

use crate::host::Script;

/// Returns every script with the name of its folder, in the order of the files.
pub fn all() -> Vec<(&'static str, Script)> {
    let folders = [
        ("bbr", bbr::all()),
        ("careful-resume", careful_resume::all()),
        ("cubic", cubic::all()),
        ("hystart-linux", hystart_linux::all()),
        ("hystartpp", hystart_plus::all()),
        ("leap", leap::all()),
        ("search", search::all()),
        ("slow-start", slow_start::all()),
    ];
    let named = |(folder, scripts): (_, Vec<Script>)| scripts.into_iter().map(move |script| (folder, script));
    folders.into_iter().flat_map(named).collect()
}

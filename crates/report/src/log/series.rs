//! Series over time of many flows and runs, in one tidy table: a row for each change of a flow's state.
//!
//! While runs go on, each writes its rows to a nameless file of its own. [`Series::finish`] joins them in the order of the
//! runs, so that neither the number of threads nor the number of flows shows in the table or in memory.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::arrow::ArrowWriter;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::Schema;
use firstflight::{Bytes, Time};
use firstflight_measure::Tap;
use firstflight_tcp::{Role, Segment, Snapshot, Transmit};

use super::naming::naming;
use crate::columns::{Column, real, text, whole};
use crate::parquet::described;
use crate::write::WholeFile;

/// The columns of the table.
pub const SERIES_COLUMNS: &[Column] = &[
    real("time_s", "s", "When, since the beginning of the run."),
    text("scheme", "The name of the row: the label, or the scheme with its parameters."),
    text(
        "population",
        "Which flows the flow ran with, as in the rows of populations: only, mixed, scripted, or with and a scheme. Null in a race.",
    ),
    whole("seed", "", "The seed of the run."),
    whole("flow", "", "The number of the flow, by arrival from nought. In a race nought, the measured flow."),
    whole("cwnd_bytes", "bytes", "The window in force."),
    whole("ssthresh_bytes", "bytes", "The slow-start threshold. Null if it is arbitrarily high."),
    whole("flight_bytes", "bytes", "Payload sent and not acknowledged in order (RFC 5681)."),
    whole(
        "pipe_bytes",
        "bytes",
        "The sender's estimate of payload in the network: sent, less delivered, less lost, plus sent again (RFC 6675).",
    ),
    real("rtt_s", "s", "The newest round-trip sample. Null before the first."),
    whole("queue_packets", "packets", "What waits at the flow's bottleneck; of several, where most does."),
    whole("delivered_bytes", "bytes", "Payload that the receiver has in order."),
];

/// Whose rows they are, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesRun {
    /// The place of the run's group: of the scheme in the list; the mixed population's is behind all.
    pub group: usize,
    /// The seed of the run.
    pub seed: u64,
    /// What rows call the population; empty in a race.
    pub population: String,
}

/// The series of all runs, on their way to a file.
pub struct Series {
    path: PathBuf,
    /// The names of schemes, which rows refer to.
    names: Vec<String>,
    runs: Mutex<BTreeMap<SeriesRun, Arc<Mutex<Spool>>>>,
}

impl Series {
    /// Series of these schemes for the file at `path`: CSV if its name ends with `.csv`, else Parquet.
    pub fn new(path: &Path, names: Vec<String>) -> Self {
        Self { path: path.to_path_buf(), names, runs: Mutex::default() }
    }

    /// The tap of a flow of a run. `scheme` is the place of its name.
    ///
    /// # Errors
    /// A file that cannot be made beside the table's.
    pub fn tap(&self, run: &SeriesRun, scheme: usize, flow: u32) -> io::Result<Box<dyn Tap>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let spool = if let Some(spool) = runs.get(run) {
            Arc::clone(spool)
        } else {
            let spool = Spool::beside(&self.path).map_err(|error| naming(&self.path, &error))?;
            let spool = Arc::new(Mutex::new(spool));
            runs.insert(run.clone(), Arc::clone(&spool));
            spool
        };
        let row = Row { scheme: scheme as u64, flow: flow.into(), ..Row::default() };
        Ok(Box::new(SeriesTap { spool, row, last: None, failed: None }))
    }

    /// Writes the table.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let file = WholeFile::create(&self.path).map_err(|error| naming(&self.path, &error.source))?;
        let is_csv = self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        let mut table = if is_csv { Table::csv(file)? } else { Table::parquet(file)? };
        for (run, spool) in runs {
            let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
            spool
                .read(&mut |rows| table.add(&run, &self.names, rows))
                .map_err(|error| naming(&self.path, &error))?;
        }
        table.end()?.commit().map_err(|error| naming(&self.path, &error.source))
    }
}

/// How many numbers a row has.
const NUMBERS: usize = 10;
/// A number that is none.
const NONE: u64 = u64::MAX;
/// How many rows are read and encoded at a time.
const ROWS: usize = 1 << 14;

/// A row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    at: u64,
    scheme: u64,
    flow: u64,
    cwnd: u64,
    ssthresh: u64,
    flight: u64,
    pipe: u64,
    rtt: u64,
    queue: u64,
    delivered: u64,
}

impl Row {
    fn numbers(&self) -> [u64; NUMBERS] {
        let Self { at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered } = *self;
        [at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered]
    }

    fn of([at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered]: [u64; NUMBERS]) -> Self {
        Self { at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered }
    }
}

/// The rows of a run, in a file that no name leads to.
struct Spool {
    file: BufWriter<File>,
    rows: u64,
    /// The name, where a file that is open cannot be removed.
    left: Option<PathBuf>,
}

impl Spool {
    fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for attempt in 0..100_000_u32 {
            let at = path.with_file_name(format!(".{name}.{}-{attempt}.rows", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&at) {
                Ok(file) => {
                    let left = std::fs::remove_file(&at).is_err().then_some(at);
                    return Ok(Self { file: BufWriter::new(file), rows: 0, left });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn add(&mut self, row: &Row) -> io::Result<()> {
        for number in row.numbers() {
            self.file.write_all(&number.to_le_bytes())?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Reads the rows, a part at a time.
    fn read(&mut self, take: &mut dyn FnMut(&[Row]) -> io::Result<()>) -> io::Result<()> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::new(file);
        let mut rows = Vec::with_capacity(ROWS);
        for place in 0..self.rows {
            let mut numbers = [0; NUMBERS];
            for number in &mut numbers {
                let mut bytes = [0; 8];
                file.read_exact(&mut bytes)?;
                *number = u64::from_le_bytes(bytes);
            }
            rows.push(Row::of(numbers));
            if rows.len() == ROWS || place + 1 == self.rows {
                take(&rows)?;
                rows.clear();
            }
        }
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some(left) = &self.left {
            // What cannot be removed is left.
            let _ = std::fs::remove_file(left);
        }
    }
}

/// The tap of one flow.
struct SeriesTap {
    spool: Arc<Mutex<Spool>>,
    /// The row that is next, with what is known of it so far.
    row: Row,
    last: Option<Row>,
    failed: Option<io::Error>,
}

impl Tap for SeriesTap {
    fn sent(&mut self, _: Time, _: Role, _: &Transmit, _: u64) {}

    fn arrived(&mut self, _: Time, _: Role, _: &Segment, _: u64) {}

    fn happening(&mut self, _: Time, _: Role, _: &firstflight_tcp::Happening) {}

    fn wants_state(&self) -> bool {
        true
    }

    fn surroundings(&mut self, (at, delivered): (Time, u64), queue: u32) {
        self.row.at = at.nanos();
        self.row.delivered = delivered;
        self.row.queue = queue.into();
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let row = Row {
            at: 0,
            cwnd: snapshot.cwnd.get(),
            ssthresh: snapshot.ssthresh.map_or(NONE, Bytes::get),
            flight: snapshot.nxt.saturating_sub(snapshot.una),
            pipe: snapshot.in_flight.get(),
            rtt: snapshot.latest_rtt.map_or(NONE, firstflight::Span::nanos),
            ..self.row
        };
        if self.last == Some(row) || self.failed.is_some() {
            return;
        }
        self.last = Some(row);
        let mut spool = self.spool.lock().unwrap_or_else(PoisonError::into_inner);
        self.failed = spool.add(&Row { at: at.nanos(), ..row }).err();
    }

    fn finish(&mut self) -> io::Result<()> {
        // What was delivered since, whose ACK did not come before the run was over.
        if let Some(last) =
            self.last.filter(|last| last.delivered < self.row.delivered && self.failed.is_none())
        {
            let row = Row { at: self.row.at, delivered: self.row.delivered, ..last };
            self.failed = self.spool.lock().unwrap_or_else(PoisonError::into_inner).add(&row).err();
        }
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// The table, as it is written.
enum Table {
    Parquet(Box<ArrowWriter<WholeFile>>),
    Csv(WholeFile),
}

fn schema() -> Arc<Schema> {
    let field = |column: &Column| described(column.name, column.kind, column.unit, column.meaning.to_owned());
    Arc::new(Schema::new(SERIES_COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

impl Table {
    fn parquet(file: WholeFile) -> io::Result<Self> {
        ArrowWriter::try_new(file, schema(), None)
            .map(|writer| Self::Parquet(Box::new(writer)))
            .map_err(io::Error::other)
    }

    fn csv(mut file: WholeFile) -> io::Result<Self> {
        let names: Vec<&str> = SERIES_COLUMNS.iter().map(|column| column.name).collect();
        file.write_all(format!("{}\n", names.join(",")).as_bytes())?;
        Ok(Self::Csv(file))
    }

    fn add(&mut self, run: &SeriesRun, names: &[String], rows: &[Row]) -> io::Result<()> {
        let columns = Self::columns(run, names, rows);
        match self {
            Self::Parquet(writer) => {
                let batch = RecordBatch::try_new(schema(), columns.iter().map(Cells::array).collect());
                batch
                    .map_err(io::Error::other)
                    .and_then(|batch| writer.write(&batch).map_err(io::Error::other))
            }
            Self::Csv(file) => {
                let lines = (0..rows.len()).map(|row| columns.iter().map(move |column| column.cell(row)));
                let lines: Vec<Vec<String>> = lines.map(Iterator::collect).collect();
                file.write_all(
                    &crate::csv::lines(lines).map_err(|error| io::Error::other(error.to_string()))?,
                )
            }
        }
    }

    /// The cells of the rows, by column.
    fn columns(run: &SeriesRun, names: &[String], rows: &[Row]) -> Vec<Cells> {
        let seconds = |nanos: u64| firstflight_measure::arithmetic::seconds(nanos);
        let whole = |of: fn(&Row) -> u64| Cells::Whole(rows.iter().map(|row| Some(of(row))).collect());
        let name = |row: &Row| usize::try_from(row.scheme).ok().and_then(|place| names.get(place)).cloned();
        let population = (!run.population.is_empty()).then(|| run.population.clone());
        let known = |number: u64| Some(number).filter(|number| *number != NONE);
        vec![
            Cells::Real(rows.iter().map(|row| Some(seconds(row.at))).collect()),
            Cells::Text(rows.iter().map(name).collect()),
            Cells::Text(vec![population; rows.len()]),
            Cells::Whole(vec![Some(run.seed); rows.len()]),
            whole(|row| row.flow),
            whole(|row| row.cwnd),
            Cells::Whole(rows.iter().map(|row| known(row.ssthresh)).collect()),
            whole(|row| row.flight),
            whole(|row| row.pipe),
            Cells::Real(rows.iter().map(|row| known(row.rtt).map(seconds)).collect()),
            whole(|row| row.queue),
            whole(|row| row.delivered),
        ]
    }

    fn end(self) -> io::Result<WholeFile> {
        match self {
            Self::Parquet(writer) => writer.into_inner().map_err(io::Error::other),
            Self::Csv(file) => Ok(file),
        }
    }
}

/// The cells of one column.
enum Cells {
    Text(Vec<Option<String>>),
    Whole(Vec<Option<u64>>),
    Real(Vec<Option<f64>>),
}

impl Cells {
    fn array(&self) -> ArrayRef {
        match self {
            Self::Text(cells) => Arc::new(StringArray::from_iter(cells)),
            Self::Whole(cells) => Arc::new(UInt64Array::from(cells.clone())),
            Self::Real(cells) => Arc::new(Float64Array::from(cells.clone())),
        }
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Self::Text(cells) => cells[row].clone().unwrap_or_default(),
            Self::Whole(cells) => cells[row].map(|number| number.to_string()).unwrap_or_default(),
            Self::Real(cells) => cells[row].map(|number| number.to_string()).unwrap_or_default(),
        }
    }
}

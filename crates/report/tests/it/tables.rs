use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use tidegate_report::tables::{self, Cell, RunContext, Table};

use crate::invented;

fn context() -> RunContext {
    RunContext {
        scenario_text: "[scenario]\nname = \"dumbbell\"\n".into(),
        semantics: 7,
        nodes: vec!["c1".into(), "r1".into()],
        prefixes: vec!["/".into(), "/a".into()],
        ..RunContext::default()
    }
}

fn table(name: &str) -> Table {
    let runs = [invented::dumbbell(1), invented::dumbbell(2)];
    tables::build(&runs, &context()).into_iter().find(|table| table.name == name).expect("the table is there")
}

fn parquet(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).expect("writing to memory");
    bytes
}

fn csv(table: &Table) -> String {
    let mut bytes = Vec::new();
    table.write_csv(&mut bytes).expect("writing to memory");
    String::from_utf8(bytes).expect("CSV is UTF-8")
}

#[test]
fn a_parquet_file_reads_back_cell_by_cell() {
    for name in ["runs", "flows", "links", "nodes", "flow_samples", "link_samples", "events"] {
        let table = table(name);
        let reader = SerializedFileReader::new(bytes_of(&table)).expect("a parquet file");
        let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), table.rows(), "{name}");
        for (position, row) in rows.iter().enumerate() {
            for (column, own) in table.columns.iter().enumerate() {
                let same = match own.cell(position) {
                    Cell::Missing => row.is_null(column).unwrap_or(true),
                    Cell::Bool(value) => row.get_bool(column).is_ok_and(|found| found == value),
                    Cell::Short(value) => row.get_float(column).is_ok_and(|found| found == value),
                    Cell::Number(value) => row.get_double(column).is_ok_and(|found| found == value),
                    Cell::Text(text) => row.get_string(column).is_ok_and(|found| found == text),
                    Cell::Count(count) => row
                        .get_ulong(column)
                        .or_else(|_| row.get_uint(column).map(u64::from))
                        .is_ok_and(|found| found == count),
                };
                assert!(same, "{name}, row {position}, {}: {row}", own.name());
            }
        }
    }
}

/// A file in memory.
fn bytes_of(table: &Table) -> bytes::Bytes {
    parquet(table).into()
}

#[test]
fn every_file_says_its_scenario_schema_semantics_units_and_definitions() {
    let table = table("flows");
    let reader = SerializedFileReader::new(bytes_of(&table)).expect("a parquet file");
    let metadata = reader.metadata().file_metadata();
    let entries = metadata.key_value_metadata().expect("metadata");
    let value = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key).unwrap_or_else(|| panic!("no {key}"));
        entry.value.clone().unwrap_or_default()
    };
    assert_eq!(value("scenario"), "[scenario]\nname = \"dumbbell\"\n");
    assert_eq!(value("results_schema"), "5");
    assert_eq!(value("semantics"), "7");
    assert_eq!(value("column.goodput_mbps.unit"), "Mbit/s");
    assert!(value("column.goodput_mbps.definition").starts_with("Payload of distinct segments"));
    assert_eq!(metadata.created_by(), Some(concat!("tidegate ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn equal_runs_give_equal_bytes() {
    assert_eq!(parquet(&table("flow_samples")), parquet(&table("flow_samples")));
    assert_eq!(csv(&table("links")), csv(&table("links")));
}

#[test]
fn the_seed_stands_in_every_table() {
    for table in tables::build(&[invented::dumbbell(42)], &context()) {
        let seed = table.column("seed").unwrap_or_else(|| panic!("{} has no seed", table.name));
        assert_eq!(seed.cell(table.rows() - 1), Cell::Count(42), "{}", table.name);
    }
}

#[test]
fn a_part_of_a_batch_numbers_its_runs_as_the_whole() {
    let whole = tables::build(&[invented::dumbbell(1), invented::dumbbell(2)], &context());
    let part = tables::build(&[invented::dumbbell(2)], &RunContext { first_run: 1, ..context() });
    for (whole, part) in whole.iter().zip(&part) {
        let (whole, part) = (csv(whole), csv(part));
        let body = part.split_once('\n').expect("a head line").1;
        assert!(whole.ends_with(body), "{whole}");
    }
}

#[test]
fn csv_quotes_what_would_break_a_line_and_leaves_missing_values_empty() {
    let mut run = invented::dumbbell(1);
    run.flows.truncate(1);
    run.flows[0].name = "a,\"b\"\nc".into();
    run.flows[0].completed = None;
    let text = csv(&tables::build(&[run], &context())[1]);
    let start = "0,1,0,\"a,\"\"b\"\"\nc\",c1,p1,/a,catchunks-cubic,0,,,20000,";
    assert!(text.split_once('\n').expect("a head line").1.starts_with(start), "{text}");
}

#[test]
fn a_run_without_samples_flows_or_links_still_makes_readable_files() {
    for table in tables::build(&[Default::default()], &RunContext::default()) {
        let reader = SerializedFileReader::new(bytes_of(&table)).expect("a parquet file");
        assert_eq!(reader.metadata().file_metadata().num_rows(), table.rows() as i64);
    }
    assert!(tables::build(&[], &RunContext::default()).iter().all(|table| table.rows() == 0));
}

#[test]
fn a_flow_without_a_window_or_a_round_trip_has_none_in_the_tables() {
    let mut run = invented::dumbbell(1);
    run.flow_samples.window_packets[0] = f32::INFINITY;
    run.flow_samples.smoothed_rtt[0] = Default::default();
    let table = &tables::build(&[run], &context())[4];
    assert_eq!(table.column("window_packets").map(|column| column.cell(0)), Some(Cell::Missing));
    assert_eq!(table.column("smoothed_rtt_ms").map(|column| column.cell(0)), Some(Cell::Missing));
}

#[test]
fn events_are_named_by_node_prefix_and_cause() {
    let text = csv(&table("events"));
    let first = text.lines().nth(1).expect("an event");
    assert_eq!(first, "0,1,0.5,r1,dropped,,3,/a,17,queue full,,,,,,,,,");
}

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use tidegate_core::observe::records::FlowSamples;
use tidegate_core::units::{ByteCount, Span, Time};
use tidegate_results::tables::{self, ResultTable, RunContext, TableCell};

use crate::invented;

fn context() -> RunContext {
    RunContext {
        scenario_text: "[scenario]\nname = \"dumbbell\"\n".into(),
        semantics: 7,
        code: "0123abcd".into(),
        nodes: vec!["c1".into(), "r1".into()],
        prefixes: vec!["/".into(), "/a".into()],
        ..RunContext::default()
    }
}

fn table(name: &str) -> ResultTable {
    let runs = [invented::dumbbell(1), invented::dumbbell(2)];
    tables::build(&runs, &context()).into_iter().find(|table| table.name == name).expect("the table is there")
}

fn parquet(table: &ResultTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).expect("writing to memory");
    bytes
}

fn csv(table: &ResultTable) -> String {
    let mut bytes = Vec::new();
    table.write_csv(&mut bytes).expect("writing to memory");
    String::from_utf8(bytes).expect("CSV is UTF-8")
}

#[test]
fn a_parquet_file_reads_back_cell_by_cell() {
    for name in ["runs", "flows", "links", "nodes", "media", "flow_samples", "link_samples", "events"] {
        let table = table(name);
        let reader = SerializedFileReader::new(bytes_of(&table)).expect("a parquet file");
        let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), table.rows(), "{name}");
        for (position, row) in rows.iter().enumerate() {
            for (column, own) in table.columns.iter().enumerate() {
                let same = match own.cell(position) {
                    TableCell::Missing => row.is_null(column).unwrap_or(true),
                    TableCell::Bool(value) => row.get_bool(column).is_ok_and(|found| found == value),
                    TableCell::Short(value) => row.get_float(column).is_ok_and(|found| found == value),
                    TableCell::Number(value) => row.get_double(column).is_ok_and(|found| found == value),
                    TableCell::Text(text) => row.get_string(column).is_ok_and(|found| found == text),
                    TableCell::Count(count) => row
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
fn bytes_of(table: &ResultTable) -> bytes::Bytes {
    parquet(table).into()
}

#[test]
fn every_file_says_its_scenario_schema_semantics_code_units_and_definitions() {
    let table = table("flows");
    let reader = SerializedFileReader::new(bytes_of(&table)).expect("a parquet file");
    let metadata = reader.metadata().file_metadata();
    let entries = metadata.key_value_metadata().expect("metadata");
    let value = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key).unwrap_or_else(|| panic!("no {key}"));
        entry.value.clone().unwrap_or_default()
    };
    assert_eq!(value("scenario"), "[scenario]\nname = \"dumbbell\"\n");
    assert_eq!(value("results_schema"), "7");
    assert_eq!(value("semantics"), "7");
    assert_eq!(value("code"), "0123abcd");
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
        assert_eq!(seed.cell(table.rows() - 1), TableCell::Count(42), "{}", table.name);
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
    let start = "0,1,0,\"a,\"\"b\"\"\nc\",c1,p1,/a,catchunks-cubic,0,,,,20000,";
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
    let table = &tables::build(&[run], &context())[5];
    assert_eq!(table.column("window_packets").map(|column| column.cell(0)), Some(TableCell::Missing));
    assert_eq!(table.column("smoothed_rtt_ms").map(|column| column.cell(0)), Some(TableCell::Missing));
}

#[test]
fn samples_name_their_flows_and_links_beside_the_index() {
    let run = invented::dumbbell(1);
    let flows = table("flow_samples");
    let links = table("link_samples");
    let text = |table: &ResultTable, column: &str, row: usize| match table
        .column(column)
        .map(|found| found.cell(row))
    {
        Some(TableCell::Text(text)) => text.to_owned(),
        other => panic!("{column}: {other:?}"),
    };
    for row in [0, 1, 77] {
        let flow = &run.flows[run.flow_samples.flow[row] as usize];
        assert_eq!(text(&flows, "name", row), flow.name);
        let link = &run.links[run.link_samples.link[row] as usize];
        assert_eq!(
            (text(&links, "from", row), text(&links, "to", row)),
            (link.from.clone(), link.to.clone())
        );
    }
}

#[test]
fn goodput_over_time_is_what_came_since_the_sample_before_while_the_flow_lasts() {
    let mut run = invented::dumbbell(1);
    run.flows.truncate(1);
    let second = |number: u64| Time::from_nanos(number * 1_000_000_000);
    run.flows[0].start = second(1);
    run.flows[0].completed = Some(second(4));
    run.flows[0].delivered_segments = 30;
    run.flows[0].delivered_payload = ByteCount::new(30_000);
    run.flow_samples = FlowSamples {
        time: (0..6).map(second).collect(),
        flow: vec![0; 6],
        window_packets: vec![1.0; 6],
        in_flight_packets: vec![0; 6],
        delivered_segments: vec![0, 0, 10, 30, 30, 30],
        smoothed_rtt: vec![Span::ZERO; 6],
        pacing_per_second: vec![1.0; 6],
        marks: vec![0; 6],
        retransmissions: vec![0; 6],
    };
    let tables = tables::build(&[run], &context());
    let column = tables[5].column("goodput_mbps").expect("there");
    let cells: Vec<TableCell<'_>> = (0..6).map(|row| column.cell(row)).collect();
    let short = |value: f64| TableCell::Short(value as f32);
    assert_eq!(
        cells,
        [TableCell::Missing, TableCell::Missing, short(0.08), short(0.16), short(0.0), TableCell::Missing]
    );
}

#[test]
fn every_file_has_an_arrow_schema() {
    for table in tables::build(&[invented::dumbbell(1)], &context()) {
        let entry = table.metadata.iter().find(|(key, _)| key == "ARROW:schema").expect("an entry");
        // Base64 of the continuation marker of an encapsulated message.
        assert!(entry.1.starts_with("/////"), "{}", table.name);
    }
}

#[test]
fn events_are_named_by_node_prefix_and_cause() {
    let text = csv(&table("events"));
    let first = text.lines().nth(1).expect("an event");
    assert_eq!(first, "0,1,0.5,r1,dropped,,3,/a,17,queue full,,,,,,,,,");
}

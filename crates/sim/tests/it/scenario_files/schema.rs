//! The JSON Schema that editors read.

use tidegate_sim::scenario::json_schema;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/schema.json");

#[test]
fn the_published_schema_is_the_one_the_parser_uses() {
    let schema = json_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(PATH, &schema).expect("the scenarios' folder can be written");
    }
    let published = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(
        published == schema,
        "run UPDATE_SCHEMA=1 cargo test -p tidegate-sim schema, and review the change"
    );
}

#[test]
fn the_schema_has_what_a_flow_needs_and_how_quantities_are_written() {
    let schema = json_schema().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(schema.contains(r#""required": [ "consumer", "producer", "prefix" ]"#));
    assert!(schema.contains(r#"(Gbps|Mbps|kbps|bps)"#));
    assert!(schema.contains(r#""default": "1024B""#));
}

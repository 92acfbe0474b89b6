//! The table of `methods.md` is whole, and each of its cells is true.

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mcp_core::model::{Method, ProtocolVersion};
use mcp_tests::{Dialogue, Direction, Outcome, Record, Role, client_dialogues, dialogues};

/// The roles, in the order of the columns.
const ROLES: [Role; 2] = [Role::Server, Role::Client];

/// What a revision has and an engine does not: why is in `methods.md`.
const NOT_SERVED: [(Role, Direction, &[Method]); 4] = [
    (
        Role::Server,
        Direction::FromClient,
        &[
            Method::TasksGet,
            Method::TasksResult,
            Method::TasksList,
            Method::TasksCancel,
            Method::TasksStatus,
            Method::Progress,
        ],
    ),
    (
        Role::Server,
        Direction::FromServer,
        &[
            Method::TasksGet,
            Method::TasksResult,
            Method::TasksList,
            Method::TasksCancel,
            Method::TasksStatus,
        ],
    ),
    (
        Role::Client,
        Direction::FromServer,
        &[
            Method::TasksGet,
            Method::TasksResult,
            Method::TasksList,
            Method::TasksCancel,
        ],
    ),
    (Role::Client, Direction::FromClient, &[Method::TasksStatus]),
];

/// A column: oldest revision first, a server before a client.
type Column = (Role, ProtocolVersion);

fn columns() -> Vec<Column> {
    let versions = ProtocolVersion::ALL.iter().rev();
    let of = |role| versions.clone().map(move |&version| (role, version));
    ROLES.into_iter().flat_map(of).collect()
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Cell {
    /// There it succeeds.
    Shown(String),
    /// There it does not.
    Refused(String),
    /// It is never sent.
    Never,
}

impl Cell {
    fn read(text: &str) -> Self {
        match text.strip_prefix('-').map(str::trim) {
            None => Self::Shown(text.to_owned()),
            Some("") => Self::Never,
            Some(file) => Self::Refused(file.to_owned()),
        }
    }
}

type Row = (String, Direction);

/// The rows of a table, each with a cell for each column.
fn read(text: &str) -> Vec<(Row, Vec<Cell>)> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|line| {
        let line = line.strip_suffix('|').expect("a row has an end");
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [method, from, cells @ ..] = &*cells else {
            panic!("{line}: no cells");
        };
        let from = match *from {
            "client" => Direction::FromClient,
            "server" => Direction::FromServer,
            "result" => Direction::InResult,
            other => panic!("{line}: from {other}?"),
        };
        let cells: Vec<Cell> = cells.iter().map(|cell| Cell::read(cell)).collect();
        assert_eq!(cells.len(), columns().len(), "{line}");
        ((method.trim_end_matches('`').to_owned(), from), cells)
    })
    .collect()
}

/// Whether a revision has the method in this way.
fn has(version: ProtocolVersion, method: Method, direction: Direction) -> bool {
    match direction {
        Direction::FromClient => method.is_of_client(version),
        Direction::FromServer => method.is_of_server(version),
        Direction::InResult => {
            method.is_in(version) && !method.is_of_client(version) && !method.is_of_server(version)
        }
    }
}

fn is_served((role, version): Column, method: Method, direction: Direction) -> bool {
    let left_out = NOT_SERVED.iter().any(|&(whose, way, methods)| {
        whose == role && way == direction && methods.contains(&method)
    });
    has(version, method, direction) && !left_out
}

fn table() -> Vec<(Row, Vec<Cell>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("methods.md");
    read(&fs::read_to_string(path).expect("the table is there"))
}

/// What was played, by the file.
fn played() -> BTreeMap<(Role, String), Vec<Record>> {
    let mut played: BTreeMap<_, Vec<Record>> = BTreeMap::new();
    let sides = [
        (Role::Server, dialogues()),
        (Role::Client, client_dialogues()),
    ];
    for (role, dialogues) in sides {
        for dialogue in &dialogues {
            let records = dialogue.record().unwrap_or_else(|error| panic!("{error}"));
            let file = (role, dialogue.file().to_owned());
            played.entry(file).or_default().extend(records);
        }
    }
    played
}

/// What is wrong with a table.
fn faults(
    table: &[(Row, Vec<Cell>)],
    played: &BTreeMap<(Role, String), Vec<Record>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut missing: BTreeSet<Row> = Method::ALL
        .into_iter()
        .flat_map(|method| {
            [
                Direction::FromClient,
                Direction::FromServer,
                Direction::InResult,
            ]
            .into_iter()
            .filter(move |&direction| {
                let mut versions = ProtocolVersion::ALL.iter();
                versions.any(|&version| has(version, method, direction))
            })
            .map(move |direction| (method.as_str().to_owned(), direction))
        })
        .collect();
    for (row, cells) in table {
        if !missing.remove(row) {
            faults.push(format!("{row:?} is no row, or there twice"));
            continue;
        }
        let (name, direction) = row;
        let method = Method::from_name(name).expect("it was one of the methods");
        for (column, cell) in columns().into_iter().zip(cells) {
            let what = format!("{name} {direction:?} {column:?}");
            if let Err(fault) = check(column, method, *direction, cell, played) {
                faults.push(format!("{what}: {fault}"));
            }
        }
    }
    faults.extend(missing.iter().map(|row| format!("{row:?} is missing")));
    faults
}

fn check(
    column: Column,
    method: Method,
    direction: Direction,
    cell: &Cell,
    played: &BTreeMap<(Role, String), Vec<Record>>,
) -> Result<(), String> {
    let (role, version) = column;
    let about = |record: &&Record| {
        record.role == role
            && record.version == version
            && record.direction == direction
            && record.method == method.as_str()
    };
    let outcomes_in = |file: &String| {
        let records = played.get(&(role, file.clone())).into_iter().flatten();
        let outcomes: Vec<Outcome> = records.filter(about).map(|it| it.outcome).collect();
        match outcomes.is_empty() {
            true => Err(format!("{file} is no dialogue about it")),
            false => Ok(outcomes),
        }
    };
    let served = is_served(column, method, direction);
    let done = played.iter().find(|(_, records)| {
        records
            .iter()
            .filter(about)
            .any(|it| it.outcome == Outcome::Done)
    });
    if let Some(((_, file), _)) = done
        && !matches!(cell, Cell::Shown(_))
    {
        return Err(format!("it succeeds in {file}"));
    }
    match cell {
        Cell::Shown(_) if !served => Err("there is no such thing".into()),
        Cell::Refused(_) | Cell::Never if served => Err("there is such a thing".into()),
        Cell::Shown(file) => match outcomes_in(file)?.contains(&Outcome::Done) {
            true => Ok(()),
            false => Err(format!("it does not succeed in {file}")),
        },
        Cell::Refused(file) => outcomes_in(file).map(drop),
        Cell::Never => match (role, direction) {
            (Role::Server, Direction::FromClient)
            | (Role::Client, Direction::FromServer | Direction::InResult) => {
                Err("what comes in has to be shown".into())
            }
            (Role::Server, Direction::FromServer | Direction::InResult)
            | (Role::Client, Direction::FromClient) => Ok(()),
        },
    }
}

#[test]
fn each_method_is_shown_in_each_revision_and_role() {
    let faults = faults(&table(), &played());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Who judges the judge: no cell can be another one, and no row can be missing.
#[test]
fn the_table_cannot_lie() {
    let (table, played) = (table(), played());
    let others = |cell: &Cell| {
        let file = match cell {
            Cell::Shown(file) | Cell::Refused(file) => file.clone(),
            Cell::Never => "tasks".to_owned(),
        };
        let nowhere = "nowhere".to_owned();
        // About other things.
        let unrelated = "limits".to_owned();
        [
            Cell::Shown(file.clone()),
            Cell::Refused(file),
            Cell::Shown(nowhere.clone()),
            Cell::Refused(nowhere),
            Cell::Refused(unrelated),
        ]
    };
    for row in 0..table.len() {
        let mut less = table.clone();
        less.remove(row);
        assert!(!faults(&less, &played).is_empty(), "without {row}");
        let ((name, direction), cells) = &table[row];
        let method = Method::from_name(name).expect("a method");
        for (column, cell) in columns().into_iter().zip(cells) {
            for other in others(cell) {
                if other != *cell {
                    let found = check(column, method, *direction, &other, &played);
                    assert!(found.is_err(), "{name} {column:?}: {other:?}");
                }
            }
        }
    }
    let twice = [&*table, &table[..1]].concat();
    assert!(!faults(&twice, &played).is_empty());
}

/// A dialogue that says it is about another version, or ends otherwise, is about something else.
#[test]
fn what_is_recorded_is_what_was_played() {
    let record = |role, text: &str| {
        let dialogues = Dialogue::read(role, "test", text).expect("it can be read");
        let records = dialogues[0].record().expect("it goes as written");
        let told = records.into_iter().map(|it| {
            let version = it.version.as_str();
            format!(
                "{:?} {version} {} {:?}",
                it.direction, it.method, it.outcome
            )
        });
        told.collect::<Vec<_>>()
    };
    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let text = format!(
        r#"
> {{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2026-07-28","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}
< {{"jsonrpc":"2.0","id":1,"result":"*"}}
> {{"jsonrpc":"2.0","method":"notifications/initialized"}}
= handled
> {{"jsonrpc":"2.0","method":"notifications/initialized"}}
= handled
> {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"echo",{META}}}}}
= call echo 2026-07-28 -
> {{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"none"}}}}
< {{"jsonrpc":"2.0","id":3,"error":{{"code":-32602,"message":"*"}}}}
! reply 2 {{"content":[]}}
< {{"jsonrpc":"2.0","id":2,"result":"*"}}
! request - {{"method":"roots/list"}}
= undeclared roots
"#
    );
    assert_eq!(
        record(Role::Server, &text),
        [
            "FromClient 2026-07-28 initialize Refused",
            "FromClient 2025-11-25 initialize Done",
            "FromClient 2025-11-25 notifications/initialized Done",
            "FromClient 2025-11-25 notifications/initialized Ignored",
            "FromClient 2025-11-25 tools/call Refused",
            "FromClient 2026-07-28 tools/call Done",
            "FromServer 2025-11-25 roots/list Refused",
        ]
    );
    let text = r#"
! connect
> {"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"client","version":"2.0"}}}}
< {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found"}}
> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"2.0"}}}
= handled
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
> {"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
= connected 2025-06-18
! call tools/list
= not offered tools
< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
= dropped
"#;
    assert_eq!(
        record(Role::Client, text),
        [
            "FromClient 2026-07-28 server/discover Refused",
            "FromClient 2025-11-25 initialize Refused",
            "FromClient 2025-06-18 initialize Done",
            "FromClient 2025-06-18 notifications/initialized Done",
            "FromClient 2025-06-18 tools/list Refused",
            "FromServer 2025-06-18 notifications/elicitation/complete Ignored",
        ]
    );
}

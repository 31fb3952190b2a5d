-- Sources and their latest row: silence is detected here. A node may have several sources of one schema, such as two file
-- systems or two ports: each is known by its part.
CREATE TABLE producers (
    producer  TEXT NOT NULL,
    schema    TEXT NOT NULL,
    component TEXT NOT NULL,
    part      TEXT NOT NULL,                -- mount or port; '' for rows about several at once
    last_time REAL NOT NULL,
    rows      INTEGER NOT NULL,
    PRIMARY KEY (producer, schema, component, part)
) STRICT, WITHOUT ROWID;

-- A row for each stretch of more than two and a half usual intervals without a row of a source.
CREATE TABLE silences (
    producer   TEXT NOT NULL,
    schema     TEXT NOT NULL,
    component  TEXT NOT NULL,
    part       TEXT NOT NULL,               -- as in `producers`
    from_time  REAL NOT NULL,               -- its last row before
    until_time REAL,                        -- its next row; null while it is silent
    PRIMARY KEY (producer, schema, component, part, from_time)
) STRICT, WITHOUT ROWID;

CREATE TABLE dropped_rows (
    reason TEXT PRIMARY KEY,
    count  INTEGER NOT NULL
) STRICT;

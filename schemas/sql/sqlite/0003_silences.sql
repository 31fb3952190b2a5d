-- A row for each stretch of more than two and a half usual intervals without a row of a source.
CREATE TABLE silences (
    producer   TEXT NOT NULL,
    schema     TEXT NOT NULL,
    component  TEXT NOT NULL,
    from_time  REAL NOT NULL,               -- its last row before
    until_time REAL,                        -- its next row; null while it is silent
    PRIMARY KEY (producer, schema, component, from_time)
) STRICT, WITHOUT ROWID;

CREATE VIEW sources AS
SELECT p.producer, p.schema, p.component, p.last_time,
       (SELECT max(s.from_time) FROM silences s
        WHERE (s.producer, s.schema, s.component) = (p.producer, p.schema, p.component) AND s.until_time IS NULL)
           AS silent_since
FROM producers p;

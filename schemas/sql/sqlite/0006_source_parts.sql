-- A node may have several sources of one schema, such as two file systems or two ports: each is known by its part. The
-- views on these tables stand, since their columns keep their names.
CREATE TABLE producers_before AS SELECT * FROM producers;
DROP TABLE producers;
CREATE TABLE producers (
    producer  TEXT NOT NULL,
    schema    TEXT NOT NULL,
    component TEXT NOT NULL,
    part      TEXT NOT NULL,                -- mount or port; '' for rows about several at once
    last_time REAL NOT NULL,
    rows      INTEGER NOT NULL,
    PRIMARY KEY (producer, schema, component, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE silences_before AS SELECT * FROM silences;
DROP TABLE silences;
CREATE TABLE silences (
    producer   TEXT NOT NULL,
    schema     TEXT NOT NULL,
    component  TEXT NOT NULL,
    part       TEXT NOT NULL,               -- as in `producers`
    from_time  REAL NOT NULL,               -- its last row before
    until_time REAL,                        -- its next row; null while it is silent
    PRIMARY KEY (producer, schema, component, part, from_time)
) STRICT, WITHOUT ROWID;

-- Where a component has one part alone, that is what was meant.
CREATE TABLE only_parts AS
SELECT component, metric = 'lustre_write_rate' AS lustre, min(part) AS part FROM series
WHERE part IS NOT NULL AND metric <> 'aries_stall_ratio' GROUP BY 1, 2 HAVING count(*) = 1;
INSERT INTO producers
SELECT b.producer, b.schema, b.component, coalesce(o.part, ''), b.last_time, b.rows
FROM producers_before b
LEFT JOIN only_parts o ON o.component = b.component AND o.lustre = (b.schema LIKE 'lustre%');
INSERT INTO silences
SELECT b.producer, b.schema, b.component, coalesce(o.part, ''), b.from_time, b.until_time
FROM silences_before b
LEFT JOIN only_parts o ON o.component = b.component AND o.lustre = (b.schema LIKE 'lustre%');
-- What several parts wrote over each other is told anew by their next rows, and nobody would end its silences.
DELETE FROM producers WHERE part = '' AND schema IN ('lustre_client', 'ibmad', 'ibmad_records', 'ibnet');
DELETE FROM silences WHERE part = '' AND until_time IS NULL
    AND schema IN ('lustre_client', 'ibmad', 'ibmad_records', 'ibnet');
DROP TABLE only_parts;
DROP TABLE producers_before;
DROP TABLE silences_before;

DROP VIEW sources;
CREATE VIEW sources AS
SELECT p.producer, p.schema, p.component, p.last_time,
       (SELECT max(s.from_time) FROM silences s
        WHERE (s.producer, s.schema, s.component, s.part) = (p.producer, p.schema, p.component, p.part)
          AND s.until_time IS NULL) AS silent_since,
       p.part
FROM producers p;

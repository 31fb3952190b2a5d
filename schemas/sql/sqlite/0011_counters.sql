-- What the raw counters behind a ratio did in the tick: flits and stalls of an Aries tile, words and ticks waited of an InfiniBand
-- port. Null for Lustre clients, whose reading is their counter's rate, and for routers as a whole.
ALTER TABLE signal_rows ADD COLUMN passed_per_s REAL;
ALTER TABLE signal_rows ADD COLUMN waited_per_s REAL;

DROP TRIGGER signals_insert;
DROP TRIGGER signals_delete;
DROP VIEW signals;

-- As before, with the counters.
CREATE VIEW signals AS
WITH RECURSIVE buckets (bucket) AS (
    SELECT min(bucket) FROM signal_rows
    UNION ALL
    SELECT (SELECT min(r.bucket) FROM signal_rows r WHERE r.bucket > b.bucket)
    FROM buckets b WHERE b.bucket IS NOT NULL
)
SELECT r.series_id, r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s, r.passed_per_s, r.waited_per_s
FROM buckets b CROSS JOIN signal_rows r ON r.bucket = b.bucket;

CREATE TRIGGER signals_insert INSTEAD OF INSERT ON signals BEGIN
    INSERT OR REPLACE INTO signal_rows
    VALUES (CAST(NEW.time / 10.0 AS INTEGER), NEW.series_id, NEW.time, NEW.value, NEW.mean, NEW.baseline, NEW.bound, NEW.state,
            NEW.slowdown_s, NEW.passed_per_s, NEW.waited_per_s);
END;
CREATE TRIGGER signals_delete INSTEAD OF DELETE ON signals BEGIN
    DELETE FROM signal_rows
    WHERE bucket = CAST(OLD.time / 10.0 AS INTEGER) AND series_id = OLD.series_id AND time = OLD.time;
END;

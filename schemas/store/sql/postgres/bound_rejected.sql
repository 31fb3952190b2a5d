-- Keeps the newest $1 rows. Rows that another writer deletes now are skipped.
DELETE FROM rejected_messages WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM rejected_messages
    WHERE (time, ctid) <= (SELECT time, ctid FROM rejected_messages ORDER BY time DESC, ctid DESC OFFSET $1 LIMIT 1)
    FOR UPDATE SKIP LOCKED))

-- Messages and rows that a stage passed over, written in the stage's transaction: each once. Bounded: `database.raw_days`, the
-- newest 10,000 rows, 4,096 bytes of a content.
CREATE TABLE rejected_messages (
    stage          text NOT NULL,           -- aggregator, detector, rollup
    topic          text NOT NULL,           -- Kafka topic; of a refused row the table
    partition      integer NOT NULL,        -- of the stage's input
    message_offset bigint NOT NULL,         -- of the message; of what Tailback wrote, the end of the commit
    number         bigint NOT NULL,         -- 0 for a message that was read; else its number at that offset
    time           timestamptz NOT NULL DEFAULT clock_timestamp(), -- server's clock
    reason         text NOT NULL,           -- bad_message, too_large, refused_row
    detail         text NOT NULL,           -- the error in words
    message_key    text NOT NULL,           -- Kafka's key; empty where there is none
    size           bigint NOT NULL,         -- bytes of the content
    head           bytea NOT NULL,          -- its first bytes
    PRIMARY KEY (topic, partition, message_offset, stage, number)
);
CREATE INDEX rejected_messages_by_time ON rejected_messages (time);

-- Contents may name jobs of others: for writers and readers only.
GRANT SELECT, INSERT, UPDATE, DELETE ON rejected_messages TO tailback_writer;
GRANT SELECT ON rejected_messages TO tailback_reader;

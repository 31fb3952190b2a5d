-- Messages and rows that a stage skipped, written in the stage's transaction: each once. Bounded: `database.raw_days`, the
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

-- Position of a stage in a partition of its input. The epoch grows with every claim: the holder of an older one cannot
-- commit.
CREATE TABLE stage_positions (
    stage        text NOT NULL,
    partition    integer NOT NULL,
    epoch        bigint NOT NULL,
    owner        text,                      -- null when released
    commits      bigint NOT NULL DEFAULT 0, -- shows whether an interrupted commit happened
    position     bigint,                    -- next message to read; null before the first commit
    event_time   timestamptz,               -- latest signal committed
    committed_at timestamptz,               -- server's clock
    topic_id     text,                      -- Kafka's identity of the topic; null where brokers have none
    offset_base  bigint NOT NULL DEFAULT 0, -- Kafka's offset is position - offset_base: a topic that is created again continues the count
    PRIMARY KEY (stage, partition)
) WITH (fillfactor = 20);

-- State of a stage at `position`, compressed with zstd, cut into chunks.
CREATE TABLE stage_snapshots (
    stage     text NOT NULL,
    partition integer NOT NULL,
    position  bigint NOT NULL,
    version   integer NOT NULL,
    chunk     integer NOT NULL,
    content   bytea NOT NULL,
    PRIMARY KEY (stage, partition, chunk)
);
-- The content is compressed already. PostgreSQL 15 has no STORAGE in CREATE TABLE.
ALTER TABLE stage_snapshots ALTER COLUMN content SET STORAGE EXTERNAL;

-- How often all states were reset (`tailback migrate --forget-positions`). States number episodes and regions: each
-- generation has numbers of its own, so that it does not overwrite stored rows of an earlier one.
CREATE TABLE state_generation (
    generation bigint NOT NULL,
    is_one     boolean PRIMARY KEY DEFAULT true CHECK (is_one)
);
INSERT INTO state_generation (generation) VALUES (0);

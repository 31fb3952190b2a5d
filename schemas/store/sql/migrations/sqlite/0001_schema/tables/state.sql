-- What a restart needs: the model's state and the position in the input, one row each.
CREATE TABLE state (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

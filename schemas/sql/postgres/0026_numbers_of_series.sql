-- New series are written by COPY, which brings their numbers along.
GRANT USAGE ON SEQUENCE series_series_id_seq TO tailback_writer;

-- 16 MiB of pages at most.
PRAGMA incremental_vacuum(4096)

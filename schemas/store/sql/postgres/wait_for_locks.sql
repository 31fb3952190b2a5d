SET lock_timeout = 0

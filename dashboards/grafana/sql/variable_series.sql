SELECT series FROM worst_links(greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '1 day'), $__timeTo(), 200) ORDER BY rank

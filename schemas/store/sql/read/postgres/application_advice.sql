SELECT topic, name, figure, figure_lo, figure_hi, unit, detail FROM application_advice($1::text, $2::text)

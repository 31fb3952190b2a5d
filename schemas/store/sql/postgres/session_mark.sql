SELECT current_setting('tailback.session_mark', true)

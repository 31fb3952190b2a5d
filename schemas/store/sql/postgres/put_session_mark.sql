SET tailback.session_mark = '{mark}'

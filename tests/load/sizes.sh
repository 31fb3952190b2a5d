# Sizes of the month in a database, sourced with the size as the argument: `tenth` of a Trinity, or the whole `trinity`. Sets `database`
# and `sizes`, psql's options for the files that fill it. TAILBACK_TRIED=1 leaves a hundredth of the long tables.
case ${1:-tenth} in
    tenth)
        database=post_mortem
        sizes=(routers=500 clients=2000 client_metrics='{lustre_write_rate}' series=22000 episodes=3300000 jobs=9000 regions=6000
            incidents=60 tier_of=1 ten_s_from=2026-10-24 hours_from=2026-10-01)
        ;;
    trinity)
        database=trinity
        sizes=(routers=5000 clients=20000 client_metrics='{lustre_metadata_rate,lustre_read_rate,lustre_write_rate}' series=260000
            episodes=1300000 jobs=100000 regions=60000 incidents=600 tier_of=100 ten_s_from=2026-10-30 hours_from=2026-10-30)
        ;;
    *) echo "unknown size $1: use tenth or trinity" >&2; exit 2 ;;
esac
# As small as the tenth.
[ "${TAILBACK_TRIED:-}" != 1 ] || [ "$database" != trinity ] ||
    sizes+=(routers=500 clients=2000 series=26000 episodes=3300000 jobs=9000 regions=6000 incidents=60 tier_of=10)
sizes+=("one_of=$([ "${TAILBACK_TRIED:-}" = 1 ] && echo 100 || echo 1)")
sizes=("${sizes[@]/#/--set=}")

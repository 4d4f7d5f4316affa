# Sourced by ./test and .ci/run. `phase NAME COMMAND...` runs a part of a run and notes its seconds and how many sources were compiled meanwhile.
# Whoever comes first prints, at its end, what was noted beside the budgets of docs/continuous-integration.md.
# `behind NAME COMMAND...` starts a command that takes what the phases after it leave of the machine; `finish NAME` gives it the whole machine, waits
# for it, and shows what it printed.

if [ -z "${FAIRLEAD_PHASES:-}" ]; then
  FAIRLEAD_PHASES=$(mktemp)
  export FAIRLEAD_PHASES
  trap 'code=$?; end_behind; tools/phases "$FAIRLEAD_PHASES"; rm -f "$FAIRLEAD_PHASES"; exit $code' EXIT
else
  trap 'end_behind' EXIT
fi

say() { printf '\n== %s\n' "$*"; }

# Sources compiled since the machine's compiler cache was made, and those of them that the cache had.
compiled() {
  ccache --print-stats 2> /dev/null | awk '/^(direct|preprocessed)_cache_hit|^cache_miss/ { all += $2 } /_cache_hit/ { hits += $2 } END { print all + 0, hits + 0 }'
}

# note NAME SECONDS SOURCES CACHED
note() { printf '%s\t%s\t%s\t%s\n' "$@" >> "$FAIRLEAD_PHASES"; }

phase() {
  local name=$1 begin=$SECONDS before after
  shift
  say "$name"
  read -ra before <<< "$(compiled)"
  "$@"
  read -ra after <<< "$(compiled)"
  note "$name" $((SECONDS - begin)) $((after[0] - before[0])) $((after[1] - before[1]))
}

declare -A behind_pid=()
behind() {
  local name=$1
  shift
  mkdir -p build
  # A session of its own, because the kernel may weigh sessions rather than processes.
  setsid bash -c 'echo 19 > /proc/self/autogroup; renice -n 19 $$ > /dev/null; exec "$@"' behind "$@" > "build/behind-$name.log" 2>&1 &
  behind_pid[$name]=$!
}

finish() {
  local name=$1 pid=${behind_pid[$1]} failed=0
  { echo 0 > "/proc/$pid/autogroup"; renice -n 0 -g "$pid"; } > /dev/null 2>&1 || true
  wait "$pid" || failed=$?
  unset "behind_pid[$name]"
  cat "build/behind-$name.log"
  return $failed
}

end_behind() {
  local pid
  for pid in "${behind_pid[@]}"; do kill -TERM -- "-$pid" 2> /dev/null || true; done
}

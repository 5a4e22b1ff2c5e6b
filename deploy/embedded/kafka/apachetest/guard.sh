# Runs the broker: guard.sh FOLDER COMMAND... It kills the broker when standard input ends, which is how a test's death shows, and
# ends it in an orderly way on a line there. FOLDER is removed at the end, if it isn't empty text.
trap : INT HUP TERM # the guard outlives the broker, whose data it removes
folder=$1
shift
exec 3<&0 </dev/null
"$@" 3<&- &
broker=$!
(
  while read -r _; do kill -TERM "$broker"; done <&3
  kill -KILL "$broker"
) 2>/dev/null &
exec 3<&-
while kill -0 "$broker" 2>/dev/null; do wait "$broker"; done # a signal ends a wait
[ -z "$folder" ] || rm -rf "$folder"

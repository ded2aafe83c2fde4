# Does what its input says, by the protocol of process tools.
request=$(cat)
wish=${request#'{"input":"'}
wish=${wish%'"}'}

case $wish in
  answer) echo '{"output":"from sh","success":true}' ;;
  structured) echo '{"output":"from sh","success":true,"structured":{"by":"sh"}}' ;;
  failure) echo '{"error":"sh would not","success":false}' ;;
  exit) echo '{"output":"not to be read"}'; exit 3 ;;
  complain) echo '{"output":"not to be read"}'; echo 'sh broke' >&2; exit 3 ;;
  plain) printf '\n  sh says hello \n\n' ;;
  signal) kill -KILL $$ ;;
  noise) echo 'sh warns' >&2; echo '{"output":"from sh"}' ;;
  echo\ *) printf '{"output":"%s"}' "${wish#echo }" ;;
esac

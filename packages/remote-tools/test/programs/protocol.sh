# Executes its input, with the protocol of process tools.
request=$(cat)
input=${request#'{"input":"'}
input=${input%'"}'}

case $input in
  answer) echo '{"output":"from sh","success":true}' ;;
  structured) echo '{"output":"from sh","success":true,"structured":{"by":"sh"}}' ;;
  failure) echo '{"error":"sh would not","success":false}' ;;
  exit) echo '{"output":"not to be read"}'; exit 3 ;;
  complain) echo '{"output":"not to be read"}'; echo 'sh broke' >&2; exit 3 ;;
  plain) printf '\n  sh says hello \n\n' ;;
  signal) kill -KILL $$ ;;
  noise) echo 'sh warns' >&2; echo '{"output":"from sh"}' ;;
  echo\ *) printf '{"output":"%s"}' "${input#echo }" ;;
esac

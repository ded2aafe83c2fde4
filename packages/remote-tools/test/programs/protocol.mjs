/** Does what its input says, by the protocol of process tools. */
let text = ''
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
const wish = JSON.parse(text).input

const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)

if (wish === 'answer') write({ output: 'from node', success: true })
else if (wish === 'structured') {
  write({ output: 'from node', success: true, structured: { by: 'node' } })
} else if (wish === 'failure') write({ error: 'node would not', success: false })
else if (wish === 'exit') {
  write({ output: 'not to be read' })
  process.exitCode = 3
} else if (wish === 'complain') {
  write({ output: 'not to be read' })
  console.error('node broke')
  process.exitCode = 3
} else if (wish === 'plain') process.stdout.write('\n  node says hello \n\n')
else if (wish === 'signal') process.kill(process.pid, 'SIGKILL')
else if (wish === 'noise') {
  console.error('node warns')
  write({ output: 'from node' })
} else if (wish.startsWith('echo ')) write({ output: wish.slice(5) })

/** Executes its input, with the protocol of process tools. */
let text = ''
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
const command = JSON.parse(text).input

const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)

if (command === 'answer') write({ output: 'from node', success: true })
else if (command === 'structured') {
  write({ output: 'from node', success: true, structured: { by: 'node' } })
} else if (command === 'failure') write({ error: 'node would not', success: false })
else if (command === 'exit') {
  write({ output: 'not to be read' })
  process.exitCode = 3
} else if (command === 'complain') {
  write({ output: 'not to be read' })
  console.error('node broke')
  process.exitCode = 3
} else if (command === 'plain') process.stdout.write('\n  node says hello \n\n')
else if (command === 'signal') process.kill(process.pid, 'SIGKILL')
else if (command === 'noise') {
  console.error('node warns')
  write({ output: 'from node' })
} else if (command.startsWith('echo ')) write({ output: command.slice(5) })

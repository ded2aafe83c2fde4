/**
 * A process that uses a process tool and ends. With a call in flight, `exit` exits, `wait` waits for a signal, and so
 * does `leave`, whose program has a descendant in another session. With a worker that has answered two calls, `idle`
 * ends directly, and `close` closes the tool first. `abandon` has a worker that is never ready and has no waiting call.
 * The process ids of the programs are written to the file in the first argument.
 */
import { runTool } from '@tutti/core'

import { untilWritten } from '../../../../tooling/test-kit/processes.ts'
import { processTool } from '../../src/index.ts'

const [how = '', path = ''] = process.argv.slice(2)
const hasWorker = !['exit', 'wait', 'leave'].includes(how)

const HANGING = `trap '' TERM; sleep 300 & echo "$$ $!" > '${path}'; wait; sleep 300`
const LEAVING = `setsid sleep 300 & echo "$$ $!" > '${path}'; sleep 300`
const WORKER = `sleep 300 & echo "$$ $!" > '${path}'
while read line; do sleep 0.1; n=$((n+1)); echo '{"id":"'$n'","output":"done"}'; done`

const tool = processTool({
  name: 'work',
  description: 'Works',
  command: 'sh',
  args: ['-c', hasWorker ? WORKER : how === 'leave' ? LEAVING : HANGING],
  // The timer of a time limit would keep this process alive.
  timeoutMs: Infinity,
  ...(hasWorker ? { mode: 'worker' } : {}),
  ...(how === 'abandon' ? { worker: { startTimeoutMs: 300_000 } } : {}),
})

const controller = new AbortController()
const call = (): ReturnType<typeof runTool> =>
  runTool(
    tool,
    { id: 'call', name: 'work', arguments: '{"input":""}' },
    { signal: controller.signal },
  )

const first = call()
if (how === 'idle' || how === 'close') {
  console.log((await first).result.output)
  console.log((await call()).result.output)
}
if (how === 'close') {
  await tool.close()
  console.log('closed')
}
await untilWritten(path)
if (how === 'wait' || how === 'leave') console.log('waiting')
if (how === 'exit') process.exit(7)
if (how === 'abandon') {
  controller.abort()
  console.log((await first).end)
}

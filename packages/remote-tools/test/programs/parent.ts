/**
 * A process that uses a process tool and ends. `exit` and `wait` have a call in flight: the first exits,
 * the second waits for a signal. `idle` and `close` have a worker that has answered: the first ends
 * without a word, the second closes the tool before. The ids of the programs are in the file that is
 * named.
 */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

import { runTool } from '@tutti/core'

import { processTool } from '../../src/index.ts'

const [how = '', path = ''] = process.argv.slice(2)
const hasWorker = how === 'idle' || how === 'close'

const HANGING = `trap '' TERM; sleep 300 & echo "$$ $!" > '${path}'; wait; sleep 300`
const WORKER = `sleep 300 & echo "$$ $!" > '${path}'
while read line; do echo '{"id":"1","output":"done"}'; done`

const tool = processTool({
  name: 'work',
  description: 'Works',
  command: 'sh',
  args: ['-c', hasWorker ? WORKER : HANGING],
  ...(hasWorker ? { mode: 'worker' as const } : {}),
})

const running = runTool(tool, { id: 'call', name: 'work', arguments: '{"input":""}' })
if (hasWorker) console.log((await running).result.output)
if (how === 'close') {
  await tool.close()
  console.log('closed')
}
while (!existsSync(path)) await delay(5)
if (how === 'wait') console.log('waiting')
if (how === 'exit') process.exit(7)

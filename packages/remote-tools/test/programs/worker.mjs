/**
 * A worker that executes its input. With the argument `ready` it reports that it is ready when the file of the next
 * argument exists; with `stay` it does not exit when stdin is closed.
 */
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

const [mode, path] = process.argv.slice(2)
const answer = (id, value) => process.stdout.write(`${JSON.stringify({ id, ...value })}\n`)
const held = []
/** Files that calls wait for before they stop, by id. */
const stopFiles = new Map()

async function allowed(path) {
  while (path !== undefined && !existsSync(path)) await delay(5)
}

const WISHES = {
  pid: ({ id }) => answer(id, { output: String(process.pid) }),
  message: (message) => answer(message.id, { output: JSON.stringify(message) }),
  structured: ({ id }) => answer(id, { output: 'with a value', structured: { n: 1 } }),
  failure: ({ id }) => answer(id, { success: false, error: 'would not' }),
  number: ({ id }) => answer(Number(id), { output: 'by number' }),
  nothing: ({ id }) => answer(id, {}),
  die() {
    console.error('about to die')
    process.exitCode = 3
    process.stdin.destroy()
  },
  crash: () => process.kill(process.pid, 'SIGKILL'),
  last({ id }) {
    process.stdout.write(JSON.stringify({ id, output: 'no line end' }))
    process.stdin.destroy()
  },
  noise({ id }) {
    process.stdout.write('loading…\n\n[1]\n{"level":"info"}\n{"id":"99","output":"whose?"}\n')
    console.error('careful')
    answer(id, { output: 'quiet' })
  },
  long({ id }) {
    answer(id, { output: 'x'.repeat(3_000) })
  },
  hold({ id }) {
    held.push(id)
    console.error(`holding ${id}`)
  },
  ignore({ id }) {
    console.error(`holding ${id}`)
  },
  release({ id }) {
    for (const other of held.splice(0).toReversed()) answer(other, { output: `released ${other}` })
    answer(id, { output: 'released' })
  },
  dumb() {
    process.stdout.end()
    setInterval(() => undefined, 1_000)
  },
}

if (mode === 'ready') {
  await allowed(path)
  process.stdout.write('{"ready":true}\n')
}
if (mode === 'stay') setInterval(() => undefined, 1_000)

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const { id, input, cancel } = message
  if (cancel === true) {
    if (held.includes(id)) {
      held.splice(held.indexOf(id), 1)
      await allowed(stopFiles.get(id))
      answer(id, { success: false, error: 'stopped' })
    }
  } else if (input.startsWith('echo ')) answer(id, { output: input.slice(5) })
  else if (input.startsWith('stop at ')) {
    stopFiles.set(id, input.slice(8))
    WISHES.hold(message)
  } else WISHES[input]?.(message)
}

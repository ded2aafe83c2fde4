import { readdirSync } from 'node:fs'

import { ToolResult, type ToolCallOutcome } from '@tutti/core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'

import { processTool } from '../src/index.ts'
import { callTool } from './call-tool.ts'
import { children } from '../../../tooling/test-kit/processes.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { ask, workerTool } from './worker-tool.ts'

/** Open files and child processes are checked only on Linux. */
const isLinux = process.platform === 'linux'

/** Executes its input. */
const SCRIPT = `case $(cat) in
  *stubborn*) trap '' TERM; sleep 300 & wait; sleep 300 ;;
  *parent*) sleep 300 & echo started ;;
  *hang*) exec sleep 300 ;;
  *fail*) echo broken >&2; exit 1 ;;
  *) echo '{"output":"fine"}' ;;
esac`

const shell = (timeoutMs: number) =>
  processTool({
    name: 'work',
    description: 'Works',
    command: 'sh',
    args: ['-c', SCRIPT],
    killGraceMs: 200,
    timeoutMs,
  })

/** Resources of a process that could leak. */
interface Holdings {
  readonly children: readonly number[]
  readonly descriptors: number
  readonly listeners: number
}

let before: Holdings

beforeAll(async () => {
  // Resources of the first call stay open.
  await callTool(shell(10_000))
  await new Promise(setImmediate)
  before = held()
})

afterEach(async () => {
  const wanted = JSON.stringify(before)
  await until(`all to be as before: ${wanted}`, () => JSON.stringify(held()) === wanted)
})

describe('200 calls at once leave nothing behind', { timeout: 60_000 }, () => {
  it('200 calls at once leave nothing behind when they succeed', async () => {
    const outcomes = await many(200, () => callTool(shell(60_000), 'ok'))
    expect(outcomes.map(({ result }) => result)).toEqual(all(200, ToolResult.success('fine')))
  })

  it('200 calls at once leave nothing behind when they fail', async () => {
    const outcomes = await many(200, () => callTool(shell(60_000), 'fail'))
    expect(outcomes.map(({ result }) => result)).toEqual(all(200, ToolResult.failure('broken')))
  })

  it('200 calls at once leave nothing behind when their programs do not exist', async () => {
    const tool = processTool({ name: 'work', description: 'Works', command: 'no-such-program-7' })
    const outcomes = await many(200, () => callTool(tool))
    expect(outcomes.every(({ result }) => !result.success)).toBe(true)
  })

  it('200 calls at once leave nothing behind when they time out', async () => {
    const outcomes = await many(200, (index) =>
      callTool(shell(300), index % 4 === 0 ? 'stubborn' : 'hang'),
    )
    expect(outcomes.map(({ end }) => end)).toEqual(all(200, 'timed_out'))
  })

  it('200 calls at once leave nothing behind when they are aborted', async () => {
    const controller = new AbortController()
    const running = many(200, () => callTool(shell(60_000), 'hang', { signal: controller.signal }))
    if (isLinux) await until('half of them to run', () => children().length >= 100)
    controller.abort()
    expect((await running).map(({ end }) => end)).toEqual(all(200, 'cancelled'))
  })

  it('200 calls at once leave nothing behind when other processes hold their pipes', async () => {
    const outcomes = await many(50, () => callTool(shell(60_000), 'parent'))
    expect(outcomes.map(({ result }) => result)).toEqual(all(50, ToolResult.success('started')))
  })

  it('200 calls at once leave nothing behind when workers answer them', async () => {
    const tool = workerTool({ size: 2, concurrency: 4 })
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => ask(tool, `echo ${index}`)),
    )
    expect(results.map(({ output }) => output)).toEqual(
      Array.from({ length: 200 }, (_, index) => String(index)),
    )
    await tool.close()
  })
})

it('Many consecutive calls leave nothing behind', async () => {
  const tool = shell(60_000)
  for (let index = 0; index < 60; index += 1) await callTool(tool, index % 2 === 0 ? 'ok' : 'fail')
})

function many(
  count: number,
  call: (index: number) => Promise<ToolCallOutcome>,
): Promise<readonly ToolCallOutcome[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
}

function all<T>(count: number, value: T): readonly T[] {
  return Array.from({ length: count }, () => value)
}

function held(): Holdings {
  const listeners = process.eventNames().map((name) => process.listenerCount(name))
  return {
    children: isLinux ? children() : [],
    descriptors: isLinux ? readdirSync('/proc/self/fd').length : 0,
    listeners: listeners.reduce((sum, count) => sum + count, 0),
  }
}

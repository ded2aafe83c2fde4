import { createLimiter, toolContext, ToolResult } from '@tutti/core'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { callTool } from '../../../test/call-tool.ts'
import { children, isRunning } from '../../../../../tooling/test-kit/processes.ts'
import { until } from '../../../../../tooling/test-kit/wait.ts'
import {
  ask,
  askHeld,
  pidOf,
  workerTool,
  type WorkerToolSettings,
} from '../../../test/worker-tool.ts'
import { processTool, type ProcessTool } from '../process-tool.ts'
import { COOL_DOWN_MS } from './restarts.ts'

import type { WorkerOptions } from '../worker-options.ts'

const { success, failure } = ToolResult

let clock: FakeClock
const tools: ProcessTool<string>[] = []

beforeEach(() => {
  clock = fakeClock()
})
afterEach(async () => {
  await Promise.all(tools.splice(0).map((tool) => tool.close()))
})

describe('[REMOTE-L1] a call goes', () => {
  it('A call goes to an idle program', async () => {
    const tool = make({ size: 3 })
    const pids: number[] = []
    for (let index = 0; index < 4; index += 1) pids.push(await pidOf(tool))
    expect(new Set(pids).size).toBe(1)
  })

  it('A call without an idle program goes to a new one', async () => {
    const tool = make({ size: 2, concurrency: 2 })
    const first = await pidOf(tool)
    await askHeld(tool)
    const second = await pidOf(tool)
    expect(second).not.toBe(first)
  })

  it('A call goes to the program with the fewest calls if no other can be started', async () => {
    const tool = make({ size: 2, concurrency: 5 })
    const first = await pidOf(tool)
    await askHeld(tool)
    const second = await pidOf(tool)
    await askHeld(tool)
    await askHeld(tool)
    expect(await pidOf(tool)).toBe(second)
    expect(second).not.toBe(first)
  })
})

describe('[REMOTE-L2] the size of the pool', () => {
  it('The size of the pool limits the programs for any number of calls', async () => {
    const tool = make({ size: 2 })
    const pids = await Promise.all(Array.from({ length: 9 }, () => pidOf(tool)))
    expect(new Set(pids).size).toBe(2)
  })

  it('The size of the pool counts only programs that take calls, and a program that is ending is replaced immediately', async () => {
    const tool = make({}, { command: 'sh', args: ['-c', STUBBORN], clock, timeoutMs: 500 })
    const { outcome } = await askHeld(tool, { command: 'hang', clock })
    await clock.advance(500)
    expect((await outcome).end).toBe('timed_out')
    expect(await ask(tool, 'go on')).toEqual(success('on'))
    await clock.advance(2_000)
  })
})

describe('[REMOTE-L3] a program', () => {
  it.runIf(process.platform === 'linux')('A program is started by a call, not before', async () => {
    const tool = make({ size: 2 })
    expect(children()).toEqual([])
    const pid = await pidOf(tool)
    expect(children()).toEqual([pid])
  })

  it('A program that exits immediately is restarted with growing delays, and finally not at all', async () => {
    const tool = make({ maxRestarts: 3 }, { command: 'sh', args: ['-c', 'exit 9'], clock })
    const died = failure('Worker exited with code 9')
    expect(await ask(tool, 'a')).toEqual(died)
    expect(await ask(tool, 'b')).toEqual(died)
    for (const waitMs of [100, 200]) {
      const waiting = ask(tool, 'c')
      let isOver = false
      void waiting.then(() => (isOver = true))
      await until('the wait', () => clock.pending > 0)
      await clock.advance(waitMs - 1)
      expect(isOver).toBe(false)
      await clock.advance(1)
      expect(await waiting).toEqual(died)
    }
    const refused = failure(
      'Worker failed 4 times in a row; next start in 30000 ms: Worker exited with code 9',
    )
    expect(await ask(tool, 'd')).toEqual(refused)
    await clock.advance(COOL_DOWN_MS)
    expect(await ask(tool, 'e')).toEqual(died)
    expect((await ask(tool, 'f')).errorMessage).toMatch(/^Worker failed 5 times in a row/)
  })

  it('A program that answers between its failures is restarted immediately each time', async () => {
    const tool = make({ maxRestarts: 1 }, { clock })
    for (let index = 0; index < 4; index += 1) {
      expect(await ask(tool, 'echo on')).toEqual(success('on'))
      expect((await ask(tool, 'crash')).success).toBe(false)
    }
  })

  it('A program that is ended because a call was aborted has not failed', async () => {
    const tool = make({ maxRestarts: 0 })
    for (let index = 0; index < 2; index += 1) {
      const controller = new AbortController()
      const { outcome } = await askHeld(tool, { signal: controller.signal })
      controller.abort()
      await outcome
    }
    expect(await ask(tool, 'echo on')).toEqual(success('on'))
  })

  it('A program that exits while idle after an answer has not failed', async () => {
    const tool = make({ maxRestarts: 0 })
    const pid = await pidOf(tool)
    await kill(pid)
    expect(await ask(tool, 'echo on')).toEqual(success('on'))
  })

  it('A program that keeps failing leaves the calls to a working one', async () => {
    const tool = make({ size: 2, concurrency: 2, maxRestarts: 0 })
    const [first, second] = await Promise.all([pidOf(tool), pidOf(tool)])
    const { outcome } = await askHeld(tool)
    await askHeld(tool)
    await kill(first)
    expect((await outcome).result).toEqual(failure('Worker was killed by SIGKILL'))
    expect(await pidOf(tool)).toBe(second)
  })
})

describe('[REMOTE-L4] a call without a free slot', () => {
  it('A call without a free slot waits before its time limit starts', async () => {
    const tool = make({ size: 1 }, { clock, timeoutMs: 1_000 })
    const held = callTool(tool, 'hold', { clock })
    await until('the call to be in flight', () => clock.pending > 0)
    const waiting = callTool(tool, 'echo on', { clock })
    await clock.advance(1_000)
    expect((await held).end).toBe('timed_out')
    expect(await waiting).toMatchObject({ result: success('on'), waitedMs: 1_000 })
  })

  it('A call without a free slot also waits when the tool allows more calls', async () => {
    const tool = make({ size: 1 }, { maxConcurrentCalls: 10 })
    const pids = await Promise.all(Array.from({ length: 10 }, () => pidOf(tool)))
    expect(new Set(pids).size).toBe(1)
  })

  it('A call without a free slot stops waiting when it is aborted', async () => {
    const controller = new AbortController()
    const tool = make({ size: 1 }, { maxConcurrentCalls: 10 })
    await askHeld(tool)
    const waiting = callTool(tool, 'pid', { signal: controller.signal })
    await new Promise(setImmediate)
    controller.abort()
    expect((await waiting).end).toBe('cancelled')
  })

  it('A call without a free slot releases its slot once', async () => {
    const tool = make({ size: 1 }, { maxConcurrentCalls: 10 })
    for (const isWaiting of [false, true]) {
      const controller = new AbortController()
      const { signal } = controller
      const held = isWaiting ? await askHeld(tool, { signal }) : undefined
      const waiting = callTool(tool, 'pid', { signal })
      if (isWaiting) await new Promise(setImmediate)
      controller.abort()
      await Promise.all([held?.outcome, waiting])
    }
    const pids = await Promise.all(Array.from({ length: 10 }, () => pidOf(tool)))
    expect(new Set(pids).size).toBe(1)
  })

  it('A call without a free slot uses the limit of the tool when it has one', () => {
    const limiter = createLimiter({ maxConcurrent: 3 })
    expect(make({ size: 4, concurrency: 2 }).limiter?.maxConcurrent).toBe(8)
    expect(make({ size: 4 }, { maxConcurrentCalls: 2 }).limiter?.maxConcurrent).toBe(2)
    const shared = processTool({
      name: 'work',
      description: 'Works',
      command: 'cat',
      mode: 'worker',
      limiter,
    })
    expect(shared.limiter).toBe(limiter)
  })

  it('A call without a free slot releases its slot when it fails before it is sent', async () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const tool = make()
    await expect(tool.execute(circle as never, toolContext())).rejects.toThrow(TypeError)
    expect(await ask(tool, 'echo on')).toEqual(success('on'))
  })
})

describe('a closed pool', () => {
  it('A closed pool ends its programs by closing their stdin', async () => {
    const tool = make({ size: 2 })
    const pids = await Promise.all([pidOf(tool), pidOf(tool)])
    await tool.close()
    expect(pids.map(isRunning)).toEqual([false, false])
    await tool.close()
  })

  it('A closed pool lets its programs answer their calls', async () => {
    const tool = make({}, { command: 'sh', args: ['-c', SLOW] })
    const { outcome } = await askHeld(tool)
    await tool.close()
    expect((await outcome).result).toEqual(success('at last'))
  })

  it('A closed pool rejects later calls', async () => {
    const tool = make()
    await tool.close()
    expect(await ask(tool, 'echo on')).toEqual(failure('Tool is closed'))
  })

  it.runIf(process.platform === 'linux')(
    'A closed pool ends its programs whenever it is closed',
    async () => {
      for (let turns = 0; turns < 25; turns += 1) {
        const tool = make({}, { command: 'sh', args: ['-c', 'cat >/dev/null'] })
        const waiting = ask(tool, 'a')
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        await tool.close()
        expect((await waiting).success).toBe(false)
        expect(children()).toEqual([])
      }
    },
  )

  it('A closed pool does not wait for a program whose start is delayed', async () => {
    const tool = make({}, { command: 'sh', args: ['-c', 'exit 9'], clock })
    await ask(tool, 'a')
    await ask(tool, 'b')
    const waiting = ask(tool, 'c')
    await until('the wait', () => clock.pending > 0)
    await tool.close()
    expect(await waiting).toEqual(failure('Worker was ended before it started'))
    expect(clock.pending).toBe(0)
  })
})

/** Ignores SIGTERM, and hangs on request. */
const STUBBORN = `trap '' TERM
while read line; do
  case $line in
    *hang*) echo 'holding it' >&2; sleep 300 ;;
    *) echo '{"id":"1","output":"on"}' ;;
  esac
done`

/** Reads a call, and answers it after stdin was closed. */
const SLOW = `read line; echo 'holding it' >&2; cat >/dev/null; echo '{"id":"1","output":"at last"}'`

/** Kills a child process, and waits until this process has noticed. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await until('its end to be noted', () => !isKnown(pid))
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
}

function isKnown(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function make(worker: WorkerOptions = {}, settings: WorkerToolSettings = {}): ProcessTool<string> {
  const tool = workerTool(worker, settings)
  tools.push(tool)
  return tool
}

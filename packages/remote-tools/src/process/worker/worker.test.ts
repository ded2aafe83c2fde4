import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { toolContext, ToolResult, type Logger, type RunToolOptions } from '@tutti/core'
import { CANCEL_GRACE_MS, silentLogger } from '@tutti/core/internal'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { callTool } from '../../../test/call-tool.ts'
import { isRunning, untilGone } from '../../../../../tooling/test-kit/processes.ts'
import { until } from '../../../../../tooling/test-kit/wait.ts'
import {
  ask,
  askHeld,
  pidOf,
  workerTool,
  type WorkerToolSettings,
} from '../../../test/worker-tool.ts'
import { processTool, type ProcessTool } from '../process-tool.ts'
import { CANCEL_ANSWER_MS } from './worker.ts'

import type { WorkerOptions } from '../worker-options.ts'

const { success, failure } = ToolResult

let folder: string
let clock: FakeClock
const tools: ProcessTool<string>[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-worker-'))
})
beforeEach(() => {
  clock = fakeClock()
})
afterEach(async () => {
  await Promise.all(tools.splice(0).map((tool) => tool.close()))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('[REMOTE-W1] a call is answered by the line with its id', () => {
  it('Calls are answered one after the other by the same program', async () => {
    const tool = make()
    const pid = await pidOf(tool)
    expect(await ask(tool, 'echo one')).toEqual(success('one'))
    expect(await ask(tool, 'structured')).toEqual(success('with a value', { n: 1 }))
    expect(await ask(tool, 'failure')).toEqual(failure('would not'))
    expect(await ask(tool, 'number')).toEqual(success('by number'))
    expect(await ask(tool, 'nothing')).toEqual(success('{}'))
    expect(await pidOf(tool)).toBe(pid)
  })

  it('A call contains the input, a unique id, its key and its run', async () => {
    const tool = make()
    const messageOf = async (options: RunToolOptions): Promise<unknown> =>
      JSON.parse((await ask(tool, 'message', options)).output)
    expect(await messageOf({})).toEqual({ id: '1', input: 'message', idempotencyKey: 'call' })
    expect(await messageOf({ idempotencyKey: 'k', runId: 'r' })).toEqual({
      id: '2',
      input: 'message',
      idempotencyKey: 'k',
      runId: 'r',
    })
  })

  it('Other lines of the program are logged', async () => {
    const debug = vi.fn<Logger['debug']>()
    const logger = { ...silentLogger, debug }
    const tool = make()
    expect(await ask(tool, 'noise', { logger })).toEqual(success('quiet'))
    const findLogs = (message: string): readonly unknown[] =>
      debug.mock.calls.filter(([text]) => text === message).map(([, fields]) => fields?.['line'])
    expect(findLogs('Worker wrote a line that does not answer a call')).toEqual([
      'loading…',
      '[1]',
      '{"level":"info"}',
      '{"id":"99","output":"whose?"}',
    ])
    await until('the line of stderr', () => findLogs('Worker wrote to stderr').length > 0)
    expect(findLogs('Worker wrote to stderr')).toEqual(['careful'])
  })

  it('A call is answered also when the program exits right after it without a line break', async () => {
    const tool = make({}, { timeoutMs: Infinity })
    expect(await ask(tool, 'last')).toEqual(success('no line end'))
  })

  it('Calls are answered in any order of the answers', async () => {
    const tool = make({ concurrency: 4 })
    const held = [ask(tool, 'hold'), ask(tool, 'hold'), ask(tool, 'hold')]
    expect(await ask(tool, 'release')).toEqual(success('released'))
    expect(await Promise.all(held)).toEqual([
      success('released 1'),
      success('released 2'),
      success('released 3'),
    ])
  })

  it('A line that is too long fails only its call', async () => {
    const tool = make({}, { maxOutputBytes: 1_000 })
    const pid = await pidOf(tool)
    expect(await ask(tool, 'long')).toEqual(failure('Worker wrote a line longer than 1000 bytes'))
    expect(await pidOf(tool)).toBe(pid)
  })

  it('A line of several calls that is too long fails all of them, and the program is ended', async () => {
    const tool = make({ concurrency: 2 }, { maxOutputBytes: 1_000 })
    const pid = await pidOf(tool)
    const results = await Promise.all([ask(tool, 'hold'), ask(tool, 'long')])
    const failed = failure('Worker wrote a line longer than 1000 bytes')
    expect(results).toEqual([failed, failed])
    await untilGone(pid)
    expect(await ask(tool, 'echo on')).toEqual(success('on'))
  })
})

describe('[REMOTE-W2] the end of the program fails the calls it has not answered', () => {
  it('The end of the program fails its calls with its exit code and its last lines of stderr', async () => {
    const tool = make()
    const pid = await pidOf(tool)
    expect(await ask(tool, 'die')).toEqual(failure('Worker exited with code 3: about to die'))
    expect(await pidOf(tool)).not.toBe(pid)
  })

  it('The end of the program fails its calls with the signal that killed it', async () => {
    expect(await ask(make(), 'crash')).toEqual(failure('Worker was killed by SIGKILL'))
  })

  it('The end of the program fails all calls in flight, and no later ones', async () => {
    const tool = make({ concurrency: 3 })
    const pid = await pidOf(tool)
    const held = [await askHeld(tool), await askHeld(tool)]
    process.kill(pid, 'SIGKILL')
    const results = await Promise.all(held.map(async ({ outcome }) => (await outcome).result))
    // Its stderr while it had several calls is in the log, but in no result.
    const failed = failure('Worker was killed by SIGKILL')
    expect(results).toEqual([failed, failed])
    expect(await ask(tool, 'echo on')).toEqual(success('on'))
  })

  it('The end of the program fails its calls without stderr that may belong to another call', async () => {
    const tool = make()
    const debug = vi.fn<Logger['debug']>()
    await ask(tool, 'noise', { logger: { ...silentLogger, debug } })
    await until('the line of stderr', () =>
      debug.mock.calls.some(([text]) => text === 'Worker wrote to stderr'),
    )
    expect(await ask(tool, 'crash')).toEqual(failure('Worker was killed by SIGKILL'))
  })

  it('The end of the program fails its calls with an incomplete last line of stderr', async () => {
    expect(await ask(shell('printf "no module" >&2; exit 1'), 'a')).toEqual(
      failure('Worker exited with code 1: no module'),
    )
  })

  it('The end of the program fails its calls with its exit, not with the pipe that it closed by exiting', async () => {
    expect(await ask(shell('exit 5'), 'x'.repeat(2_000_000))).toEqual(
      failure('Worker exited with code 5'),
    )
  })

  it('The end of the program fails its calls with the stderr of its start when it has never answered', async () => {
    const tool = shell('echo "no module" >&2; exit 1', { concurrency: 2 })
    expect(await ask(tool, 'a')).toEqual(failure('Worker exited with code 1: no module'))
  })

  it('A program that has closed its stdout is ended', async () => {
    const tool = make()
    const pid = await pidOf(tool)
    expect(await ask(tool, 'dumb')).toEqual(failure('Worker closed its stdout'))
    await untilGone(pid)
  })

  it('A program that has closed its stdin is ended at the next write', async () => {
    const path = join(folder, 'deaf')
    const tool = shell(`exec <&-; echo closed > ${path}; exec sleep 300`)
    expect(await ask(tool, 'x'.repeat(2_000_000))).toEqual(failure('Worker closed its stdin'))
  })

  it('A program that cannot be started fails all its calls', async () => {
    const tool = make({ concurrency: 2 }, { command: 'no-such-program-7' })
    const failed = failure('Failed to start process: program "no-such-program-7" not found')
    expect(await Promise.all([ask(tool, 'a'), ask(tool, 'b')])).toEqual([failed, failed])
  })
})

describe('[REMOTE-W3] an aborted call', () => {
  it('An aborted call ends the program at its time limit, and the next call gets another one', async () => {
    const tool = make({}, { clock, timeoutMs: 500 })
    const pid = await pidOf(tool)
    const running = callTool(tool, 'hold', { clock })
    await clock.advance(500)
    expect(await running).toMatchObject({
      end: 'timed_out',
      result: failure('Tool "work" timed out after 500 ms'),
    })
    expect(await pidOf(tool)).not.toBe(pid)
    await untilGone(pid)
  })

  it('An aborted call has ended when the program has, if its caller aborts it', async () => {
    const controller = new AbortController()
    const tool = make()
    const pid = await pidOf(tool)
    const { outcome } = await askHeld(tool, { signal: controller.signal })
    controller.abort()
    expect((await outcome).end).toBe('cancelled')
    expect(isRunning(pid)).toBe(false)
    expect(await ask(tool, 'echo on')).toEqual(success('on'))
  })

  it.each(['before its turn', 'while it works'])(
    'An aborted call has the reason in the result of a direct call: %s',
    async (when) => {
      const controller = new AbortController()
      const tool = make()
      if (when === 'while it works') await pidOf(tool)
      const context = toolContext<string>({ signal: controller.signal })
      const running = tool.execute('hold', { ...context, signal: controller.signal })
      if (when === 'while it works') await pending()
      controller.abort(new Error('Enough'))
      expect(await running).toMatchObject({
        errorMessage: expect.stringMatching(/^Process ".*" was ended: Enough$/) as string,
      })
    },
  )

  it('An aborted call leaves no listeners on its signal when it is not aborted', async () => {
    const { signal } = new AbortController()
    const context = { ...toolContext<string>(), signal }
    const tool = make()
    await tool.execute('echo one', context)
    await tool.execute('echo two', context)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('An aborted call does not end a program that is still starting, which takes the next call', async () => {
    const controller = new AbortController()
    const path = join(folder, 'start')
    const tool = make({ startTimeoutMs: 10_000 }, { words: ['ready', path], clock })
    const running = callTool(tool, 'pid', { signal: controller.signal })
    await until('the wait for it', () => clock.pending > 0)
    controller.abort()
    expect((await running).end).toBe('cancelled')
    writeFileSync(path, '')
    expect(await ask(tool, 'message')).toMatchObject({
      output: '{"id":"2","input":"message","idempotencyKey":"call"}',
    })
  })

  describe('of a program with several calls', () => {
    it('An aborted call does not end a program with several calls when it confirms that it has stopped', async () => {
      const controller = new AbortController()
      const tool = make({ concurrency: 3, idleTimeoutMs: Infinity }, { clock })
      const pid = await pidOf(tool)
      const other = await askHeld(tool)
      const { outcome } = await askHeld(tool, { signal: controller.signal })
      controller.abort()
      expect((await outcome).end).toBe('cancelled')
      expect(clock.pending).toBe(0)
      expect(await pidOf(tool)).toBe(pid)
      await ask(tool, 'release')
      expect((await other.outcome).result).toEqual(success('released 2'))
    })

    it('An aborted call ends a program with several calls without a confirmation, and fails the others', async () => {
      const controller = new AbortController()
      const tool = make({ concurrency: 3 }, { clock })
      const pid = await pidOf(tool)
      const other = await askHeld(tool)
      const { outcome } = await askHeld(tool, { command: 'ignore', signal: controller.signal })
      controller.abort()
      await clock.advance(CANCEL_ANSWER_MS - 1)
      expect(isRunning(pid)).toBe(true)
      await clock.advance(1)
      expect((await outcome).end).toBe('cancelled')
      expect((await other.outcome).result).toEqual(
        failure('Worker was ended: it did not stop another call, which was aborted'),
      )
      expect(isRunning(pid)).toBe(false)
      expect(await ask(tool, 'echo on')).toEqual(success('on'))
    })

    it('An aborted call of a program with several calls gives it no calls until it confirms, and respects the size of the pool after that', async () => {
      const controller = new AbortController()
      const tool = make({ concurrency: 2 }, { clock })
      const first = await pidOf(tool)
      const stopFile = join(folder, 'stopFile')
      const { signal } = controller
      const { outcome } = await askHeld(tool, { command: `stop at ${stopFile}`, signal })
      controller.abort()
      const second = await pidOf(tool)
      expect(second).not.toBe(first)
      writeFileSync(stopFile, '')
      expect((await outcome).end).toBe('cancelled')
      await untilGone(first)
      expect(await pidOf(tool)).toBe(second)
    })
  })
})

describe('[REMOTE-W4] an idle program', () => {
  it('An idle program is ended after its idle time by closing its stdin', async () => {
    const tool = make({ idleTimeoutMs: 1_000 }, { clock })
    const pid = await pidOf(tool)
    await clock.advance(999)
    expect(await pidOf(tool)).toBe(pid)
    await clock.advance(999)
    expect(isRunning(pid)).toBe(true)
    await clock.advance(1)
    await untilGone(pid)
    expect(await pidOf(tool)).not.toBe(pid)
  })

  it('An idle program is never ended with an infinite idle time', async () => {
    const tool = make({ idleTimeoutMs: Infinity }, { clock })
    await pidOf(tool)
    expect(clock.pending).toBe(0)
  })

  it('An idle program is not ended while it has a call', async () => {
    const tool = make({ idleTimeoutMs: 1_000, concurrency: 2 }, { clock })
    await pidOf(tool)
    const held = ask(tool, 'hold')
    await clock.advance(10_000)
    await ask(tool, 'release')
    expect(await held).toEqual(success('released 2'))
  })
})

describe('[REMOTE-W5] a retired program', () => {
  it('A retired program is replaced after its last call', async () => {
    const tool = make({ maxCallsPerWorker: 2 })
    const pids: number[] = []
    for (let index = 0; index < 5; index += 1) pids.push(await pidOf(tool))
    const [a, b, c] = [pids[0], pids[2], pids[4]]
    expect(pids).toEqual([a, a, b, b, c])
    expect(new Set(pids).size).toBe(3)
    await Promise.all([untilGone(a ?? 0), untilGone(b ?? 0)])
  })

  it('A retired program answers its calls', async () => {
    const tool = make({ maxCallsPerWorker: 2, concurrency: 2 })
    const held = ask(tool, 'hold')
    expect(await ask(tool, 'release')).toEqual(success('released'))
    expect(await held).toEqual(success('released 1'))
  })

  it('A retired program is killed when it does not exit', async () => {
    const tool = make({ maxCallsPerWorker: 1 }, { clock, words: ['stay'] })
    const pid = await pidOf(tool)
    await clock.advance(CANCEL_GRACE_MS - 1)
    expect(isRunning(pid)).toBe(true)
    await clock.advance(1)
    await untilGone(pid)
  })
})

describe('a program that reports when it is ready', () => {
  it('A program that reports when it is ready gets no call before that', async () => {
    const path = join(folder, 'ready')
    const tool = make({ startTimeoutMs: 10_000 }, { words: ['ready', path], clock })
    const waiting = ask(tool, 'echo hi')
    await until('the wait for it', () => clock.pending > 0)
    writeFileSync(path, '')
    expect(await waiting).toEqual(success('hi'))
  })

  it('A program that reports when it is ready has no time limit once it is ready', async () => {
    const path = join(folder, 'in-time')
    writeFileSync(path, '')
    const tool = make({ startTimeoutMs: 1_000, concurrency: 2 }, { words: ['ready', path], clock })
    const { outcome } = await askHeld(tool)
    await clock.advance(60_000)
    await ask(tool, 'release')
    expect((await outcome).result).toEqual(success('released 1'))
  })

  it('A program that reports when it is ready gets its calls once even if it reports repeatedly', async () => {
    const ready = `echo '{"ready":true}'`
    const count = 'n=1; while read line; do n=$((n+1)); done'
    const answer = `echo '{"id":"1","output":"'$n' call"}'`
    const tool = shell(
      `${ready}; ${ready}; read line; ${ready}; echo holding it >&2; ${count}; ${answer}`,
    )
    const { outcome } = await askHeld(tool)
    await tool.close()
    expect((await outcome).result).toEqual(success('1 call'))
  })

  it('A program that reports when it is ready is ended when it does not report, and fails the waiting calls', async () => {
    const words = ['ready', join(folder, 'never')]
    const tool = make({ startTimeoutMs: 300, concurrency: 2 }, { words, clock })
    const waiting = [ask(tool, 'a'), ask(tool, 'b')]
    await until('the wait for it', () => clock.pending > 0)
    await clock.advance(300)
    const failed = failure('Worker was not ready within 300 ms')
    expect(await Promise.all(waiting)).toEqual([failed, failed])
  })
})

function make(worker: WorkerOptions = {}, settings: WorkerToolSettings = {}): ProcessTool<string> {
  const tool = workerTool(worker, settings)
  tools.push(tool)
  return tool
}

function shell(script: string, worker: WorkerOptions = {}): ProcessTool<string> {
  const tool = processTool({
    name: 'work',
    description: 'Works',
    command: 'sh',
    args: ['-c', script],
    mode: 'worker',
    worker,
  })
  tools.push(tool)
  return tool
}

/** Waits until all ready callbacks have run. */
function pending(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

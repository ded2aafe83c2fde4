import { describe, expect, it, vi } from 'vitest'

import { fakeClock } from '../../../../tooling/test-kit/clock.ts'
import { settle } from '../../../../tooling/test-kit/wait.ts'
import { sleep } from '../clock.ts'
import { defineTextTool } from '../definition/define-tool.ts'
import { silentLogger } from '../logger.ts'
import { runToolCalls } from './run-tool-calls.ts'
import { ToolResult } from '../tool/tool-result.ts'

import type { ToolCall, ToolCallOutcome } from '../tool/outcome.ts'
import type { AgentTool, ToolContext } from '../tool/tool.ts'

const clock = fakeClock()

/** Tool that waits for the milliseconds in its input and counts its waiting calls. */
function waiter(): { readonly tool: AgentTool; readonly most: () => number } {
  let running = 0
  let most = 0
  const tool = defineTextTool({
    name: 'wait',
    description: 'Waits',
    timeoutMs: 1_000,
    async execute(ms, { signal }) {
      running += 1
      most = Math.max(most, running)
      await sleep(clock, Number(ms), signal)
      running -= 1
      return `waited ${ms}`
    },
  })
  return { tool, most: () => most }
}

const fail = defineTextTool({
  name: 'fail',
  description: 'Fails',
  execute: (text) => Promise.reject(new Error(text)),
})

const hang = defineTextTool({
  name: 'hang',
  description: 'Never ends',
  timeoutMs: 1_000,
  execute: () => new Promise(() => undefined),
})

const call = (id: string, name: string, input: string | number): ToolCall => ({
  id,
  name,
  arguments: JSON.stringify({ input: String(input) }),
})

describe('runToolCalls', () => {
  it('runToolCalls returns results in the order of the calls, regardless of the order of ending', async () => {
    const calls = [call('a', 'wait', 300), call('b', 'wait', 100), call('c', 'wait', 200)]
    const running = runToolCalls([waiter().tool], calls, { clock })
    await clock.advance(1_000)
    expect((await running).map(({ result }) => result.output)).toEqual([
      'waited 300',
      'waited 100',
      'waited 200',
    ])
  })

  it('runToolCalls calls onOutcome with each call as it ends, in the order of ending', async () => {
    const ended: [string, number][] = []
    const calls = [call('a', 'wait', 300), call('b', 'nope', 0), call('c', 'wait', 200)]
    const running = runToolCalls([waiter().tool], calls, {
      clock,
      onOutcome({ id }, { durationMs }) {
        ended.push([id, durationMs])
      },
    })
    await clock.advance(1_000)
    const outcomes = await running
    expect(ended).toEqual([
      ['b', 0],
      ['c', 200],
      ['a', 300],
    ])
    expect(outcomes).toHaveLength(3)
  })

  it.each([
    [1, 10, 10],
    [2, 10, 5],
    [3, 10, 4],
    [10, 10, 1],
    [100, 10, 1],
  ])(
    'runToolCalls with a limit of %i runs %i calls in %i rounds',
    async (maxConcurrentCalls, count, rounds) => {
      const { tool, most } = waiter()
      const calls = Array.from({ length: count }, (_, index) => call(`c${index}`, 'wait', 10))
      const startedAt = clock.elapsed()
      const took = runToolCalls([tool], calls, { clock, maxConcurrentCalls }).then(
        () => clock.elapsed() - startedAt,
      )
      await clock.advance(10_000)
      expect(most()).toBe(Math.min(maxConcurrentCalls, count))
      expect(await took).toBe(rounds * 10)
    },
  )

  it('runToolCalls runs at most 8 calls at the same time by default', async () => {
    const { tool, most } = waiter()
    const calls = Array.from({ length: 20 }, (_, index) => call(`c${index}`, 'wait', 10))
    const running = runToolCalls([tool], calls, { clock })
    await clock.advance(1_000)
    expect(await running).toHaveLength(20)
    expect(most()).toBe(8)
  })

  it.each([0, -1])(
    'runToolCalls treats a limit of %i as 1 and loses no call',
    async (maxConcurrentCalls) => {
      const { tool, most } = waiter()
      const calls = [call('a', 'wait', 10), call('b', 'wait', 10)]
      const running = runToolCalls([tool], calls, { clock, maxConcurrentCalls })
      await clock.advance(100)
      expect((await running).map(({ end }) => end)).toEqual(['finished', 'finished'])
      expect(most()).toBe(1)
    },
  )

  it('runToolCalls answers an unknown tool with the list of known tools', async () => {
    const [outcome] = await runToolCalls([fail, hang], [call('a', 'serach', 'x')], { clock })
    expect(outcome).toEqual({
      result: ToolResult.failure('Unknown tool "serach". Available: [fail, hang]'),
      durationMs: 0,
      waitedMs: 0,
      end: 'finished',
    })
  })

  it('runToolCalls never loses calls because of a failing, unknown, malformed or hanging one', async () => {
    const calls: ToolCall[] = [
      call('a', 'fail', 'No network'),
      call('b', 'hang', ''),
      call('c', 'nope', ''),
      { id: 'd', name: 'wait', arguments: '{"input":null}' },
      call('e', 'wait', 50),
    ]
    const running = runToolCalls([waiter().tool, fail, hang], calls, { clock })
    await clock.advance(5_000)
    const outcomes = await running
    expect(outcomes.map(({ result }) => result.success)).toEqual([false, false, false, false, true])
    expect(outcomes.map(({ end }) => end)).toEqual([
      'threw',
      'timed_out',
      'finished',
      'finished',
      'finished',
    ])
    expect(outcomes[4]?.result.output).toBe('waited 50')
  })

  it('runToolCalls logs an error of a listener and loses no call', async () => {
    const warn = vi.fn<typeof silentLogger.warn>()
    const boom = new Error('boom')
    const running = runToolCalls(
      [waiter().tool],
      [call('a', 'wait', 10), call('b', 'wait', 20), call('c', 'wait', 30)],
      {
        clock,
        maxConcurrentCalls: 1,
        logger: { ...silentLogger, warn },
        onOutcome() {
          throw boom
        },
      },
    )
    await clock.advance(1_000)
    expect((await running).map(({ result }) => result.output)).toEqual([
      'waited 10',
      'waited 20',
      'waited 30',
    ])
    expect(warn).toHaveBeenCalledTimes(3)
    expect(warn).toHaveBeenCalledWith('Listener threw', {
      listener: 'onOutcome',
      error: boom,
    })
  })

  it('runToolCalls builds the idempotency key of a call from the prefix and its id', async () => {
    const contexts: ToolContext[] = []
    const tool = defineTextTool({
      name: 'look',
      description: 'Looks',
      execute(_, context) {
        contexts.push(context)
        return ''
      },
    })
    const calls = [call('a', 'look', ''), call('b', 'look', '')]
    await runToolCalls([tool], calls, { clock, idempotencyPrefix: 'run-1/task/', taskName: 'task' })
    await runToolCalls([tool], calls, { clock })
    expect(contexts.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      'run-1/task/a',
      'run-1/task/b',
      'a',
      'b',
    ])
    expect(contexts[0]).toMatchObject({ taskName: 'task', callId: 'a' })
  })

  it('runToolCalls ends the calls in flight on an abort and never starts waiting ones', async () => {
    const controller = new AbortController()
    const { tool, most } = waiter()
    const calls = Array.from({ length: 5 }, (_, index) => call(`c${index}`, 'wait', 500))
    const ends: string[] = []
    const running = runToolCalls([tool], calls, {
      clock,
      signal: controller.signal,
      maxConcurrentCalls: 2,
      onOutcome: (_call: ToolCall, { end }: ToolCallOutcome) => ends.push(end),
    })
    await clock.advance(100)
    controller.abort()
    await settle()
    expect(ends).toEqual(Array.from({ length: 5 }, () => 'cancelled'))
    expect((await running).map(({ durationMs }) => durationMs)).toEqual([100, 100, 0, 0, 0])
    expect(most()).toBe(2)
  })

  it('runToolCalls returns no outcomes for no calls', async () => {
    expect(await runToolCalls([fail], [])).toEqual([])
  })
})

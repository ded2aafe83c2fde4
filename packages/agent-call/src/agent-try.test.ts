/** Connectors that break their contract. */
import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { settle } from '../../../tooling/test-kit/wait.ts'
import { runTool } from '@tutti/core'
import { defineAgentTool } from './define-agent-tool.ts'
import { hashInput } from './json-text.ts'
import { localConnector, type LocalAgent } from './local-agent.ts'

import type { RunToolOptions, ToolCallOutcome } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import type { AgentToolSettings } from './agent-tool-settings.ts'
import type { AgentCall, AgentConnector, AgentSession, AgentUpdate } from './agent-connector.ts'

interface Called {
  readonly ending: Promise<ToolCallOutcome>
  readonly events: readonly TimedAgentReport[]
  readonly ends: () => readonly string[]
}

function calling(
  connector: AgentConnector,
  settings: Partial<AgentToolSettings<string>> = {},
  options: RunToolOptions = {},
): Called {
  const events: TimedAgentReport[] = []
  const tool = defineAgentTool({ name: 'odd', description: 'Odd', connector, ...settings })
  const ending = runTool(
    tool,
    { id: 'c', name: 'odd', arguments: '{"input":"x"}' },
    { onAgentReport: (_, report) => events.push(report), ...options },
  )
  const ends = (): readonly string[] =>
    events.map(({ type }) => type).filter((type) => /completed|terminated|error/.test(type))
  return { ending, events, ends }
}

function sessionOf(session: Partial<AgentSession>): AgentConnector {
  return connectorOf(async () => ({
    protocol: 'local',
    async *send(): AsyncGenerator<AgentUpdate> {},
    cancel: async () => undefined,
    ...session,
  }))
}

function connectorOf(connect: (call: AgentCall) => Promise<AgentSession>): AgentConnector {
  return { uri: 'odd://agent', protocol: 'local', connect }
}

/** Creates a local agent with `generator`. */
function generating(answer: LocalAgent['answer']): AgentConnector {
  return localConnector({ answer }, 'tutti://odd')
}

function fail(message: string): never {
  throw new Error(message)
}

/** Lets pending work run: a call starts with a hash, which another thread computes. */
async function ready(): Promise<void> {
  for (let count = 0; count < 3; count += 1) {
    await hashInput(count)
    await settle()
  }
}

const ANSWER: AgentUpdate = { kind: 'end', state: 'completed', output: 'ok' }

describe('a connector that throws unexpectedly ends the call once', () => {
  it.each([
    ['connect', connectorOf(() => fail('Odd'))],
    ['send', sessionOf({ send: () => fail('Odd') })],
    [
      'send and cancel',
      sessionOf({ send: () => fail('Odd'), cancel: () => fail('Cannot be told') }),
    ],
    ['send and partial', sessionOf({ send: () => fail('Odd'), partial: () => fail('No part') })],
    [
      'next',
      sessionOf({ send: () => ({ [Symbol.asyncIterator]: () => ({ next: () => fail('Odd') }) }) }),
    ],
  ])('A connector that throws unexpectedly in %s ends the call once', async (_, connector) => {
    const { ending, ends } = calling(connector)
    expect((await ending).result.errorMessage).toBe('Agent "odd" did not answer: Odd')
    expect(ends()).toEqual(['agent_tool_error'])
  })

  it.each([
    ['throws', () => fail('Not closed')],
    ['rejects', () => Promise.reject(new Error('Not closed'))],
    ['never ends', () => new Promise<never>(() => undefined)],
  ])(
    'A connector that throws at the end of its updates, which %s, ends the call once with the answer',
    async (_, end) => {
      const connector = sessionOf({
        send: () => ({
          [Symbol.asyncIterator]: () => ({
            next: async () => ({ done: false, value: ANSWER }),
            return: end,
          }),
        }),
      })
      const { ending, ends } = calling(connector)
      expect((await ending).result.output).toBe('ok')
      expect(ends()).toEqual(['agent_tool_completed'])
    },
  )

  it('A connector that throws when it ends without an answer ends the call once', async () => {
    const { ending, ends } = calling(sessionOf({}))
    expect((await ending).result.errorMessage).toContain('ended without an answer')
    expect(ends()).toEqual(['agent_tool_error'])
  })
})

describe('an agent that never stops sending updates', () => {
  const endless = (usage?: { costUsd: number }): AgentConnector =>
    generating(async function* () {
      for (;;) yield { kind: 'chunk', chunk: 1, ...(usage === undefined ? {} : { usage }) }
    })

  it('An agent that never stops sending updates is stopped by a budget', async () => {
    const { ending, ends } = calling(endless({ costUsd: 1 }), { maxCostUsd: 3 })
    expect((await ending).result.structured).toMatchObject({ failure: 'budget_exceeded' })
    expect(ends()).toEqual(['agent_tool_terminated'])
  })

  it('An agent that never stops sending updates is stopped by a time limit, and by a cancel', async () => {
    const late = calling(endless(), { timeoutMs: 5 })
    expect((await late.ending).result.structured).toMatchObject({ failure: 'timeout' })
    const signal = AbortSignal.timeout(5)
    const cancelled = calling(endless(), { timeoutMs: Infinity }, { signal })
    expect((await cancelled.ending).end).toBe('cancelled')
    expect(cancelled.ends()).toEqual(['agent_tool_terminated'])
  })
})

describe('[CALL-Y3] after the end', () => {
  it('A call waits at most 4 s and 5 s for a connector that does not stop', async () => {
    const clock = fakeClock()
    const never = (): Promise<never> => new Promise(() => undefined)
    const connector = sessionOf({
      send: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }),
      cancel: never,
    })
    const { ending, ends } = calling(connector, { timeoutMs: 1_000 }, { clock })
    let isOver = false
    void ending.then(() => (isOver = true))
    await ready()
    await clock.advance(1_000)
    expect(ends()).toEqual(['agent_tool_terminated'])
    await clock.advance(8_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await ending
    expect(clock.pending).toBe(0)
  })

  it('A call waits as long as necessary for a connector with its own limits', async () => {
    const clock = fakeClock()
    const { promise, resolve } = Promise.withResolvers<void>()
    const answer = async (): Promise<string> => {
      await promise
      return 'late'
    }
    const controller = new AbortController()
    const limited = calling(
      localConnector({ answer, graceMs: Infinity }, 'tutti://odd'),
      { timeoutMs: 1_000 },
      { clock },
    )
    const cancelled = calling(
      localConnector({ answer, graceMs: Infinity }, 'tutti://odd'),
      {},
      { clock, signal: controller.signal },
    )
    let over = 0
    for (const { ending } of [limited, cancelled]) void ending.then(() => (over += 1))
    await ready()
    controller.abort()
    await clock.advance(60_000)
    expect(over).toBe(0)
    resolve()
    expect((await cancelled.ending).end).toBe('cancelled')
    expect((await limited.ending).result.success).toBe(false)
  })

  it('A call withdraws an open question from the reviewer at its end', async () => {
    const clock = fakeClock()
    let isOpen: boolean | undefined
    const reviewer = {
      decide: (_: unknown, signal: AbortSignal): Promise<never> => {
        isOpen = true
        signal.addEventListener('abort', () => (isOpen = false))
        return new Promise(() => undefined)
      },
    }
    const connector = generating(async function* ({ requestAnswer }) {
      requestAnswer('Well?', { timeoutMs: Infinity }).catch(() => undefined)
      await ready()
      yield { kind: 'chunk', chunk: isOpen }
      throw new Error('Broke')
    })
    const { ending, events } = calling(connector, {}, { clock, reviewer })
    await ending
    expect(events.at(-1)).toMatchObject({ partial_output: [true] })
    expect(isOpen).toBe(false)
  })

  it('A call leaves no timer and no listener after its end', async () => {
    const clock = fakeClock()
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
      listeners += 1
      addEventListener.apply(signal, given)
    }
    signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
      listeners -= 1
      removeEventListener.apply(signal, given)
    }
    await calling(
      generating(() => 'ok'),
      { idleTimeoutMs: 50 },
      { clock, signal },
    ).ending
    expect([clock.pending, listeners]).toEqual([0, 0])
  })

  it('A cancelled call waits for a session that is still being created', async () => {
    const controller = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    const connector = connectorOf(async () => {
      await promise
      return fail('Too late')
    })
    const { ending, ends } = calling(connector, {}, { signal: controller.signal })
    let isOver = false
    void ending.then(() => (isOver = true))
    await ready()
    controller.abort()
    await ready()
    expect([ends(), isOver]).toEqual([['agent_tool_terminated'], false])
    resolve()
    expect((await ending).end).toBe('cancelled')
  })

  it('A cancelled call waits until the source of the updates is closed', async () => {
    const controller = new AbortController()
    const closing = Promise.withResolvers<{ done: true; value: undefined }>()
    const first = Promise.withResolvers<{ done: false; value: AgentUpdate }>()
    const updates = { next: () => first.promise, return: () => closing.promise }
    const connector = sessionOf({ send: () => ({ [Symbol.asyncIterator]: () => updates }) })
    const { ending } = calling(connector, {}, { signal: controller.signal })
    let isOver = false
    void ending.then(() => (isOver = true))
    await ready()
    controller.abort()
    first.resolve({ done: false, value: { kind: 'chunk', chunk: 1 } })
    await ready()
    expect(isOver).toBe(false)
    closing.resolve({ done: true, value: undefined })
    expect((await ending).end).toBe('cancelled')
  })

  it('A call that does not stop is abandoned only when its caller requests it', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const options = { clock, signal: controller.signal, graceMs: 20_000 }
    const stuck = generating(() => new Promise(() => undefined))
    const { ending } = calling(stuck, {}, options)
    let isOver = false
    void ending.then(() => (isOver = true))
    await ready()
    controller.abort()
    await clock.advance(19_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect((await ending).end).toBe('abandoned')
  })

  it('A call sends no request if the cancel arrived while the request was created', async () => {
    let connects = 0
    const connector = connectorOf(async () => {
      connects += 1
      return fail('Odd')
    })
    const controller = new AbortController()
    const { ending, ends } = calling(connector, {}, { signal: controller.signal })
    await Promise.resolve()
    controller.abort()
    expect((await ending).end).toBe('cancelled')
    expect([connects, ends()]).toEqual([0, ['agent_tool_terminated']])
  })

  it('A call withdraws a question that has a separate signal', async () => {
    const clock = fakeClock()
    const reasons: unknown[] = []
    const reviewer = { decide: (): Promise<never> => new Promise(() => undefined) }
    const own = new AbortController()
    const connector = generating(async ({ requestAnswer }) => {
      const note = (reason: unknown): unknown => reasons.push(reason)
      requestAnswer('First?', { signal: own.signal }).catch(note)
      requestAnswer('Second?', { signal: new AbortController().signal }).catch(note)
      own.abort(new Error('Mine'))
      await ready()
      expect(reasons).toMatchObject([{ message: 'Mine' }])
      throw new Error('Broke')
    })
    const { ending } = calling(connector, {}, { clock, reviewer })
    expect((await ending).result.errorMessage).toContain('Broke')
    await ready()
    expect([reasons.length, clock.pending]).toEqual([2, 0])
  })

  it('A call does not cancel an agent that has answered', async () => {
    let told = 0
    const connector = sessionOf({
      async *send() {
        yield { ...ANSWER, usage: { costUsd: 9 } }
      },
      cancel: async () => {
        told += 1
      },
    })
    const { ending, ends } = calling(connector, { maxCostUsd: 1 })
    expect((await ending).result.success).toBe(false)
    expect([ends(), told]).toEqual([['agent_tool_terminated'], 0])
  })

  it('A failed call leaves no timer', async () => {
    const clock = fakeClock()
    await calling(
      generating(() => fail('Odd')),
      { idleTimeoutMs: 50 },
      { clock },
    ).ending
    expect(clock.pending).toBe(0)
  })
})

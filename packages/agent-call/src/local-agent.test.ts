import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { silentLogger } from '@tutti/core/internal'
import { localConnector, type LocalAgent } from './local-agent.ts'

import type { AgentCall, AgentUpdate } from './agent-connector.ts'

let bytes = 0
const call: AgentCall = {
  mode: 'streaming',
  signal: new AbortController().signal,
  onBytes: () => {
    bytes += 1
  },
  remaining: () => ({ timeMs: Infinity, costUsd: Infinity, tokens: Infinity }),
  traceparent: undefined,
  idempotencyKey: 'key',
  clock: fakeClock(),
  logger: silentLogger,
  hasReviewer: false,
  hasReply: false,
  requestAnswer: () => Promise.reject(new Error('Nobody to ask')),
}

async function updates(answer: LocalAgent['answer']): Promise<readonly AgentUpdate[]> {
  const session = await localConnector({ answer }, 'tutti://local').connect(call)
  return listed(session.send({ index: 0, input: 1 }))
}

async function listed(all: AsyncIterable<AgentUpdate>): Promise<readonly AgentUpdate[]> {
  const list: AgentUpdate[] = []
  for await (const update of all) list.push(update)
  return list
}

const end = (output: unknown): AgentUpdate => ({ kind: 'end', state: 'completed', output })

async function* told(): AsyncGenerator<AgentUpdate, string> {
  yield { kind: 'chunk', chunk: 'a' }
  return 'b'
}

describe('a local agent', () => {
  it.each([
    ['a value', () => 1, [end(1)]],
    ['a promise', async () => 'x', [end('x')]],
    ['nothing', () => undefined, [end(null)]],
    [
      'an answer',
      () => ({ kind: 'end', state: 'open', output: 2 }),
      [{ ...end(2), state: 'open' }],
    ],
    ['a generator', told, [{ kind: 'chunk', chunk: 'a' }, end('b')]],
    ['a promise of a generator', async () => told(), [{ kind: 'chunk', chunk: 'a' }, end('b')]],
    [
      'what can be iterated',
      () => ({ [Symbol.asyncIterator]: told }),
      [{ kind: 'chunk', chunk: 'a' }, end('b')],
    ],
  ])('A local agent answers with %s', async (_, answer, expected) => {
    expect(await updates(answer)).toEqual(expected)
  })

  it('A local agent reports each chunk, and its end', async () => {
    bytes = 0
    await updates(told)
    expect(bytes).toBe(2)
  })

  it.each(['text', null, undefined, { kind: 'other' }])(
    'A local agent rejects the chunk %j',
    async (value) => {
      const yielding = updates(async function* () {
        yield value
      })
      await expect(yielding).rejects.toMatchObject({
        failureType: 'invalid_response',
        message: expect.stringContaining('expected an object with kind') as string,
      })
    },
  )

  it('A local agent ends with its reader', async () => {
    let isCleaned = false
    const answer = async function* (): AsyncGenerator<AgentUpdate> {
      try {
        yield end(1)
        yield end(2)
      } finally {
        isCleaned = true
      }
    }
    const session = await localConnector({ answer }, 'tutti://local').connect(call)
    for await (const update of session.send({ index: 0, input: 1 })) {
      expect(update).toEqual(end(1))
      break
    }
    expect(isCleaned).toBe(true)
  })

  it('A local agent has one conversation for all turns of a session, and another for the next session', async () => {
    const ids: string[] = []
    const connector = localConnector(
      {
        answer: ({ conversationId }) => {
          ids.push(conversationId)
        },
      },
      'tutti://local',
    )
    const session = await connector.connect(call)
    await listed(session.send({ index: 0, input: 1 }))
    await listed(session.send({ index: 1, input: 1 }))
    await listed((await connector.connect(call)).send({ index: 0, input: 1 }))
    expect([ids[0] === ids[1], ids[0] === ids[2]]).toEqual([true, false])
  })

  it('A local agent reports how long it may take to stop', () => {
    const answer = (): number => 1
    expect(localConnector({ answer, graceMs: 7 }, 'tutti://a').graceMs).toBe(7)
    expect(localConnector({ answer }, 'tutti://a')).not.toHaveProperty('graceMs')
  })
})

import { describe, expect, it } from 'vitest'

import { anyone, type Caller } from '../caller.ts'
import {
  assertMayReadRun,
  assertMayReadThread,
  cancelScope,
  decisionScope,
  findDecisionScope,
} from './run-rights.ts'

import type { Scope } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { ReviewRecord } from '@tutti/runs/adapter'

const ADA = caller('runs:write')
const READER = caller('runs:read')

const REFUSED = { code: 'FORBIDDEN', message: expect.stringContaining('runs:read') }

function caller(...scopes: readonly Scope[]): Caller {
  return { ...anyone(), name: 'ada', scopes: new Set(scopes) }
}

/** A thread with runs of these callers, oldest last, as the store pages them. */
function threadOf(owner: string | undefined, actors: readonly string[]) {
  const runs = actors.map((actor, index) => ({ actor, place: actors.length - index }))
  let pages = 0
  const service = {
    threads: { get: async () => (owner === undefined ? undefined : { actor: owner }) },
    list: async ({ limit, before = Infinity }: { limit: number; before?: number }) => {
      pages += 1
      return { runs: runs.filter(({ place }) => place < before).slice(0, limit) }
    },
  }
  // NOTE: the subject uses no other members.
  return { runs: service as unknown as RunService, pages: () => pages }
}

describe('assertMayReadThread', () => {
  const many = Array.from({ length: 250 }, () => 'ada')

  it('[GW-A5] assertMayReadThread accepts the caller that created the thread and submitted all of its runs', async () => {
    for (const actors of [[], ['ada'], many, many.slice(0, 200)]) {
      await assertMayReadThread(threadOf('ada', actors).runs, 'thread-1', ADA)
    }
  })

  it('[GW-A5] assertMayReadThread refuses a thread of another caller, and one with a run of another caller', async () => {
    for (const { runs } of [
      threadOf('bob', ['ada']),
      threadOf('ada', ['bob']),
      threadOf('ada', ['ada', 'bob']),
      threadOf('ada', [...many, 'bob']),
      threadOf('ada', [...many.slice(0, 100), 'bob']),
    ]) {
      await expect(assertMayReadThread(runs, 'thread-1', ADA)).rejects.toMatchObject(REFUSED)
    }
  })

  it('[GW-A5] assertMayReadThread accepts every thread for runs:read, and says nothing about an unknown one', async () => {
    const foreign = threadOf('bob', ['bob'])
    await assertMayReadThread(foreign.runs, 'thread-1', READER)
    expect(foreign.pages()).toBe(0)
    await assertMayReadThread(threadOf(undefined, ['bob']).runs, 'thread-1', ADA)
  })
})

it('[GW-A4] assertMayReadRun accepts own and unknown runs, and all of them for runs:read', async () => {
  const record = async (runId: string) =>
    runId === 'none' ? undefined : { runId, actor: runId === 'own' ? 'ada' : 'bob' }
  // NOTE: the subject uses no other members.
  const runs = { record } as unknown as RunService
  for (const runId of ['own', 'none']) await assertMayReadRun(runs, runId, ADA)
  await expect(assertMayReadRun(runs, 'foreign', ADA)).rejects.toMatchObject(REFUSED)
  await assertMayReadRun(runs, 'foreign', READER)
})

it('[GW-A6] cancelScope requires runs:control for runs of others only', () => {
  expect(cancelScope(ADA, { actor: 'ada' })).toBeNull()
  expect(cancelScope(ADA, { actor: 'bob' })).toBe('runs:control')
  expect(cancelScope(ADA, {})).toBe('runs:control')
})

it.each<[ReviewRecord['request']['kind'], string, readonly Scope[], Scope]>([
  ['CLIENT_TOOL', 'ada', [], 'runs:write'],
  ['CLIENT_TOOL', 'ada', ['runs:control'], 'runs:control'],
  ['CLIENT_TOOL', 'bob', [], 'runs:control'],
  ['TASK_OUTPUT', 'ada', ['runs:control'], 'reviews:decide'],
  ['TOOL_CALL', 'bob', [], 'reviews:decide'],
])(
  '[GW-A7] A review of kind %s of a run of %s, with %j, requires %s',
  async (kind, actor, scopes, scope) => {
    const review = { actor, request: { kind } }
    expect(decisionScope(caller(...scopes), review)).toBe(scope)
    // NOTE: the subject uses no other members.
    const runs = { reviews: { get: async () => review } } as unknown as RunService
    expect(await findDecisionScope(runs, 'review-1', caller(...scopes))).toBe(scope)
  },
)

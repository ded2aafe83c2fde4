/**
 * Tests that every reader finds the same in a log.
 *
 * READERS-A1 All readers have the same output of a run, the same end and the same usage: those that its events state.
 * READERS-A2 Readers that show the text of a run without an output show the same text.
 * READERS-A3 Events report the same usage that budgets count.
 */
import { addCosts, addCounts, totalTokens } from '../../../packages/protocol/src/internal.ts'
import { afterAll, describe, expect, it } from 'vitest'

import { readLog, STORY_NAMES, type RunLog } from './run-logs.ts'
import { closeReaders } from './record-readers.ts'
import { READERS } from './run-readers.ts'

import type { Found, FoundCost, FoundTokens } from './findings.ts'

afterAll(closeReaders)

describe.each(STORY_NAMES)('a run with %s', (story) => {
  it('[READERS-A1] The log ends as its story says', async () => {
    const { events, status } = await readLog(story)
    const end = events.at(-1)
    if (status === 'WAITING_REVIEW') expect(end).toMatchObject({ type: 'review_requested' })
    else expect(end).toMatchObject({ type: 'run_result', status })
  })

  it.each(Object.keys(READERS))(
    '[READERS-A1] [READERS-A2] The log has the same output, text, end and usage for %s',
    async (name) => {
      const log = await readLog(story)
      const read = READERS[name] ?? expect.fail(name)
      const found = await read(log)
      expectSameEnd(found, log)
      const used = readUsage(log)
      if (found.tokens !== undefined) {
        expect(found.tokens.count).toBe(used.tokens[found.tokens.kind])
      }
      if (found.reasoningTokens !== undefined) {
        expect(found.reasoningTokens).toBe(log.reasoningTokens ?? 0)
      }
      if (found.cost !== undefined) expect(found.cost.usd).toBe(used.cost[found.cost.kind])
    },
  )

  it('[READERS-A3] The log has the usage that its budget counts', async () => {
    const log = await readLog(story)
    const { code, details = {} } = log.result?.error ?? {}
    expect(code === 'BUDGET_EXCEEDED').toBe(story.startsWith('a budget'))
    if (code !== 'BUDGET_EXCEEDED') return
    const { tokens, cost } = readUsage(log)
    expect(details['used']).toBe(details['limit'] === 'maxTokens' ? tokens.estimated : cost.known)
  })
})

function expectSameEnd(found: Found, { status, output, text = '' }: RunLog): void {
  const isCompleted = status === 'COMPLETED'
  if (found.status === 'NOT_COMPLETED') expect(isCompleted).toBe(false)
  else if (found.status !== undefined) expect(found.status).toBe(status)
  if (isCompleted && 'output' in found) expect(found.output).toMatch(new RegExp(`${output}$`))
  if (output === undefined && found.text !== undefined) expect(found.text).toBe(text)
}

/** Returns the usage that the events of a log state: at its end, or else in the newest numbers of each task. */
function readUsage({ events, tokens, knownCost }: RunLog): {
  readonly tokens: Readonly<Record<FoundTokens['kind'], number>>
  readonly cost: Readonly<Record<FoundCost['kind'], number | undefined>>
} {
  const snapshots = new Map(
    events.flatMap((event) =>
      event.type === 'metrics_snapshot' ? [[event.taskIndex, event] as const] : [],
    ),
  )
  const end = events.find((event) => event.type === 'run_result')
  const running = [...snapshots.values()]
  const stated =
    end === undefined
      ? addCounts(running.map(totalTokens))
      : (end.metrics ?? { totalTokens: 0 }).totalTokens
  const cost =
    end === undefined
      ? addCosts(
          running.map(({ costEstimate }) =>
            costEstimate === undefined ? undefined : Number(costEstimate),
          ),
        )
      : addCosts([end.metrics?.costEstimate?.inputCost, end.metrics?.costEstimate?.outputCost])
  expect(stated < 0).toBe(tokens !== undefined)
  expect(cost === undefined).toBe(knownCost !== undefined)
  return {
    tokens: { stated, known: stated, estimated: stated, ...tokens },
    cost: { stated: cost, known: cost ?? knownCost },
  }
}

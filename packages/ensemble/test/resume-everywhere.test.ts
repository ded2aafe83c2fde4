/** Tests that a run resumes after an interruption at any write: agents, tools, attempts, answers. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, priceList, task } from '../src/index.ts'
import { interruptEverywhere, type Process, type Scenario } from './interrupt-everywhere.ts'
import { requestCalls, readContext, createThinker, createWorldTool } from './scenario-parts.ts'

const PRICES = priceList({ 'scripted:thinker': { inputPerMillion: 3, outputPerMillion: 15 } })

function diamond(process: Process): ReturnType<Scenario['open']> {
  const model = createThinker(process, ({ turn, prompt, last }) => {
    if (turn === 0) return requestCalls(['c1', 'search', 'x'], ['c1b', 'map', 'y'])
    if (turn === 1) return requestCalls(['c2', 'search', last])
    return `(${readContext(prompt)} ${last})`
  })
  const tools = [createWorldTool(process, 'search'), createWorldTool(process, 'map', { ms: 12 })]
  const make = (name: string, context: readonly string[]) =>
    task({ name, description: `Do ${name}`, context, tools })
  const tasks = [make('a', []), make('b', ['a']), make('c', ['a']), make('d', ['b', 'c'])]
  return { team: ensemble({ name: 'diamond', tasks, model }), options: { prices: PRICES } }
}

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] a run that is interrupted or drained at any write',
  { timeout: 60_000 },
  () => {
    it('[ENS-L19] [ENS-L20] A run that is interrupted or drained at any write ends the same for a diamond of agents with tools', async () => {
      const { result } = await interruptEverywhere({ open: diamond })
      expect(result).toMatchObject({ status: 'COMPLETED', metrics: { totalToolCalls: 12 } })
      expect(result.metrics.costEstimate).toBeDefined()
    })

    it('[ENS-L20] A run that is interrupted or drained at any write never calls a tool twice that is not idempotent', async () => {
      const { result, world } = await interruptEverywhere({
        once: ['send'],
        open: (process) => ({
          team: ensemble({
            name: 'mail',
            tasks: [
              task({
                name: 'mail',
                description: 'Mail',
                tools: [
                  createWorldTool(process, 'send', { idempotent: false }),
                  createWorldTool(process, 'look'),
                ],
                model: createThinker(process, ({ turn, last }) =>
                  turn === 0
                    ? requestCalls(
                        ['s', 'send', 'now'],
                        ['l', 'look', 'here'],
                        ['s2', 'send', 'again'],
                      )
                    : `sent: ${last}`,
                ),
              }),
            ],
          }),
        }),
        check: ({ inDoubt, result: ended }) => {
          const isUnknown = ended.output.includes('its outcome is unknown')
          if (!inDoubt) expect(isUnknown).toBe(false)
        },
      })
      expect(result.output).toBe('sent: send:again')
      expect(world.calls).toHaveLength(3)
    })

    it('[ENS-T5] [ENS-L9] A run that is interrupted or drained at any write retries a failed task as often and counts its failed attempts', async () => {
      const { result } = await interruptEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'retry',
            tasks: [
              task({
                name: 'draw',
                description: 'Draw',
                retries: 2,
                tools: [createWorldTool(process, 'pen')],
                output: Type.Object({ size: Type.Number() }),
                outputRetries: 0,
                model: createThinker(process, ({ turn, last }) => {
                  if (turn === 0) return requestCalls(['p', 'pen', 'red'])
                  const attempts = process.world.calls.map(({ key }) => key.split('/')[2])
                  return attempts.includes('3') ? '{"size": 3}' : `no size ${last}`
                }),
              }),
              task({
                name: 'show',
                description: 'Show',
                context: ['draw'],
                model: createThinker(process, ({ prompt }) => readContext(prompt)),
              }),
            ],
          }),
          options: { prices: PRICES },
        }),
      })
      expect(result.tasks).toMatchObject([
        { attempt: 3, structured: { size: 3 } },
        { output: '{"size":3}' },
      ])
      expect(result.metrics.totalToolCalls).toBe(3)
    })

    it('[ENS-L18] A run that is interrupted or drained at any write corrects an invalid answer as often', async () => {
      const { result } = await interruptEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'correct',
            tasks: [
              task({
                name: 'count',
                description: 'Count',
                output: Type.Object({ count: Type.Number() }),
                model: createThinker(process, ({ turn }) =>
                  turn === 2 ? 'Here: {"count": 7}' : `{"count": "many ${turn}"}`,
                ),
              }),
            ],
          }),
        }),
      })
      expect(result.tasks).toMatchObject([{ structured: { count: 7 }, output: '{"count":7}' }])
    })
  },
)

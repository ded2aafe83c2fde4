/** A run that is cut off anywhere goes on as if nothing had been: agents, tools, attempts, answers. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, priceList, task } from '../src/index.ts'
import { cutEverywhere, type Process, type Scenario } from './cut-everywhere.ts'
import { calling, contextIn, thinker, worldTool } from './scenario-parts.ts'

const PRICES = priceList({ 'scripted:thinker': { inputPerMillion: 3, outputPerMillion: 15 } })

function diamond(process: Process): ReturnType<Scenario['open']> {
  const model = thinker(process, ({ turn, prompt, last }) => {
    if (turn === 0) return calling(['c1', 'search', 'x'], ['c1b', 'map', 'y'])
    if (turn === 1) return calling(['c2', 'search', last])
    return `(${contextIn(prompt)} ${last})`
  })
  const tools = [worldTool(process, 'search'), worldTool(process, 'map', { ms: 12 })]
  const make = (name: string, context: readonly string[]) =>
    task({ name, description: `Do ${name}`, context, tools })
  const tasks = [make('a', []), make('b', ['a']), make('c', ['a']), make('d', ['b', 'c'])]
  return { team: ensemble({ name: 'diamond', tasks, model }), options: { prices: PRICES } }
}

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] wherever it is cut off, or stands still and is let go',
  { timeout: 60_000 },
  () => {
    it('[ENS-L19] [ENS-L20] a diamond of agents with tools ends as in one piece', async () => {
      const { result } = await cutEverywhere({ open: diamond })
      expect(result).toMatchObject({ status: 'COMPLETED', metrics: { totalToolCalls: 12 } })
      expect(result.metrics.costEstimate).toBeDefined()
    })

    it('[ENS-L20] a tool that is not idempotent is never called twice', async () => {
      const { result, world } = await cutEverywhere({
        once: ['send'],
        open: (process) => ({
          team: ensemble({
            name: 'mail',
            tasks: [
              task({
                name: 'mail',
                description: 'Mail',
                tools: [
                  worldTool(process, 'send', { idempotent: false }),
                  worldTool(process, 'look'),
                ],
                model: thinker(process, ({ turn, last }) =>
                  turn === 0
                    ? calling(['s', 'send', 'now'], ['l', 'look', 'here'], ['s2', 'send', 'again'])
                    : `sent: ${last}`,
                ),
              }),
            ],
          }),
        }),
        check: ({ inDoubt, result: ended }) => {
          const said = ended.output.includes('its outcome is not known')
          if (!inDoubt) expect(said).toBe(false)
        },
      })
      expect(result.output).toBe('sent: send:again')
      expect(world.calls).toHaveLength(3)
    })

    it('[ENS-T5] [ENS-L9] a task that failed is tried again as often, and its failures count as much', async () => {
      const { result } = await cutEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'retry',
            tasks: [
              task({
                name: 'draw',
                description: 'Draw',
                retries: 2,
                tools: [worldTool(process, 'pen')],
                output: Type.Object({ size: Type.Number() }),
                outputRetries: 0,
                model: thinker(process, ({ turn, last }) => {
                  if (turn === 0) return calling(['p', 'pen', 'red'])
                  const attempts = process.world.calls.map(({ key }) => key.split('/')[2])
                  return attempts.includes('3') ? '{"size": 3}' : `no size ${last}`
                }),
              }),
              task({
                name: 'show',
                description: 'Show',
                context: ['draw'],
                model: thinker(process, ({ prompt }) => contextIn(prompt)),
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

    it('[ENS-L18] an answer that does not fit is corrected as often', async () => {
      const { result } = await cutEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'correct',
            tasks: [
              task({
                name: 'count',
                description: 'Count',
                output: Type.Object({ count: Type.Number() }),
                model: thinker(process, ({ turn }) =>
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

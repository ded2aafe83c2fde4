/** A run that is cut off anywhere keeps what people decided, said and asked for. */
import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, modelCatalog, task, type ReviewAnswer } from '../src/index.ts'
import { cutEverywhere, type Process, type Scenario, type Wish } from './cut-everywhere.ts'
import { calling, contextIn, thinker, worldReviewer, worldTool } from './scenario-parts.ts'
import { eventsOf } from './watch-run.ts'

import type { OpenReview } from '../src/index.ts'

/** A reviewer who edits, sends back and lets pass at each kind of review. */
function reviewed(process: Process): ReturnType<Scenario['open']> {
  const decide = ({ timing, taskName, attempt, taskOutput }: OpenReview): ReviewAnswer => {
    if (timing === 'DURING_EXECUTION') return { action: 'EDIT', input: 'edited' }
    if (timing === 'BEFORE_EXECUTION') return { action: 'EDIT', text: `${taskName} anew` }
    if (taskName === 'a' && attempt === 1) return { action: 'REJECT', feedback: 'Not so' }
    if (taskName === 'a') return { action: 'EDIT', text: `${taskOutput}!` }
    return { action: 'CONTINUE' }
  }
  const model = thinker(process, ({ turn, prompt, last }) => {
    if (turn === 0) return calling(['t', 'ask', 'me'])
    return `${/anew/.test(prompt) ? 'anew' : 'old'} ${/Not so/.test(prompt) ? 2 : 1} ${contextIn(prompt)} ${last}`
  })
  const tools = [worldTool(process, 'ask', { requireApproval: true })]
  const tasks = [
    task({ name: 'a', description: 'Do a', tools, beforeReview: true, review: true }),
    task({ name: 'b', description: 'Do b', tools, review: true, context: ['a'] }),
    task({
      name: 'c',
      description: 'Do c',
      beforeReview: true,
      model: thinker(process, () => 'c'),
    }),
  ]
  return {
    team: ensemble({ name: 'reviewed', tasks, model }),
    options: { reviewer: worldReviewer(process, decide) },
  }
}

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] [ENS-G6] reviews of a run that is cut off, or let go',
  { timeout: 60_000 },
  () => {
    it('[ENS-G8] [ENS-G9] give the same answers, and are not asked again once decided', async () => {
      const { result, world } = await cutEverywhere({ open: reviewed })
      expect(result.tasks).toMatchObject([
        { output: 'anew 2  ask:edited!', attempt: 2 },
        { output: 'anew 1 anew 2  ask:edited! ask:edited' },
        { output: 'c' },
      ])
      expect(new Set(world.asked).size).toBe(world.asked.length)
    })

    it.each(['BEFORE_EXECUTION', 'AFTER_EXECUTION', 'DURING_EXECUTION'] as const)(
      '[ENS-E14] end the run early at %s',
      async (timing) => {
        const { result } = await cutEverywhere({
          races: true,
          open: (process) => {
            const model = thinker(process, ({ turn }) =>
              turn === 0 ? calling(['t', 'ask', 'me']) : 'done',
            )
            const tools = [worldTool(process, 'ask', { requireApproval: true })]
            const reviews = { tools, beforeReview: true, review: true }
            // Longer than all else, so that it decides nothing.
            const slow = thinker(process, () => 'at last done', { ms: 400 })
            return {
              team: ensemble({
                name: 'early',
                workflow: 'PARALLEL',
                maxConcurrentTasks: 2,
                tasks: [
                  task({ name: 'a', description: 'Do a', model, ...reviews }),
                  task({ name: 'b', description: 'Do b', model: slow }),
                  task({ name: 'c', description: 'Do c', model: slow }),
                  task({ name: 'd', description: 'Do d', model: slow, context: ['a'] }),
                ],
              }),
              options: {
                reviewer: worldReviewer(process, (review) => ({
                  action: review.timing === timing ? 'EXIT_EARLY' : 'CONTINUE',
                })),
              },
            }
          },
        })
        expect(result.status).toBe('COMPLETED')
        expect(result.tasks.map(({ taskName }) => taskName)).not.toContain('d')
      },
    )

    it('[ENS-G8] a task that was refused before it began stays refused', async () => {
      const { result, world } = await cutEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'refused',
            errorStrategy: 'CONTINUE_ON_ERROR',
            tasks: [
              task({
                name: 'a',
                description: 'Do a',
                beforeReview: true,
                retries: 2,
                model: thinker(process, () => 'a'),
              }),
              task({ name: 'b', description: 'Do b', model: thinker(process, () => 'b') }),
            ],
          }),
          options: {
            reviewer: worldReviewer(process, () => ({ action: 'REJECT', feedback: 'No' })),
          },
        }),
      })
      expect(result).toMatchObject({
        status: 'FAILED',
        output: 'b',
        error: { code: 'REVIEW_REJECTED' },
      })
      expect(world.asked).toHaveLength(1)
    })

    it('[ENS-G2] keep the time they have left, over all processes', async () => {
      const { events } = await cutEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'silent',
            workflow: 'PARALLEL',
            tasks: [
              task({
                name: 'a',
                description: 'Do a',
                review: { timeoutMs: 300, onTimeout: 'CONTINUE' },
                model: thinker(process, () => 'a'),
              }),
              task({
                name: 'b',
                description: 'Do b',
                review: { timeoutMs: 50, onTimeout: 'FAIL' },
                model: thinker(process, () => 'b'),
              }),
            ],
          }),
          options: { reviewer: { decide: () => new Promise(() => undefined) } },
        }),
      })
      expect(eventsOf(events, 'review_timed_out')).toHaveLength(2)
    })
  },
)

const atToken =
  (turn: number): Wish['when'] =>
  (event) =>
    event.type === 'token' && event.taskName === 'b' && event.iterationIndex === turn

/** Three tasks, one after the other, each of two turns. */
function chain(process: Process): ReturnType<Scenario['open']> {
  const answer = (name: string) =>
    thinker(
      process,
      ({ turn, messages, prompt }) => {
        if (turn === 0) return calling(['t', 'look', name])
        const told = messages.filter(
          ({ role, content }) => role === 'user' && content.includes('Hurry'),
        )
        return `${name} ${told.length} ${contextIn(prompt)}`
      },
      { name },
    )
  const tools = [worldTool(process, 'look')]
  return {
    team: ensemble({
      name: 'chain',
      model: answer('slow'),
      tasks: ['a', 'b', 'c'].map((name) => task({ name, description: `Do ${name}`, tools })),
    }),
    options: { models: modelCatalog({ fast: answer('fast'), slow: answer('slow') }) },
  }
}

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] wishes of people in a run that is cut off, or let go',
  { timeout: 60_000 },
  () => {
    it('[ENS-D1] [ENS-S2] directives and switches count from the call on at which they were given', async () => {
      const { result } = await cutEverywhere({
        open: chain,
        wishes: [
          {
            when: (event) => event.type === 'tool_called' && event.taskName === 'a',
            ask: (handle) => handle.inject({ id: 'd1', content: 'Hurry up' }),
            isKept: (step) => step.kind === 'directive_taken',
          },
          {
            when: (event) => event.type === 'task_completed' && event.taskName === 'a',
            ask: (handle) => handle.switchModel('fast'),
            isKept: (step) => step.kind === 'model_switched',
          },
        ],
      })
      expect(result.output).toBe('fast 1 ')
    })

    it('[ENS-S7] [ENS-S9] tiers and rules switch at the same calls, whoever goes on with the run', async () => {
      const failing = (process: Process): ReturnType<Scenario['open']> => {
        let calls = 0
        const answer = (text: string) => thinker(process, ({ turn }) => `${text} ${turn}`)
        const model = thinker(process, ({ turn, prompt }) => {
          if (!/Do b/.test(prompt)) return `main ${turn}`
          calls += 1
          return new TuttiError('MODEL_FAILED', `Busy ${calls}`, { retryable: true })
        })
        const modelRules = [{ metric: 'errorRate', above: 0.5, over: 3, tier: 'fast' }] as const
        return {
          team: ensemble({
            name: 'ruled',
            model,
            modelRetries: 4,
            modelRules,
            tasks: ['a', 'b', 'c'].map((name) => task({ name, description: `Do ${name}` })),
          }),
          options: {
            models: modelCatalog({ quick: answer('quick') }, { tiers: { fast: 'quick' } }),
          },
        }
      }
      const { result, events } = await cutEverywhere({ open: failing })
      expect(result.tasks.map(({ output }) => output)).toEqual(['main 0', 'quick 0', 'quick 0'])
      expect(eventsOf(events, 'model_switched')).toHaveLength(1)
    })

    it.each([
      ['abort', 0],
      ['abort', 1],
      ['boundary', 0],
      ['boundary', 1],
    ] as const)('[ENS-S1] a cancel in mode %s in turn %i stays one', async (mode, turn) => {
      const { result } = await cutEverywhere({
        open: chain,
        wishes: [
          {
            when: atToken(turn),
            ask: (handle) => handle.cancel({ mode }),
            isKept: (step) => step.kind === 'cancel_asked',
          },
        ],
      })
      expect(result.status).toBe('CANCELLED')
      expect(result.tasks).toHaveLength(mode === 'abort' ? 1 : 2)
    })
  },
)

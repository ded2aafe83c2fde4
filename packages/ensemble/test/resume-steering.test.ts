/** Tests that an interrupted run retains decisions, directives and other commands. */
import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, modelCatalog, task, type ReviewAnswer } from '../src/index.ts'
import {
  interruptEverywhere,
  type Process,
  type Scenario,
  type ScenarioCommand,
} from './interrupt-everywhere.ts'
import {
  requestCalls,
  readContext,
  createThinker,
  createWorldReviewer,
  createWorldTool,
} from './scenario-parts.ts'
import { eventsOf } from './watch-run.ts'

import type { OpenReview } from '../src/internal.ts'

/** Opens a run with a reviewer that edits, rejects and accepts at each kind of review. */
function reviewed(process: Process): ReturnType<Scenario['open']> {
  const decide = ({ timing, taskName, attempt, taskOutput }: OpenReview): ReviewAnswer => {
    if (timing === 'DURING_EXECUTION') return { action: 'EDIT', input: 'edited' }
    if (timing === 'BEFORE_EXECUTION') return { action: 'EDIT', text: `${taskName} again` }
    if (taskName === 'a' && attempt === 1) return { action: 'REJECT', feedback: 'Not so' }
    if (taskName === 'a') return { action: 'EDIT', text: `${taskOutput}!` }
    return { action: 'CONTINUE' }
  }
  const model = createThinker(process, ({ turn, prompt, last }) => {
    if (turn === 0) return requestCalls(['t', 'ask', 'me'])
    // Without the note about the edit, which would make many more tokens, and so writes to cut after.
    const result = last.split('\n').at(-1)
    return `${/again/.test(prompt) ? 'again' : 'old'} ${/Not so/.test(prompt) ? 2 : 1} ${readContext(prompt)} ${result}`
  })
  const tools = [createWorldTool(process, 'ask', { requireApproval: true })]
  const tasks = [
    task({ name: 'a', description: 'Do a', tools, beforeReview: true, review: true }),
    task({ name: 'b', description: 'Do b', tools, review: true, context: ['a'] }),
    task({
      name: 'c',
      description: 'Do c',
      beforeReview: true,
      model: createThinker(process, () => 'c'),
    }),
  ]
  return {
    team: ensemble({ name: 'reviewed', tasks, model }),
    options: { reviewer: createWorldReviewer(process, decide) },
  }
}

describe(
  '[ENS-E6] [ENS-E16] [ENS-E17] [ENS-G6] reviews of an interrupted or drained run',
  { timeout: 300_000 },
  () => {
    it('[ENS-G8] [ENS-G9] Reviews of an interrupted or drained run have the same outcomes and are not requested again once decided', async () => {
      const { result, world } = await interruptEverywhere({ open: reviewed })
      expect(result.tasks).toMatchObject([
        { output: 'again 2  ask:edited!', attempt: 2 },
        { output: 'again 1 again 2  ask:edited! ask:edited' },
        { output: 'c' },
      ])
      expect(new Set(world.asked).size).toBe(world.asked.length)
    })

    it.each(['BEFORE_EXECUTION', 'AFTER_EXECUTION', 'DURING_EXECUTION'] as const)(
      '[ENS-E14] Reviews of an interrupted or drained run end the run early at %s',
      async (timing) => {
        const { result } = await interruptEverywhere({
          races: true,
          open: (process) => {
            const model = createThinker(process, ({ turn }) =>
              turn === 0 ? requestCalls(['t', 'ask', 'me']) : 'done',
            )
            const tools = [createWorldTool(process, 'ask', { requireApproval: true })]
            const reviews = { tools, beforeReview: true, review: true }
            // Longer than everything else, so that it does not affect the outcome.
            const slow = createThinker(process, () => 'at last done', { ms: 400 })
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
                reviewer: createWorldReviewer(process, (review) => ({
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

    it('[ENS-G8] Reviews of an interrupted or drained run keep a task rejected that was rejected before it began', async () => {
      const { result, world } = await interruptEverywhere({
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
                model: createThinker(process, () => 'a'),
              }),
              task({ name: 'b', description: 'Do b', model: createThinker(process, () => 'b') }),
            ],
          }),
          options: {
            reviewer: createWorldReviewer(process, () => ({ action: 'REJECT', feedback: 'No' })),
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

    it('[ENS-G2] Reviews of an interrupted or drained run keep their remaining time over all processes', async () => {
      const { events } = await interruptEverywhere({
        open: (process) => ({
          team: ensemble({
            name: 'silent',
            workflow: 'PARALLEL',
            tasks: [
              task({
                name: 'a',
                description: 'Do a',
                review: { timeoutMs: 300, onTimeout: 'CONTINUE' },
                model: createThinker(process, () => 'a'),
              }),
              task({
                name: 'b',
                description: 'Do b',
                review: { timeoutMs: 50, onTimeout: 'FAIL' },
                model: createThinker(process, () => 'b'),
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
  (turn: number): ScenarioCommand['when'] =>
  (event) =>
    event.type === 'token' && event.taskName === 'b' && event.iterationIndex === turn

/** Opens three tasks in sequence, each of two turns. */
function chain(process: Process): ReturnType<Scenario['open']> {
  const answer = (name: string) =>
    createThinker(
      process,
      ({ turn, messages, prompt }) => {
        if (turn === 0) return requestCalls(['t', 'look', name])
        const directives = messages.filter(
          ({ role, content }) => role === 'user' && content.includes('Hurry'),
        )
        return `${name} ${directives.length} ${readContext(prompt)}`
      },
      { name },
    )
  const tools = [createWorldTool(process, 'look')]
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
  '[ENS-E6] [ENS-E16] [ENS-E17] commands to an interrupted or drained run',
  { timeout: 300_000 },
  () => {
    it('[ENS-D1] [ENS-S2] Commands to an interrupted or drained run apply directives and switches from the same call on', async () => {
      const { result } = await interruptEverywhere({
        open: chain,
        commands: [
          {
            when: (event) => event.type === 'tool_called' && event.taskName === 'a',
            send: (handle) => handle.inject({ id: 'd1', content: 'Hurry up' }),
            isRecorded: (step) => step.kind === 'directive_taken',
          },
          {
            when: (event) => event.type === 'task_completed' && event.taskName === 'a',
            send: (handle) => handle.switchModel('fast'),
            isRecorded: (step) => step.kind === 'model_switched',
          },
        ],
      })
      expect(result.output).toBe('fast 1 ')
    })

    it('[ENS-S7] [ENS-S9] Commands to an interrupted or drained run switch tiers by rules at the same calls in any process', async () => {
      const failing = (process: Process): ReturnType<Scenario['open']> => {
        let calls = 0
        const answer = (text: string) => createThinker(process, ({ turn }) => `${text} ${turn}`)
        const model = createThinker(process, ({ turn, prompt }) => {
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
      const { result, events } = await interruptEverywhere({ open: failing })
      expect(result.tasks.map(({ output }) => output)).toEqual(['main 0', 'quick 0', 'quick 0'])
      expect(eventsOf(events, 'model_switched')).toHaveLength(1)
    })

    it.each([
      ['abort', 0],
      ['abort', 1],
      ['boundary', 0],
      ['boundary', 1],
    ] as const)(
      '[ENS-S1] Commands to an interrupted or drained run keep a cancel in mode %s in turn %i',
      async (mode, turn) => {
        const { result } = await interruptEverywhere({
          open: chain,
          commands: [
            {
              when: atToken(turn),
              send: (handle) => handle.cancel({ mode }),
              isRecorded: (step) => step.kind === 'cancel_asked',
            },
          ],
        })
        expect(result.status).toBe('CANCELLED')
        expect(result.tasks).toHaveLength(mode === 'abort' ? 1 : 2)
      },
    )
  },
)

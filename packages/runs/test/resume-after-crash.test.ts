import { defineTool, Type, type Clock } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { decodeLoggedRunEvent, runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import { fakeClock, scriptedModel, type ScriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { allEvents, temporaryDirectory } from './waiting-ensemble.ts'
import { readAll } from '../src/testing/support/run-fixtures.ts'
import { dyingStorage, type Death } from './dying-storage.ts'

const RUN_ID = 'run-1'
const MODEL_CALLS = 6
const TOOL_CALLS = 6

/** Two tasks; each looks up two words concurrently, then one more, and answers with the results. */
interface Story {
  readonly team: Ensemble
  readonly model: ScriptedModel
  /** The words of all lookups. */
  readonly lookedUp: readonly string[]
}

function story(): Story {
  const lookedUp: string[] = []
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Says what a word means',
    input: Type.Object({ word: Type.String() }),
    async execute({ word }) {
      lookedUp.push(word)
      return `<${word}\u0000\ud800>`
    },
  })
  const model = scriptedModel(({ messages }) => {
    const name = /Do (\w+)/.exec(messages[1]?.content ?? '')?.[1] ?? '?'
    const read = messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []))
    if (read.length === 3) {
      return { reasoning: `All of ${name} is known`, text: `${name}: ${read.join(' ')}` }
    }
    const words = read.length === 0 ? ['one', 'two'] : ['three']
    return {
      reasoning: `${name} lacks ${words.join(' and ')}`,
      text: 'Thinking aloud',
      toolCalls: words.map((word) => ({
        id: `${name}-${word}`,
        name: 'look_up',
        arguments: { word: `${name}-${word}` },
      })),
    }
  })
  const first = task({ name: 'first', description: 'Do first', tools: [lookUp] })
  const second = task({
    name: 'second',
    description: 'Do second',
    context: [first],
    tools: [lookUp],
  })
  return { team: ensemble({ name: 'story', tasks: [first, second], model }), model, lookedUp }
}

/** Returns the log of a process killed at that moment; undefined when the run ended before. */
async function logLeftBehind(
  path: string,
  death: Death,
): Promise<readonly LoggedRunEvent[] | undefined> {
  await using storage = await sqliteRunStorage(path)
  const { storage: dying, died } = dyingStorage(storage, death)
  const service = createRunService(dying, [story().team], { clock: fakeClock() })
  await service.start()
  await service.submit({ runId: RUN_ID })
  const end = await Promise.race([died, allEvents(service, RUN_ID)])
  if (end !== 'died') return undefined
  // Work after its last commit is lost.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  return readAll(storage, RUN_ID)
}

interface Ended {
  readonly events: readonly LoggedRunEvent[]
  readonly tasks: readonly object[]
  readonly model: ScriptedModel
  readonly lookedUp: readonly string[]
}

/** Resumes the run, or submits it, in a process that survives. */
async function runToEnd(path: string, { submit = false } = {}): Promise<Ended> {
  const { team, model, lookedUp } = story()
  const storage = await sqliteRunStorage(path)
  const service = createRunService(storage, [team], { clock: fakeClock() })
  await service.start()
  if (submit) await service.submit({ runId: RUN_ID })
  const events = await allEvents(service, RUN_ID)
  const tasks = (await service.get(RUN_ID))?.tasks ?? []
  await service.close({ drainTimeoutMs: 0 })
  return { events, tasks, model, lookedUp }
}

function count(events: readonly LoggedRunEvent[], type: LoggedRunEvent['type']): number {
  return events.filter((event) => event.type === type).length
}

/** Returns all completed model and tool calls in the log. */
function endedCalls(events: readonly LoggedRunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'tool_called') return [event.toolCallId]
    if (event.type !== 'llm_iteration_completed') return []
    return [`${event.taskName} ${event.attempt} ${event.iterationIndex}`]
  })
}

/** Returns the turns of streamed reasoning, as {@link endedCalls} names them. */
function reasoningTurns(events: readonly LoggedRunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'reasoning'
      ? [`${event.taskName} ${event.attempt} ${event.iterationIndex}`]
      : [],
  )
}

/** Returns the reasoning of all turns as a reader of the log has it. */
function thoughtsOf(events: readonly LoggedRunEvent[]): readonly (string | undefined)[] {
  return runStateAfter(events).tasks.flatMap(({ turns }) => turns.map(({ reasoning }) => reasoning))
}

function pickResult(events: readonly LoggedRunEvent[]): object {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  const { status, outputs, metrics, durationMs } = last
  return { status, outputs, metrics, durationMs }
}

describe('a run whose process died', () => {
  it.each(['before', 'after'] as const)(
    '[RUNS-S3] [RUNS-X1] A run whose process died continues %s any of its commits without repeated work, to the same result',
    async (when) => {
      using quiet = temporaryDirectory()
      const undisturbed = await runToEnd(quiet.path, { submit: true })
      expect(endedCalls(undisturbed.events)).toHaveLength(MODEL_CALLS + TOOL_CALLS)
      expect(thoughtsOf(undisturbed.events)).toHaveLength(MODEL_CALLS)
      expect(thoughtsOf(undisturbed.events)).toContain('All of first is known')
      let commit = 1
      for (; ; commit += 1) {
        using directory = temporaryDirectory()
        const left = await logLeftBehind(directory.path, { commit, when })
        if (left === undefined) break
        const { events, tasks, model, lookedUp } = await runToEnd(directory.path)
        const at = `died ${when} commit ${commit}`
        expect(events.slice(0, left.length), at).toEqual(left)
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
        expect(events.flatMap((event) => (decodeLoggedRunEvent(event).ok ? [] : [event]))).toEqual(
          [],
        )
        expect(endedCalls(events), at).toEqual(endedCalls(undisturbed.events))
        expect(model.requests.length, at).toBe(MODEL_CALLS - count(left, 'llm_iteration_completed'))
        expect(lookedUp.length, at).toBe(TOOL_CALLS - count(left, 'tool_called'))
        for (const type of ['ensemble_started', 'run_result'] as const) {
          expect(count(events, type), at).toBe(1)
        }
        expect(count(events, 'task_started'), at).toBe(2)
        const isCutOff = count(left, 'ensemble_started') === 1 && count(left, 'run_result') === 0
        expect(count(events, 'run_resumed'), at).toBe(isCutOff ? 1 : 0)
        expect(pickResult(events), at).toEqual(pickResult(undisturbed.events))
        expect(thoughtsOf(events), at).toEqual(thoughtsOf(undisturbed.events))
        const ended = endedCalls(left)
        const again = reasoningTurns(events.slice(left.length))
        expect(
          again.filter((turn) => ended.includes(turn)),
          at,
        ).toEqual([])
        expect(tasks, at).toEqual(undisturbed.tasks)
      }
      // One per model call: the last answer of a task is recorded with its end, and the last task with that of the run.
      expect(commit - 1).toBeGreaterThanOrEqual(MODEL_CALLS)
    },
  )

  it('[RUNS-X1] A run whose process died ends after many deaths, with two commits per process and no repeated work', async () => {
    using quiet = temporaryDirectory()
    const undisturbed = await runToEnd(quiet.path, { submit: true })
    using directory = temporaryDirectory()
    const { events, lives } = await runInLives(directory.path)
    expect(lives).toBeGreaterThanOrEqual(MODEL_CALLS / 2)
    expect(events.flatMap((event) => (event.type === 'run_resumed' ? [event.epoch] : []))).toEqual(
      Array.from({ length: lives - 1 }, (_, index) => index + 2),
    )
    expect(endedCalls(events)).toEqual(endedCalls(undisturbed.events))
    expect(pickResult(events)).toEqual(pickResult(undisturbed.events))
  })
})

/** A clock that advances with each read, so that the delay of a suspect passes at once. */
function hastyClock(): Clock {
  let now = 0
  return { ...fakeClock(), now: () => (now += 10_000) }
}

/** Runs the workflow in processes that each die right after their second commit. */
async function runInLives(
  path: string,
): Promise<{ readonly events: readonly LoggedRunEvent[]; readonly lives: number }> {
  for (let lives = 0; ; lives += 1) {
    await using storage = await sqliteRunStorage(path, { clock: hastyClock() })
    const { storage: dying, died } = dyingStorage(storage, { commit: 2, when: 'after' })
    const service = createRunService(dying, [story().team], { clock: fakeClock() })
    await service.start()
    if (lives === 0) await service.submit({ runId: RUN_ID })
    await Promise.race([died, allEvents(service, RUN_ID)])
    const events = await readAll(storage, RUN_ID)
    if (count(events, 'run_result') === 1) return { events, lives: lives + 1 }
  }
}

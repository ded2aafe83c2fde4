/** Logs of runs that end in every way, made by the engine. */
import { setImmediate as nextTurn } from 'node:timers/promises'

import { defineTool, Type } from '@tutti/core'
import {
  agent,
  ensemble,
  task,
  type ChatModel,
  type Ensemble,
  type RunOptions,
  type RunStep,
} from '@tutti/ensemble'
import { scriptedModel, scriptedReviewer, type ScriptEntry } from '@tutti/testing'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** A log, and what each reader must find in it. */
export interface RunLog {
  readonly events: readonly LoggedRunEvent[]
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  /** Output of the run; absent if it has none. */
  readonly output?: string
}

const look = defineTool({
  name: 'look',
  description: 'Looks',
  input: Type.Object({}),
  execute: () => 'seen',
})

const LOOK: ScriptEntry = { text: 'Let me look. ', toolCalls: [{ name: 'look', arguments: {} }] }

/** Executes a run, in one process or in several with other code. Each but the last is stopped while it hangs. */
async function record(
  processes: readonly [Ensemble, ...Ensemble[]],
  options: RunOptions = {},
): Promise<readonly LoggedRunEvent[]> {
  const events: RunEvent[] = []
  const steps: RunStep[] = []
  for (const [index, team] of processes.entries()) {
    const isLast = index === processes.length - 1
    const controller = new AbortController()
    let isAlive = true
    const handle = team.start(
      {},
      {
        runId: 'run-1',
        signal: controller.signal,
        journal: {
          emit(event, step) {
            if (!isAlive) return
            events.push(event)
            if (step !== undefined) steps.push(step)
          },
          async commit(step, event) {
            if (!isAlive) await new Promise(() => undefined)
            steps.push(step)
            if (event !== undefined) events.push(event)
          },
        },
        ...options,
        ...(index === 0 ? {} : { resume: { steps: structuredClone(steps), epoch: index + 1 } }),
      },
    )
    if (isLast) {
      await handle.result
    } else {
      handle.result.catch(() => undefined)
      for (let turn = 0; turn < 20; turn += 1) await nextTurn()
      isAlive = false
      controller.abort()
    }
  }
  const queued = {
    type: 'run_queued',
    queuedAt: '2026-01-01T00:00:00.000Z',
    ensemble: 'team',
    workflow: 'SEQUENTIAL',
    totalTasks: 1,
    inputs: {},
    tags: {},
  } as const
  return [queued, ...events].map((event, seq) => ({
    ...event,
    runId: 'run-1',
    seq,
    id: `run-1:${seq}`,
  }))
}

type TaskSettings = Partial<Parameters<typeof task>[0]>

/** A model that begins an answer and never ends it. */
const hangingModel: ChatModel = {
  provider: 'test',
  name: 'hanging',
  async *stream() {
    yield { type: 'text', text: 'Wrong' }
    await new Promise(() => undefined)
  },
}

/** Returns an ensemble whose tasks answer with these scripts; `hang` begins an answer and never ends it. */
function team(
  scripts: Readonly<Record<string, readonly ScriptEntry[] | 'hang'>>,
  settings: TaskSettings = {},
): Ensemble {
  const tasks = Object.entries(scripts).map(([name, script]) => {
    const description = `Do ${name}`
    const model = script === 'hang' ? hangingModel : scriptedModel([...script])
    return task({ name, description, model, tools: [look], retries: 0, ...settings })
  })
  return ensemble({ name: 'team', tasks, workflow: 'SEQUENTIAL' })
}

/** Returns an ensemble that hangs in its first task, `draft`. */
function hanging(...names: readonly string[]): Ensemble {
  return team({ draft: 'hang', ...Object.fromEntries(names.map((name) => [name, ['unused']])) })
}

interface Story extends Omit<RunLog, 'events'> {
  readonly processes: readonly [Ensemble, ...Ensemble[]]
  readonly options?: RunOptions
}

const completed = (output: string, ...processes: readonly [Ensemble, ...Ensemble[]]): Story => ({
  processes,
  status: 'COMPLETED',
  output,
})

const STORIES: Readonly<Record<string, () => Story>> = {
  'one task': () => completed('ANSWER', team({ answer: ['ANSWER'] })),
  'a task before the output task': () =>
    completed('ANSWER', team({ draft: ['DRAFT'], answer: ['ANSWER'] })),
  'text before a tool': () => completed('ANSWER', team({ answer: [LOOK, 'ANSWER'] })),
  'a reviewer who rejects the first answer': () => ({
    ...completed('ANSWER', team({ answer: ['No', 'ANSWER'] }, { review: true })),
    options: { reviewer: scriptedReviewer(['REJECT', 'CONTINUE']) },
  }),
  'code that adds a task before the output task': () =>
    completed(
      'ANSWER',
      hanging('answer'),
      team({ draft: ['DRAFT'], 'check facts': ['NOTES'], answer: ['ANSWER'] }),
    ),
  'code that adds another output task': () =>
    completed(
      'TRANSLATED',
      hanging('answer'),
      team({ draft: ['DRAFT'], answer: ['ANSWER'], translate: ['TRANSLATED'] }),
    ),
  'code that removes the output task': () =>
    completed('NOTES', hanging('notes', 'answer'), team({ draft: ['DRAFT'], notes: ['NOTES'] })),
  'code that only moves the output task': () =>
    completed(
      'ANSWER',
      hanging('answer', 'notes'),
      team({ draft: ['DRAFT'], notes: ['NOTES'], answer: ['ANSWER'] }),
    ),
  'a process that is lost while the model answers': () =>
    completed(
      'ANSWER',
      team({ draft: ['DRAFT'], answer: 'hang' }),
      team({ draft: ['unused'], answer: ['ANSWER'] }),
    ),
  'a reviewer who edits the output': () => ({
    ...completed('EDITED', team({ answer: ['ANSWER'] }, { review: true })),
    options: { reviewer: scriptedReviewer([{ action: 'EDIT', text: 'EDITED' }]) },
  }),
  'a reviewer who ends the run early': () => ({
    ...completed('DRAFT', team({ draft: ['DRAFT'], answer: ['ANSWER'] }, { beforeReview: true })),
    options: { reviewer: scriptedReviewer(['CONTINUE', 'EXIT_EARLY']) },
  }),
  'an answer that is cut and accepted': () =>
    completed(
      'ANS',
      team(
        { answer: [{ text: 'ANS', finishReason: 'length' }] },
        { onUnfinished: { length: 'accept' } },
      ),
    ),
  'an answer that is cut and continued': () =>
    completed(
      'ANSWER',
      team(
        { answer: [{ text: 'ANS', finishReason: 'length' }, 'WER'] },
        { onUnfinished: { length: 'continue' } },
      ),
    ),
  'an answer that is cut and refused': () => ({
    processes: [
      team(
        { answer: [{ text: 'ANS', finishReason: 'length' }] },
        { onUnfinished: { length: 'fail' } },
      ),
    ],
    status: 'FAILED',
  }),
  'a manager who delegates': () =>
    completed(
      'ANSWER',
      ensemble({
        name: 'team',
        workflow: 'HIERARCHICAL',
        model: scriptedModel(({ messages, tools }) => {
          if (tools.every(({ name }) => name !== 'delegate_task')) return 'DRAFT'
          if (messages.some(({ role }) => role === 'tool')) return 'ANSWER'
          const work = { agentRole: 'Writer', taskDescription: 'Do draft' }
          return { toolCalls: [{ name: 'delegate_task', arguments: work }] }
        }),
        tasks: [
          task({
            name: 'draft',
            description: 'Do draft',
            agent: agent({ role: 'Writer', goal: 'Write' }),
          }),
        ],
      }),
    ),
  'a failed model call': () => ({
    processes: [team({ draft: ['DRAFT'], answer: [new Error('Out of tune')] })],
    status: 'FAILED',
  }),
  'a refusal': () => ({
    processes: [team({ answer: [{ finishReason: 'refusal', refusal: 'I cannot' }] })],
    status: 'FAILED',
  }),
  'a cancel': () => ({
    processes: [team({ draft: ['DRAFT'], answer: 'hang' })],
    options: { signal: AbortSignal.timeout(50) },
    status: 'CANCELLED',
  }),
}

/** Names of the logs: what happens in them. */
export const STORY_NAMES: readonly string[] = Object.keys(STORIES)

const logs = new Map<string, Promise<RunLog>>()

/** Executes a run in which this happens, once. */
export function readLog(name: string): Promise<RunLog> {
  const known = logs.get(name) ?? makeLog(name)
  logs.set(name, known)
  return known
}

async function makeLog(name: string): Promise<RunLog> {
  const story = STORIES[name]
  if (story === undefined) throw new RangeError(`No log is named "${name}"`)
  const { processes, options, ...rest } = story()
  return { ...rest, events: await record(processes, options) }
}

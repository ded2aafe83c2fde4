/** Notes that a task receives from earlier tasks and runs, and notes that it leaves for later ones. */
import { TuttiError } from '@tutti/core'
import { errorMessage, isoNow } from '@tutti/core/internal'

import { askModel } from './ask-model.ts'
import { recordTurn } from './turn-events.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'
import { renderMemories } from '../memory/memory.ts'
import { toRunName } from '../scope/run-scope.ts'
import {
  renderImprovementNotes,
  parseReflection,
  computeReflectionKey,
  createReflectionRequest,
} from '../memory/reflection.ts'

import type { ModelChain } from './model-chain.ts'
import type { TaskAnswer } from './loop.ts'
import type { TaskText } from '../definition/task-text.ts'
import type { Message, ModelReply } from '../model/chat-model.ts'
import type { TaskNotes } from '../ports/run-step.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { MemoryEntry, MemoryScope, MemoryStore } from '../memory/memory.ts'
import type { Reflection, ReflectionStore } from '../memory/reflection.ts'

/** Stores that the tasks of a run read and write. */
export interface MemoryStores {
  /** Store of the memory scopes that do not name one. */
  readonly memories: MemoryStore
  readonly reflections: ReflectionStore
}

type StoredScope = MemoryScope & Required<Pick<MemoryScope, 'store'>>

/** Notes of a task without memory and reflection. */
export const NO_NOTES: TaskNotes = { memories: [] }

/**
 * Reads the memory scopes and the reflection of a task; returns no promise if it has neither.
 *
 * @throws {TuttiError} TASK_FAILED if a memory scope cannot be read, because the answer would be wrong
 * without it. A reflection that cannot be read is only logged and left out.
 */
export function readNotes(
  scope: TaskScope,
  stores: MemoryStores,
  text: TaskText,
): TaskNotes | Promise<TaskNotes> {
  const { memory, reflection } = scope.task
  return memory.length === 0 && reflection !== true
    ? NO_NOTES
    : readStoredNotes(scope, stores, text)
}

async function readStoredNotes(
  scope: TaskScope,
  stores: MemoryStores,
  { description }: TaskText,
): Promise<TaskNotes> {
  const { task } = scope
  const holding = scope.run.inFlight.waitIfDraining(scope.signal, 'Memory')
  if (holding !== undefined) await holding
  const read = await Promise.all(
    task.memory.map(async (memory) => ({
      scope: memory.name,
      text: await readMemory(scope, { store: stores.memories, ...memory }, description),
    })),
  )
  const memories = read.filter(({ text }) => text !== '')
  const reflection = task.reflection === true ? await readReflection(scope, stores) : undefined
  if (reflection === undefined) return { memories }
  return { memories, improvement: renderImprovementNotes(reflection, task) }
}

async function readMemory(
  { run, signal }: TaskScope,
  { name, store, limit }: StoredScope,
  query: string,
): Promise<string> {
  try {
    const reading = store.retrieve(name, { query, limit })
    const entries = await untilStopped(reading, { signal, clock: run.clock, what: 'Memory' })
    // Cut here too: a store that returns more than the limit would flood the prompt.
    return renderMemories(entries.slice(-limit))
  } catch (error) {
    if (signal.aborted) throw stoppedError(signal, 'Memory', { cause: error })
    const message = `Failed to read memory scope "${name}": ${errorMessage(error)}`
    throw new TuttiError('TASK_FAILED', message, { cause: error })
  }
}

/** Returns the key of the declared description: a manager words the task differently each time. */
function findReflectionKey({ task, run }: TaskScope): Promise<string> {
  const declared = run.ensemble.tasks.find(({ name }) => toRunName(run, name) === task.name) ?? task
  return computeReflectionKey(declared.description)
}

async function readReflection(
  scope: TaskScope,
  { reflections }: MemoryStores,
): Promise<Reflection | undefined> {
  const { run, identity } = scope
  try {
    return await reflections.get(await findReflectionKey(scope))
  } catch (error) {
    const { taskName } = identity
    run.logger.warn('Failed to read a reflection', {
      runId: run.runId,
      taskName,
      error,
    })
    return undefined
  }
}

/**
 * Appends the output of a task to its memory scopes, unless an earlier process did. A failure is only logged.
 */
export async function remember(
  { task, run, log, signal }: TaskScope,
  { memories }: MemoryStores,
  output: string,
): Promise<void> {
  const { clock, logger, runId, inFlight } = run
  const holding = inFlight.waitIfDraining(signal, 'Memory')
  if (holding !== undefined) await holding
  const entry = {
    text: output,
    storedAt: isoNow(clock),
    taskName: task.name,
    agentRole: task.agent.role,
    runId,
  }
  await Promise.all(
    task.memory.map(async ({ name, store = memories }) => {
      try {
        const isNew = !log.isKnown || !(await isRemembered(store, name, entry))
        if (isNew) await store.append(name, entry)
      } catch (error) {
        logger.error('Failed to write a memory scope', { runId, scope: name, error })
      }
    }),
  )
}

/** Number of recent entries that are searched for one that an interrupted process stored. */
const RECENT_ENTRIES = 100

async function isRemembered(
  store: MemoryStore,
  scope: string,
  { text, taskName, runId }: MemoryEntry,
): Promise<boolean> {
  const recent = await store.retrieve(scope, { query: text, limit: RECENT_ENTRIES })
  return recent.some(
    (known) => known.runId === runId && known.taskName === taskName && known.text === text,
  )
}

/** Asks the model how to improve the task, and stores the reflection. A failure is only logged. */
export async function reflect(
  scope: TaskScope,
  {
    models,
    stores: { reflections },
  }: { readonly models: ModelChain; readonly stores: MemoryStores },
  { output, turns }: TaskAnswer,
): Promise<void> {
  const { task, run, identity } = scope
  if (task.reflection !== true) return
  const { description, expectedOutput } = task
  const recorded = scope.replay('model_turn', ({ iterationIndex }) => iterationIndex === turns)
  if (scope.run.log.replay !== undefined) return
  scope.assertReplayed('a reflection')
  try {
    const holding = run.inFlight.waitIfDraining(scope.signal, 'Reflection')
    if (holding !== undefined) await holding
    const key = await findReflectionKey(scope)
    const earlier = await reflections.get(key)
    const reflected = { description, expectedOutput, ...(earlier === undefined ? {} : { earlier }) }
    const messages = createReflectionRequest({ ...reflected, output })
    const reply = recorded?.reply ?? (await askToReflect(scope, models, { messages, turns }))
    const reflection = parseReflection(reply.text, reflected)
    // An interrupted process may have stored the same reflection already.
    const isNew = recorded === undefined || !isSame(reflection, earlier)
    if (reflection !== undefined && isNew) await reflections.put(key, reflection)
  } catch (error) {
    run.logger.warn('Failed to reflect on a task', {
      runId: run.runId,
      taskName: identity.taskName,
      error,
    })
  }
}

async function askToReflect(
  scope: TaskScope,
  models: ModelChain,
  { messages, turns }: { readonly messages: readonly Message[]; readonly turns: number },
): Promise<ModelReply> {
  const iterationIndex = turns
  const question = {
    iterationIndex,
    messages,
    tools: [],
    toolChoice: 'none',
    directiveIds: [],
    isOptional: true,
  } as const
  const { reply, recorded } = recordTurn(scope, await askModel(scope, models, question))
  await recorded
  return reply
}

/** Compares two reflections without the number of runs that they come from. */
function isSame(one: Reflection | undefined, other: Reflection | undefined): boolean {
  return JSON.stringify({ ...one, runs: 0 }) === JSON.stringify({ ...other, runs: 0 })
}

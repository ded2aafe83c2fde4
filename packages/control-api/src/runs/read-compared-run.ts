/**
 * Reads what a comparison needs of one run, from its records and its events.
 *
 * Events are read page by page and only their numbers, digests and the starts of their texts are retained, so the memory
 * does not grow with the log.
 */
import { formatCanonicalJson } from '@tutti/core/internal'
import { findRun, type Caller } from '@tutti/gateway/internal'
import type { RunRecord, TaskRecord } from '@tutti/runs/adapter'
import { eventPages } from '@tutti/runs/internal'

import { computeTextDigest, TextBudget, type CutText } from './cut-text.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { AlignableCall } from './align-calls.ts'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'
import type { ComparedCall } from '@tutti/protocol/internal'

/** Limits for a task's description and output, in bytes: those of each, and of all together. */
const TASK_TEXTS = { maxBytes: 1_000_000, maxTextBytes: 32_768 }

/** Limits for the arguments of tool calls, in bytes. */
const CALL_TEXTS = { maxBytes: 256_000, maxTextBytes: 2_048 }

/** Maximum number of listed tool calls of a run. Aligning them takes up to the square of it, as steps. */
const MAX_LISTED_CALLS = 1_000

/** Maximum number of model calls and tool calls that are read of a run. */
const MAX_CALLS = 20_000

const TYPES = [
  'llm_iteration_completed',
  'llm_iteration_failed',
  'tool_called',
  'delegation_started',
  'task_completed',
  'task_failed',
] as const satisfies readonly RunEvent['type'][]

/** Types that are not those of calls: a run has few of them for each task. */
const TASK_EVENTS: ReadonlySet<RunEvent['type']> = new Set([
  'delegation_started',
  'task_completed',
  'task_failed',
])

type ReadEvent = Extract<LoggedRunEvent, { type: (typeof TYPES)[number] }>

/** Run of a comparison as it was read. */
export interface ReadRun {
  readonly run: RunRecord
  /** Tasks by name, in order. */
  readonly tasks: ReadonlyMap<string, ReadTask>
  /** Whether the run has more calls than were read. */
  readonly isPartial: boolean
}

/** Task of a comparison as it was read. */
export interface ReadTask {
  readonly record: Omit<TaskRecord, 'description' | 'output'>
  readonly description: CutText
  readonly output?: CutText
  readonly delegatedBy?: string
  /** Whether its result was taken from the parent of the run. */
  readonly isReused: boolean
  /** Number of model calls and tool calls that the run itself made. */
  readonly modelCalls: number
  readonly toolCalls: number
  readonly calls: readonly ReadCall[]
}

/** Tool call as it was read. */
export interface ReadCall extends AlignableCall {
  readonly wire: ComparedCall
}

/**
 * Reads a run as it is now, without secrets.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when the run does not exist; FORBIDDEN when the caller may not read it.
 */
export async function readComparedRun(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  runId: string,
  caller: Caller,
): Promise<ReadRun> {
  const found = await findRun(runs, runId, caller)
  // Secrets are removed before texts are cut, because a part of a secret would not be recognized.
  const run = redactor.value(found.run)
  const reading = new RunReading(run, redactor.value(found.tasks))
  for await (const page of eventPages(runs, { runId, from: 0, types: TYPES })) {
    for (const event of page) if (event.seq <= run.lastSeq && isRead(event)) reading.add(event)
    if ((page.at(-1)?.seq ?? run.lastSeq) >= run.lastSeq || reading.isFull) break
  }
  return reading.finish()
}

function isRead(event: LoggedRunEvent): event is ReadEvent & LoggedRunEvent {
  return TYPES.some((type) => type === event.type)
}

type MutableTask = {
  -readonly [Field in keyof ReadTask]: ReadTask[Field]
} & { readonly calls: ReadCall[] }

/** Collects the events of one run. */
class RunReading {
  readonly #run: RunRecord
  readonly #tasks: ReadonlyMap<string, MutableTask>
  readonly #taskTexts = new TextBudget(TASK_TEXTS)
  readonly #callTexts = new TextBudget(CALL_TEXTS)
  #calls = 0
  #listedCalls = 0

  constructor(run: RunRecord, tasks: readonly TaskRecord[]) {
    this.#run = run
    this.#tasks = new Map(tasks.map((task) => [task.name, this.#begin(task)]))
  }

  #begin({ description, output, ...record }: TaskRecord): MutableTask {
    return {
      record,
      description: this.#taskTexts.cut(description),
      ...(output === undefined ? {} : { output: this.#taskTexts.cut(output) }),
      isReused: false,
      modelCalls: 0,
      toolCalls: 0,
      calls: [],
    }
  }

  /** Whether the run has more calls than are read. */
  get isFull(): boolean {
    return this.#calls > MAX_CALLS
  }

  add(event: ReadEvent & { readonly seq: number }): void {
    if (!TASK_EVENTS.has(event.type)) this.#calls += 1
    if (this.isFull) return
    const { parent } = this.#run
    const isCopied = parent !== undefined && event.seq <= parent.at
    const isFrozen = parent?.replay === 'frozen'
    if (event.type === 'delegation_started') {
      const delegated = this.#tasks.get(event.workerTask)
      if (delegated !== undefined) delegated.delegatedBy = event.taskName
      return
    }
    const task = 'taskName' in event ? this.#tasks.get(event.taskName) : undefined
    if (task === undefined) return
    switch (event.type) {
      case 'llm_iteration_completed':
      case 'llm_iteration_failed':
        if (!isCopied && !isFrozen) task.modelCalls += 1
        return
      case 'tool_called':
        this.#addCall(task, event, isCopied || parent?.replay !== undefined)
        return
      case 'task_completed':
      case 'task_failed':
        if (isCopied || isFrozen) task.isReused = true
        if (event.type === 'task_completed' && task.record.outputOmitted === true) {
          task.output = this.#taskTexts.cut(event.output)
        }
        return
      default:
        event satisfies never
    }
  }

  #addCall(task: MutableTask, event: RunEventOf<'tool_called'>, isReused: boolean): void {
    // A step is a part of the call that it belongs to.
    if (event.parentToolCallId !== undefined) return
    if (!isReused) task.toolCalls += 1
    this.#listedCalls += 1
    if (this.#listedCalls > MAX_LISTED_CALLS) return
    const { toolName, toolArguments, outcome, durationMs, attempt, iterationIndex } = event
    task.calls.push({
      toolName,
      inputDigest: computeTextDigest(canonicalize(toolArguments ?? '')),
      wire: {
        toolName,
        ...(toolArguments === null ? {} : { input: this.#callTexts.cut(toolArguments).shown }),
        outcome,
        durationMs,
        attempt,
        iterationIndex,
        ...(isReused ? { reused: true } : {}),
      },
    })
  }

  finish(): ReadRun {
    return {
      run: this.#run,
      tasks: this.#tasks,
      isPartial: this.isFull || this.#listedCalls > MAX_LISTED_CALLS,
    }
  }
}

/** Returns JSON in a form that does not depend on white space and the order of keys; other text unchanged. */
function canonicalize(text: string): string {
  try {
    return formatCanonicalJson(JSON.parse(text))
  } catch {
    return text
  }
}

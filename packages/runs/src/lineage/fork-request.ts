/** Requests for forks. */
import { TuttiError } from '@tutti/core'

import { field } from '../domain/field.ts'
import { parentNotFound, stepsNotRetained } from '../domain/refusals.ts'
import { readForkedLog, type ForkSource } from './fork-log.ts'

import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { RunRecord } from '../domain/run-record.ts'
import type { ForkPlace, RunSubmission } from '../request/new-run.ts'
import type { GivenResults } from '@tutti/ensemble/internal'
import type { DirectiveInput } from '@tutti/protocol/internal'

/** A request for a fork. What it does not set is as in the parent. */
export interface ForkRequest extends Pick<
  RunSubmission,
  | 'inputs'
  | 'taskOverrides'
  | 'tags'
  | 'runId'
  | 'idempotencyKey'
  | 'webhooks'
  | 'actor'
  | 'quota'
  | 'traceparent'
  | 'tracestate'
> {
  readonly at: ForkPlace
  /** Outputs by task name, instead of the answers of agents: text, or a value for a task with an output schema. */
  readonly results?: GivenResults
  /** Directives that the fork has from its beginning. */
  readonly directives?: readonly DirectiveInput[]
  /** Whether calls of tools that are not idempotent may be repeated. @default false */
  readonly allowSideEffects?: boolean
}

/** A requested fork, and the run that it is a fork of. */
export interface AskedFork {
  readonly parentRunId: string
  readonly request: ForkRequest
}

/** The submission of a fork, and the log that it begins with. */
export interface ReadFork {
  readonly submission: RunSubmission
  readonly source: ForkSource
}

/**
 * Reads the parent of a fork.
 *
 * @throws {TuttiError} RUN_NOT_FOUND, also if the run is deleted meanwhile, and as `readForkedLog`.
 */
export async function readFork(
  storage: Pick<RunStorage, 'events' | 'runs'>,
  { clock, maxStoredRunBytes }: Pick<ResolvedRunServiceOptions, 'clock' | 'maxStoredRunBytes'>,
  { parentRunId, request }: AskedFork,
): Promise<ReadFork> {
  const parent = await storage.runs.get(parentRunId)
  if (parent === undefined) throw parentNotFound(parentRunId)
  if (parent.parent?.replay !== undefined) {
    const message = `Run ${parentRunId} is a replay of run ${parent.parent.runId}; fork that run`
    throw new TuttiError('BAD_REQUEST', message)
  }
  if (parent.request?.isErased === true) throw stepsNotRetained(parentRunId)
  const query = { parent, at: request.at, maxStepBytes: maxStoredRunBytes }
  const source = await readForkedLog(storage, clock, query).catch(async (error: unknown) => {
    // A log that is being deleted lacks events, which is not a fault of the request.
    const isGone = (await storage.runs.get(parentRunId)) === undefined
    throw isGone ? parentNotFound(parentRunId) : error
  })
  return { submission: toForkSubmission(parent, request), source }
}

/** Returns the submission of a fork. Its inputs and overrides are added to those of its parent. */
export function toForkSubmission(
  { runId: parentRunId, ensemble, inputs, tags, request = {} }: RunRecord,
  { at, results, directives, allowSideEffects: _, ...asked }: ForkRequest,
): RunSubmission {
  const { tasks, taskOverrides, options, budget, history, clientTools } = request
  const overrides = { ...taskOverrides, ...asked.taskOverrides }
  return {
    ...asked,
    ensemble,
    inputs: { ...inputs, ...asked.inputs },
    tags: asked.tags ?? tags,
    ...field('tasks', tasks),
    ...(Object.keys(overrides).length === 0 ? {} : { taskOverrides: overrides }),
    ...field('options', options),
    ...field('budget', budget),
    ...field('history', history),
    ...field('clientTools', clientTools),
    fork: {
      parentRunId,
      at,
      ...field('inputs', asked.inputs),
      ...field('taskOverrides', asked.taskOverrides),
      ...field('results', results),
      ...field('directives', directives),
    },
  }
}

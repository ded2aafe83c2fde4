/** Takes a message that begins a task: a run of the ensemble that it is for. */
import { suggest } from '@tutti/protocol'

import { idempotencyKey } from '../http/idempotency-key.ts'
import { traceOf } from '../http/trace-of.ts'
import { cancelAtDeadline } from '../peer/cancel-at-deadline.ts'
import { requestKey } from '../peer/request-key.ts'
import { deadlineOf } from '../peer/task-reports.ts'
import { submitRun } from '../runs/submit-run.ts'
import { invalidParams } from './a2a-error.ts'
import { act, type Asker } from './asker.ts'
import { inputsOfMessage } from './inputs-of-message.ts'
import { taskOf, type LoadedTask } from './load-task.ts'
import { isObject } from './modern-params.ts'
import { saidIn } from './said.ts'
import { firstView } from './task-view.ts'
import { CONTEXT_TAG, factsOf } from './to-task.ts'
import { usageLimits, type UsageLimits } from './usage.ts'

import type { A2aRequest } from '@tutti/core'
import type { SendParams } from './a2a-wire.ts'
import type { Agent } from './agent.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { SubmitRun } from '@tutti/runs'

/**
 * Begins the task. It is given as it is when it begins, whatever has happened since; the same message again
 * under the same idempotency key is the task that it was, as it stands.
 *
 * @throws {A2aError} INVALID_PARAMS or CONTENT_TYPE_NOT_SUPPORTED.
 * @throws {TuttiError} as `submitRun`.
 */
export function submitTask(params: SendParams, asker: Asker): Promise<LoadedTask> {
  const { options, agent, caller, headers } = asker
  return act(asker, { name: 'submitRun', scope: 'runs:write' }, async (tell) => {
    const { message } = params
    const ensemble = ensembleFor(params, agent)
    const inputs = inputsOfMessage(ensemble, saidIn(message.parts))
    const limits = usageLimits(params.metadata)
    const key = idempotencyKey(headers)
    const contextId = message.contextId ?? newContext(key, caller.name)
    const submission = {
      ensemble: ensemble.name,
      inputs: { ...inputs },
      tags: { [CONTEXT_TAG]: contextId },
    }
    const run = await submitRun(options, submission, {
      caller,
      origin: originOf(params, contextId),
      ...traceOf(headers),
      ...budgetOf(limits),
      ...(key === undefined ? {} : { idempotencyKey: key }),
    })
    tell({ runId: run.runId })
    if (limits !== undefined) {
      void cancelAtDeadline({ run, deadlineAt: deadlineOf(run, limits.deadlineMs) }, asker)
    }
    if (run.lastSeq > 0) return taskOf(asker, run)
    return { run, facts: factsOf(run), view: firstView(run) }
  })
}

/** What the caller lets the task use, as the budget of its run. */
function budgetOf({ deadlineMs: _, ...budget }: UsageLimits = {}): Pick<
  SubmitRun,
  'budget' | 'isAllowance'
> {
  return Object.keys(budget).length === 0 ? {} : { budget, isAllowance: true }
}

/** A context for a message that names none; the same one when the same message is sent again. */
function newContext(key: string | undefined, caller: string | undefined): string {
  if (key === undefined) return `context-${crypto.randomUUID()}`
  return requestKey(`context of ${caller ?? ''}`, key).replace(/^peer/, 'context')
}

/** The message with the fields that A2A has, for the history of its task and for tools and handlers. */
function originOf({ message, metadata: ofRequest }: SendParams, contextId: string): A2aRequest {
  const { messageId, parts, metadata, extensions, referenceTaskIds } = message
  return {
    protocol: 'a2a',
    messageId,
    contextId,
    parts: parts.map((part) =>
      Object.fromEntries(Object.entries(part).filter(([name]) => PART_FIELDS.includes(name))),
    ),
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
    ...(ofRequest === undefined ? {} : { requestMetadata: { ...ofRequest } }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
  }
}

const PART_FIELDS = ['text', 'raw', 'url', 'data', 'metadata', 'filename', 'mediaType']

/** The ensemble that `metadata.ensemble` names, of the request or of its message; else the first. */
function ensembleFor({ message, metadata }: SendParams, agent: Agent): Ensemble {
  const [first] = agent.ensembles
  const wanted = ensembleIn(metadata) ?? ensembleIn(message.metadata) ?? first?.name
  const found = agent.ensembles.find(({ name }) => name === wanted)
  if (found !== undefined) return found
  const names = agent.ensembles.map(({ name }) => name)
  const near = typeof wanted === 'string' ? suggest(wanted, names) : undefined
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`
  const got = `got ${JSON.stringify(wanted)}${hint}`
  const problem = `must be a skill of this agent, one of ${names.join(', ')}, ${got}`
  throw invalidParams([{ path: '/metadata/ensemble', message: problem }])
}

function ensembleIn(metadata: object | undefined): unknown {
  return isObject(metadata) ? (metadata['ensemble'] ?? undefined) : undefined
}

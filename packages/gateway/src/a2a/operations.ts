/** Operations of A2A, which every wire performs. */
import { TuttiError } from '@tutti/core'
import { decode } from '@tutti/protocol'
import { USAGE_EXTENSION } from '@tutti/protocol/internal'

import { activeExtensions, type A2aCall } from './agent.ts'
import { A2aError, invalidParams } from './errors.ts'
import { TaskStream, type Following } from './events.ts'
import { listTasks } from './list-tasks.ts'
import { findTaskRun, loadTask, readTask, type LoadedTask } from './load-task.ts'
import { MESSAGE_MEDIA_TYPES, mergeObjects, readContent } from './message.ts'
import { toModernParams, type Params } from './params.ts'
import { readBegin, readReply, readSendLimits } from './request.ts'
import { toTaskIdentity, acceptsMediaType, toWireTask, type Showing } from './to-task.ts'
import { isSettled, isTerminal, TaskView, toTaskState } from './view.ts'
import {
  GetTaskParams,
  ListTasksParams,
  SendParams,
  TaskIdParams,
  type WireTask,
  type TaskPage,
} from './wire.ts'

import type { Static, TSchema } from '@tutti/core'

/** Maximum time that a cancel waits for the work of a task to stop, in milliseconds. */
const CANCEL_WAIT_MS = 10_000

/** Result of an operation. */
export type OperationOutcome =
  /** The task that a message began or continued. */
  | { readonly kind: 'sent'; readonly task: WireTask }
  | { readonly kind: 'task'; readonly task: WireTask }
  | { readonly kind: 'page'; readonly page: TaskPage }
  | { readonly kind: 'stream'; readonly stream: TaskStream }

/** Performs an operation; `params` are of any version and not validated. */
export type A2aOperation = (params: Params, call: A2aCall) => Promise<OperationOutcome>

/**
 * Operations by their names in 1.0. Each throws {A2aError} INVALID_PARAMS with every problem of its parameters.
 */
export const OPERATIONS = {
  async SendMessage(params, call) {
    const sent = readSendParams(params)
    const { returnImmediately, blocking = true } = sent.configuration ?? {}
    const started = await startOrContinue(sent, call)
    const waits = !(returnImmediately ?? !blocking)
    const loaded = waits ? await waitUntilSettled(started, call) : started
    return { kind: 'sent', task: toWireTask(loaded.identity, loaded.view, readShowing(sent, call)) }
  },
  async SendStreamingMessage(params, call) {
    const sent = readSendParams(params)
    const following = { showing: readShowing(sent, call), until: 'settled' } as const
    return toStreamOutcome(await startOrContinue(sent, call), following)
  },
  async GetTask(params, call) {
    const { id, historyLength } = decodeParams(GetTaskParams, params)
    const { identity, view } = await call.service.options.reads.run(() => loadTask(call, id))
    return {
      kind: 'task',
      task: toWireTask(identity, view, defaultShowing(call, { historyLength })),
    }
  },
  async ListTasks(params, call) {
    const query = decodeParams(ListTasksParams, params)
    const { historyLength, includeArtifacts: artifacts = false } = query
    const showing = defaultShowing(call, { historyLength, artifacts })
    const page = await call.service.options.reads.run(() => listTasks(query, showing, call))
    return { kind: 'page', page }
  },
  async CancelTask(params, call) {
    const { identity, view } = await cancelTask(decodeParams(TaskIdParams, params).id, call)
    return { kind: 'task', task: toWireTask(identity, view, defaultShowing(call)) }
  },
  async SubscribeToTask(params, call) {
    const loaded = await loadTask(call, decodeParams(TaskIdParams, params).id)
    if (isTerminal(toTaskState(loaded.view))) {
      throw new A2aError(
        'UNSUPPORTED_OPERATION',
        `Operation not supported: task "${loaded.identity.id}" has ended`,
      )
    }
    return toStreamOutcome(loaded, { showing: defaultShowing(call), until: 'terminal' })
  },
  CreateTaskPushNotificationConfig: refusePush,
  GetTaskPushNotificationConfig: refusePush,
  ListTaskPushNotificationConfigs: refusePush,
  DeleteTaskPushNotificationConfig: refusePush,
  async GetExtendedAgentCard() {
    const message = 'Operation not supported: the public agent card is complete'
    throw new A2aError('UNSUPPORTED_OPERATION', message)
  },
} as const satisfies Readonly<Record<string, A2aOperation>>

/** Name of an operation in 1.0. */
export type OperationName = keyof typeof OPERATIONS

const PARAMS: Partial<Record<OperationName, TSchema>> = {
  SendMessage: SendParams,
  SendStreamingMessage: SendParams,
  GetTask: GetTaskParams,
  ListTasks: ListTasksParams,
  CancelTask: TaskIdParams,
  SubscribeToTask: TaskIdParams,
}

/**
 * Checks parameters without performing the operation.
 *
 * @throws {A2aError} INVALID_PARAMS with every problem.
 */
export function assertParams(operation: OperationName, params: Params): void {
  const schema = PARAMS[operation]
  if (schema !== undefined) decodeParams(schema, params)
}

async function refusePush(): Promise<never> {
  throw pushNotSupported()
}

function pushNotSupported(): A2aError {
  const message = 'Push notifications are not supported: subscribe to the task or poll it'
  return new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', message)
}

function decodeParams<Schema extends TSchema>(schema: Schema, params: Params): Static<Schema> {
  const decoded = decode(schema, toModernParams(params))
  if (decoded.ok) return decoded.value
  throw invalidParams(decoded.problems)
}

/** Reads the parameters of a message, and checks that the answer can have the requested form. */
function readSendParams(params: Params): SendParams {
  const sent = decodeParams(SendParams, params)
  const { acceptedOutputModes: modes = [], ...configuration } = sent.configuration ?? {}
  const push = configuration.taskPushNotificationConfig ?? configuration.pushNotificationConfig
  if (push !== undefined) throw pushNotSupported()
  if (MESSAGE_MEDIA_TYPES.some((type) => acceptsMediaType(modes, type))) return sent
  throw new A2aError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content type: ${modes.join(', ')} is not supported. Answers are ${MESSAGE_MEDIA_TYPES.join(' or ')}`,
  )
}

function startOrContinue(params: SendParams, call: A2aCall): Promise<LoadedTask> {
  const { taskId } = params.message
  return taskId === undefined ? beginTask(params, call) : continueTask(params, taskId, call)
}

/**
 * Begins a task. A new task is returned in its first state; a repeated message with the same idempotency key returns
 * the task in its current state.
 *
 * @throws {A2aError} INVALID_PARAMS or CONTENT_TYPE_NOT_SUPPORTED.
 * @throws {TuttiError} as `GatewayService.begin`.
 */
async function beginTask(params: SendParams, a2aCall: A2aCall): Promise<LoadedTask> {
  const { service, call, agent, headers } = a2aCall
  const sender = { agent, headers, name: call.caller.name }
  const run = await service.begin(call, () => readBegin(params, sender))
  if (run.lastSeq > 0) return readTask(a2aCall, run)
  return { run, identity: toTaskIdentity(run, service.options.redactor), view: new TaskView(run) }
}

/**
 * Continues a task; returns its state before the effects of the message.
 *
 * @throws {A2aError} TASK_NOT_FOUND; UNSUPPORTED_OPERATION when it has ended; INVALID_PARAMS when the context
 * differs, or the message does not answer the question.
 * @throws {TuttiError} as `GatewayService.continue`.
 */
async function continueTask(
  params: SendParams,
  taskId: string,
  a2aCall: A2aCall,
): Promise<LoadedTask> {
  const { service, call } = a2aCall
  const { message } = params
  const { deadline_ms: deadlineMs } = readSendLimits(params)
  const loaded = await loadTask(a2aCall, taskId)
  const { view, identity, run } = loaded
  const { contextId = identity.contextId } = message
  if (contextId !== identity.contextId) {
    const problem = `must be "${identity.contextId}", the context of task "${taskId}", got "${contextId}"`
    throw invalidParams([{ path: '/message/contextId', message: problem }])
  }
  const content = readContent(message.parts)
  if (isTerminal(toTaskState(view))) {
    throw new A2aError(
      'UNSUPPORTED_OPERATION',
      `Operation not supported: task "${taskId}" has ended. To continue in its context, send a message without taskId`,
    )
  }
  const { reviewId: named, decision } = mergeObjects(content)
  const reviewId = findNamedReview(view, named)
  if (reviewId === undefined && decision !== undefined) {
    const text = `Operation not supported: task "${taskId}" has no open review to decide`
    throw new A2aError('UNSUPPORTED_OPERATION', text)
  }
  await service.continue(call, run, readReply(content, reviewId))
  if (deadlineMs !== undefined) service.enforceDeadline(run, deadlineMs, call.caller)
  if (reviewId !== undefined) view.decide(reviewId)
  return loaded
}

/** Returns the id of the open review that a message names, or else of the oldest one. */
function findNamedReview(view: TaskView, named: unknown): string | undefined {
  const reviews = view.openReviews
  if (named === undefined) return reviews[0]?.reviewId
  const found = reviews.find(({ reviewId }) => reviewId === named)
  if (found !== undefined) return found.reviewId
  const open = reviews.map(({ reviewId }) => `"${reviewId}"`).join(', ') || 'none'
  const problem = `must be an open review of the task (open: ${open}), got ${JSON.stringify(named)}`
  throw invalidParams([{ path: '/message/parts/reviewId', message: problem }])
}

/**
 * Cancels a task; resolves when its work has stopped, or after {@link CANCEL_WAIT_MS}.
 *
 * @throws {A2aError} TASK_NOT_FOUND, TASK_NOT_CANCELABLE when it has ended.
 */
async function cancelTask(id: string, a2aCall: A2aCall): Promise<LoadedTask> {
  const { service, call, gone: signal } = a2aCall
  const run = await findTaskRun(a2aCall, id)
  try {
    await service.cancel(call, run, { waitMs: CANCEL_WAIT_MS, signal })
  } catch (error) {
    const isOver = TuttiError.isInstance(error) && error.code === 'RUN_COMPLETED'
    throw isOver
      ? new A2aError('TASK_NOT_CANCELABLE', `Task "${id}" cannot be cancelled: it has ended`)
      : error
  }
  return loadTask(a2aCall, id)
}

/** Waits until the task has ended or asks a question, or the caller disconnects. */
async function waitUntilSettled(
  task: LoadedTask,
  { service, gone: signal }: A2aCall,
): Promise<LoadedTask> {
  const { runId } = task.run
  const { view } = task
  if (isSettled(toTaskState(view))) return task
  for await (const events of service.options.runs.follow({ runId, from: view.nextSeq, signal })) {
    for (const event of events) {
      view.take(event)
      if (isSettled(toTaskState(view))) return task
    }
  }
  return task
}

function toStreamOutcome(task: LoadedTask, following: Following): OperationOutcome {
  return { kind: 'stream', stream: new TaskStream(task, following) }
}

function readShowing({ configuration, metadata, message }: SendParams, call: A2aCall): Showing {
  const { acceptedOutputModes: modes = [], historyLength } = configuration ?? {}
  const { usage, ...showing } = defaultShowing(call, { historyLength })
  const isNamed = [metadata, message.metadata].some(
    (fields) => fields !== undefined && Object.hasOwn(fields, USAGE_EXTENSION),
  )
  return { ...showing, modes, usage: usage || isNamed }
}

function defaultShowing(
  { headers }: A2aCall,
  wanted: Pick<Showing, 'historyLength' | 'artifacts'> = {},
): Showing {
  return { modes: [], usage: activeExtensions(headers).includes(USAGE_EXTENSION), ...wanted }
}

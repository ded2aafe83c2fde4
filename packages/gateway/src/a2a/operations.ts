/** What A2A can be asked for, whatever the wire: from parameters to an answer or a stream. */
import { decode, USAGE_EXTENSION } from '@tutti/protocol'

import { A2aError, invalidParams } from './a2a-error.ts'
import {
  GetTaskParams,
  ListTasksParams,
  SendParams,
  TaskIdParams,
  type StreamItem,
  type Task,
  type TaskPage,
} from './a2a-wire.ts'
import { activeExtensions, type Asker } from './asker.ts'
import { cancelTask } from './cancel-task.ts'
import { continueTask } from './continue-task.ts'
import { listTasks } from './list-tasks.ts'
import { loadTask, type LoadedTask } from './load-task.ts'
import { modernParams, type Params } from './modern-params.ts'
import { MEDIA_TYPES } from './said.ts'
import { submitTask } from './submit-task.ts'
import { taskStream, whenSettled, type Following } from './task-stream.ts'
import { isTerminal } from './task-view.ts'
import { takes, toTask, type Showing } from './to-task.ts'

import type { Static, TSchema } from '@tutti/core'

/** What an operation gives. */
export type Outcome =
  /** The task that a message has begun, or goes on with. */
  | { readonly kind: 'sent'; readonly task: Task }
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'page'; readonly page: TaskPage }
  | {
      readonly kind: 'stream'
      readonly items: AsyncGenerator<StreamItem>
      readonly until: Following['until']
      /** Aborted when nobody reads any more. */
      readonly stop: AbortController
    }

/** Does what is asked for; `params` are those of any version, unchecked. */
export type Operation = (params: Params, asker: Asker) => Promise<Outcome>

/**
 * The operations by their names in 1.0.
 *
 * Every one throws {A2aError} INVALID_PARAMS with every problem of its parameters.
 */
export const OPERATIONS = {
  async SendMessage(params, asker) {
    const sent = sendParams(params)
    const { returnImmediately, blocking = true } = sent.configuration ?? {}
    const started = await startOrContinue(sent, asker)
    const isPatient = !(returnImmediately ?? !blocking)
    const loaded = isPatient ? await whenSettled(started, asker) : started
    return { kind: 'sent', task: toTask(loaded.facts, loaded.view, showingOf(sent, asker)) }
  },
  async SendStreamingMessage(params, asker) {
    const sent = sendParams(params)
    return streamOf(await startOrContinue(sent, asker), asker, {
      showing: showingOf(sent, asker),
      until: 'settled',
    })
  },
  async GetTask(params, asker) {
    const { id, historyLength } = checked(GetTaskParams, params)
    const { facts, view } = await asker.options.reads.run(() => loadTask(asker, id))
    return { kind: 'task', task: toTask(facts, view, plainShowing(asker, { historyLength })) }
  },
  async ListTasks(params, asker) {
    const query = checked(ListTasksParams, params)
    const { historyLength, includeArtifacts: artifacts = false } = query
    const showing = plainShowing(asker, { historyLength, artifacts })
    const page = await asker.options.reads.run(() => listTasks(query, showing, asker))
    return { kind: 'page', page }
  },
  async CancelTask(params, asker) {
    const { facts, view } = await cancelTask(checked(TaskIdParams, params).id, asker)
    return { kind: 'task', task: toTask(facts, view, plainShowing(asker)) }
  },
  async SubscribeToTask(params, asker) {
    const loaded = await loadTask(asker, checked(TaskIdParams, params).id)
    if (isTerminal(loaded.view)) {
      throw new A2aError(
        'UNSUPPORTED_OPERATION',
        `Operation not supported: task "${loaded.facts.id}" is over, and nothing more happens in it`,
      )
    }
    return streamOf(loaded, asker, { showing: plainShowing(asker), until: 'terminal' })
  },
  CreateTaskPushNotificationConfig: refusePush,
  GetTaskPushNotificationConfig: refusePush,
  ListTaskPushNotificationConfigs: refusePush,
  DeleteTaskPushNotificationConfig: refusePush,
  async GetExtendedAgentCard() {
    const message = 'Operation not supported: the public agent card says everything'
    throw new A2aError('UNSUPPORTED_OPERATION', message)
  },
} as const satisfies Readonly<Record<string, Operation>>

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
  if (schema !== undefined) checked(schema, params)
}

async function refusePush(): Promise<never> {
  throw pushNotSupported()
}

function pushNotSupported(): A2aError {
  const message = 'Push notifications are not supported: subscribe to the task, or get it again'
  return new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', message)
}

function checked<Schema extends TSchema>(schema: Schema, params: Params): Static<Schema> {
  const decoded = decode(schema, modernParams(params))
  if (decoded.ok) return decoded.value
  throw invalidParams(decoded.problems)
}

/** The parameters of a message, of which the answer can be given as it is asked for. */
function sendParams(params: Params): SendParams {
  const sent = checked(SendParams, params)
  const { acceptedOutputModes: modes = [], ...configuration } = sent.configuration ?? {}
  const push = configuration.taskPushNotificationConfig ?? configuration.pushNotificationConfig
  if (push !== undefined) throw pushNotSupported()
  if (MEDIA_TYPES.some((type) => takes(modes, type))) return sent
  throw new A2aError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content type: ${modes.join(', ')} is not supported. Answers are ${MEDIA_TYPES.join(' or ')}`,
  )
}

function startOrContinue(params: SendParams, asker: Asker): Promise<LoadedTask> {
  const { message } = params
  const { taskId } = message
  return taskId === undefined
    ? submitTask(params, asker)
    : continueTask({ ...message, taskId }, asker)
}

function streamOf(loaded: LoadedTask, asker: Asker, following: Omit<Following, 'signal'>): Outcome {
  const stop = new AbortController()
  const items = taskStream(loaded, asker, { ...following, signal: stop.signal })
  return { kind: 'stream', items, until: following.until, stop }
}

function showingOf({ configuration, metadata, message }: SendParams, asker: Asker): Showing {
  const { acceptedOutputModes: modes = [], historyLength } = configuration ?? {}
  const { usage, ...showing } = plainShowing(asker, { historyLength })
  const isNamed = [metadata, message.metadata].some(
    (fields) => fields !== undefined && Object.hasOwn(fields, USAGE_EXTENSION),
  )
  return { ...showing, modes, usage: usage || isNamed }
}

function plainShowing(
  { headers }: Asker,
  wanted: Pick<Showing, 'historyLength' | 'artifacts'> = {},
): Showing {
  return { modes: [], usage: activeExtensions(headers).includes(USAGE_EXTENSION), ...wanted }
}

/** Pure: the JSON-RPC methods of all versions. */
import { A2aError } from './errors.ts'
import { assertParams, OPERATIONS, type A2aOperation, type OperationName } from './operations.ts'

import type { Params } from './params.ts'
import type { A2aVersion } from './read-request.ts'

/** A method of JSON-RPC. */
export interface Method {
  readonly operation: A2aOperation
  /** Version of the objects in the answer. */
  readonly version: A2aVersion
  /** Whether results are sent as a stream. */
  readonly isStreaming: boolean
  /**
   * Checks parameters without performing the operation.
   *
   * @throws {A2aError} INVALID_PARAMS with every problem.
   */
  readonly assertParams: (params: Params) => void
}

/** Name in 0.3 or its drafts → name in 1.0. */
const LEGACY_NAMES: Readonly<Record<string, OperationName>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/list': 'ListTasks',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
}

/** Name in drafts of 1.0 → name in 1.0. */
const DRAFT_NAMES: Readonly<Record<string, OperationName>> = {
  SetTaskPushNotificationConfig: 'CreateTaskPushNotificationConfig',
  ListTaskPushNotificationConfig: 'ListTaskPushNotificationConfigs',
}

/** Names of 0.3 for the card for authenticated callers, whose absence has its own error code there. */
const LEGACY_CARD_NAMES: readonly string[] = [
  'agent/getAuthenticatedExtendedCard',
  'agent/getExtendedAgentCard',
]

const METHODS: ReadonlyMap<string, Method> = new Map([
  ...Object.keys(OPERATIONS)
    .filter(isOperation)
    .map((name) => [name, toMethod(name, '1.0')] as const),
  ...Object.entries(LEGACY_NAMES).map(([name, modern]) => [name, toMethod(modern, '0.3')] as const),
  ...Object.entries(DRAFT_NAMES).map(([name, modern]) => [name, toMethod(modern, '1.0')] as const),
  ...LEGACY_CARD_NAMES.map(
    (name) =>
      [name, { ...toMethod('GetExtendedAgentCard', '0.3'), operation: refuseCard }] as const,
  ),
])

function toMethod(operation: OperationName, version: A2aVersion): Method {
  return {
    operation: OPERATIONS[operation],
    version,
    isStreaming: operation === 'SendStreamingMessage' || operation === 'SubscribeToTask',
    assertParams: (params) => {
      assertParams(operation, params)
    },
  }
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name)
}

/**
 * Finds a method by name.
 *
 * @throws {A2aError} METHOD_NOT_FOUND.
 */
export function findMethod(name: string): Method {
  const method = METHODS.get(name)
  if (method !== undefined) return method
  throw new A2aError('METHOD_NOT_FOUND', `Method not found: "${name}"`)
}

async function refuseCard(): Promise<never> {
  throw new A2aError(
    'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    'This agent has no extended card: the public card is complete',
  )
}

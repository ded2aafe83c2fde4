/** Pure: the methods of JSON-RPC, in all versions. */
import { A2aError } from './a2a-error.ts'
import { OPERATIONS, type Operation, type OperationName } from './operations.ts'
import type { A2aVersion } from './protocol-version.ts'

/** A method: what it does, and in the objects of which version it answers. */
export interface Method {
  readonly operation: Operation
  readonly version: A2aVersion
}

/** Names of 0.3, and of its drafts, for the same. */
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

/** Names that drafts of 1.0 had for the same. */
const DRAFT_NAMES: Readonly<Record<string, OperationName>> = {
  SetTaskPushNotificationConfig: 'CreateTaskPushNotificationConfig',
  ListTaskPushNotificationConfig: 'ListTaskPushNotificationConfigs',
}

/** Names of 0.3 for the card that only those see who have a key; it had an error of its own for none. */
const LEGACY_CARD_NAMES: readonly string[] = [
  'agent/getAuthenticatedExtendedCard',
  'agent/getExtendedAgentCard',
]

const METHODS: ReadonlyMap<string, Method> = new Map([
  ...Object.entries(OPERATIONS).map(([name, operation]): [string, Method] => [
    name,
    { operation, version: '1.0' },
  ]),
  ...Object.entries(LEGACY_NAMES).map(([name, modern]): [string, Method] => [
    name,
    { operation: OPERATIONS[modern], version: '0.3' },
  ]),
  ...Object.entries(DRAFT_NAMES).map(([name, modern]): [string, Method] => [
    name,
    { operation: OPERATIONS[modern], version: '1.0' },
  ]),
  ...LEGACY_CARD_NAMES.map((name): [string, Method] => [
    name,
    { operation: refuseCard, version: '0.3' },
  ]),
])

/**
 * The method of that name.
 *
 * @throws {A2aError} METHOD_NOT_FOUND.
 */
export function methodNamed(name: string): Method {
  const method = METHODS.get(name)
  if (method !== undefined) return method
  throw new A2aError('METHOD_NOT_FOUND', `Method not found: "${name}"`)
}

async function refuseCard(): Promise<never> {
  throw new A2aError(
    'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    'There is no extended agent card: the public one says everything',
  )
}

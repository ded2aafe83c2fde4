/** Pure: what an address of REST stands for, below where the binding begins. */
import type { RestCall } from './answer-rest.ts'

/**
 * `path` as its segments, decoded: `['tasks', 'run-1:cancel']`. Undefined when it stands for nothing.
 *
 * @see https://github.com/a2aproject/A2A/blob/main/specification/a2a.proto `google.api.http`
 */
export function restCall(method: string, path: readonly string[]): RestCall | undefined {
  const [first = '', second, third, ...rest] = path
  if (rest.length > 1) return undefined
  if (first === 'tasks' && second !== undefined) {
    return third === undefined
      ? taskCall(method, second)
      : pushCall(method, { taskId: second, collection: third, id: rest[0] })
  }
  if (second !== undefined) return undefined
  switch (`${method} ${first}`) {
    case 'POST message:send':
      return { operation: 'SendMessage', params: {} }
    case 'POST message:stream':
      return { operation: 'SendStreamingMessage', params: {} }
    case 'GET tasks':
      return { operation: 'ListTasks', params: {} }
    case 'GET extendedAgentCard':
      return { operation: 'GetExtendedAgentCard', params: {} }
    default:
      return undefined
  }
}

/** `{id}`, `{id}:cancel` or `{id}:subscribe`; ids of tasks have no colon. */
function taskCall(method: string, segment: string): RestCall | undefined {
  const [id = '', verb, ...more] = segment.split(':')
  if (more.length > 0) return undefined
  const params = { id }
  if (verb === undefined) return method === 'GET' ? { operation: 'GetTask', params } : undefined
  // The proto has GET, the first clients of 1.0 send POST.
  if (verb === 'subscribe') return { operation: 'SubscribeToTask', params }
  return verb === 'cancel' && method === 'POST' ? { operation: 'CancelTask', params } : undefined
}

interface PushAddress {
  readonly taskId: string
  readonly collection: string
  readonly id: string | undefined
}

function pushCall(method: string, { taskId, collection, id }: PushAddress): RestCall | undefined {
  if (collection !== 'pushNotificationConfigs') return undefined
  const operation = PUSH_OPERATIONS[`${method} ${id === undefined ? 'all' : 'one'}`]
  return operation === undefined ? undefined : { operation, params: { taskId } }
}

const PUSH_OPERATIONS: Readonly<Record<string, RestCall['operation']>> = {
  'POST all': 'CreateTaskPushNotificationConfig',
  'GET all': 'ListTaskPushNotificationConfigs',
  'GET one': 'GetTaskPushNotificationConfig',
  'DELETE one': 'DeleteTaskPushNotificationConfig',
}

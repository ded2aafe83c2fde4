import { describe, expect, it } from 'vitest'

import { parseRestPath } from './rest.ts'

describe('parseRestPath', () => {
  it.each([
    ['POST', 'message:send', 'SendMessage', {}],
    ['POST', 'message:stream', 'SendStreamingMessage', {}],
    ['GET', 'tasks', 'ListTasks', {}],
    ['GET', 'tasks/run-1', 'GetTask', { id: 'run-1' }],
    ['POST', 'tasks/run-1:cancel', 'CancelTask', { id: 'run-1' }],
    ['GET', 'tasks/run-1:subscribe', 'SubscribeToTask', { id: 'run-1' }],
    ['POST', 'tasks/run-1:subscribe', 'SubscribeToTask', { id: 'run-1' }],
    ['GET', 'extendedAgentCard', 'GetExtendedAgentCard', {}],
    [
      'POST',
      'tasks/t/pushNotificationConfigs',
      'CreateTaskPushNotificationConfig',
      { taskId: 't' },
    ],
    ['GET', 'tasks/t/pushNotificationConfigs', 'ListTaskPushNotificationConfigs', { taskId: 't' }],
    ['GET', 'tasks/t/pushNotificationConfigs/c', 'GetTaskPushNotificationConfig', { taskId: 't' }],
    [
      'DELETE',
      'tasks/t/pushNotificationConfigs/c',
      'DeleteTaskPushNotificationConfig',
      { taskId: 't' },
    ],
  ])('parseRestPath parses %s %s as %s', (method, path, operation, params) => {
    expect(parseRestPath(method, path.split('/'))).toEqual({ operation, params })
  })

  it.each([
    ['GET', ''],
    ['GET', 'message:send'],
    ['POST', 'tasks'],
    ['POST', 'tasks/run-1'],
    ['GET', 'tasks/run-1:cancel'],
    ['POST', 'tasks/run-1:pause'],
    ['POST', 'tasks/a:b:cancel'],
    ['POST', 'message:send/more'],
    ['DELETE', 'tasks/t/pushNotificationConfigs'],
    ['GET', 'tasks/t/other'],
    ['GET', 'tasks/t/pushNotificationConfigs/c/more'],
    ['GET', 'constructor'],
    ['GET', 'tasks/t/constructor'],
  ])('parseRestPath returns undefined for %s %s', (method, path) => {
    expect(parseRestPath(method, path.split('/'))).toBeUndefined()
  })
})

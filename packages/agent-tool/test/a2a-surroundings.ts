/** What the connector over A2A is given by tests. */
import { systemClock, type Clock } from '@tutti/core'

import { testCall, type TestCall } from './test-call.ts'

import type { AgentCall, AgentConnector } from '@tutti/agent-call'

/** The way over the tasks wire, where nothing may be sent over it. */
export const noTasks: AgentConnector = {
  uri: 'https://nobody.example',
  protocol: 'tasks',
  connect: () => Promise.reject(new Error('The tasks wire was used')),
}

/** A clock on which nobody waits: what is to happen later happens in the next turn of the event loop. */
export const hurriedClock: Clock = {
  ...systemClock,
  after(_delayMs, callback) {
    const timer = setImmediate(callback)
    return () => {
      clearImmediate(timer)
    }
  },
}

/** A call on that clock. */
export function hurriedCall(facts: Partial<AgentCall> = {}): TestCall {
  return testCall({ clock: hurriedClock, ...facts })
}

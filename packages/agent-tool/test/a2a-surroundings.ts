/** What the connector over A2A is given by tests. */
import { systemClock, type Clock } from '@tutti/core'

import { testCall, type TestCall } from './test-call.ts'

import type { AgentCall } from '@tutti/agent-call'

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

/** Clock and calls for tests of the A2A connector. */
import { systemClock, type Clock } from '@tutti/core'

import { testCall, type TestCall } from './test-call.ts'

import type { AgentCall } from '@tutti/agent-call/internal'

/** Clock whose timers fire in the next turn of the event loop. */
export const hurriedClock: Clock = {
  ...systemClock,
  after(_delayMs, callback) {
    const timer = setImmediate(callback)
    return () => {
      clearImmediate(timer)
    }
  },
}

/** Creates a call with `hurriedClock`. */
export function hurriedCall(settings: Partial<AgentCall> = {}): TestCall {
  return testCall({ clock: hurriedClock, ...settings })
}

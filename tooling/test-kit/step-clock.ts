/**
 * Replaces the system clock of a process, so that it can be set: `node --import <this file>`. Affects `Date`, in worker
 * threads as well; `performance.now`, timers and the clock of SQLite's own functions continue as they are.
 */
import { BroadcastChannel } from 'node:worker_threads'

const SystemDate = Date
const channel = new BroadcastChannel('tutti-step-clock')
let stepMs = 0

const now = (): number => SystemDate.now() + stepMs

globalThis.Date = new Proxy(SystemDate, {
  apply: () => new SystemDate(now()).toString(),
  construct: (target, given, newTarget) =>
    // NOTE: a constructor returns an object; its type is that of any function.
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})

channel.unref()
channel.addEventListener('message', (event) => {
  if ('data' in event) stepMs += Number(event.data)
})

/** Sets the clock of this process by a number of milliseconds, in this thread at once. */
export function stepClock(ms: number): void {
  stepMs += ms
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins
  channel.postMessage(ms)
}

/** Metrics of the process, under the names that tools for Node expect. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

import type { Instruments } from './instruments.ts'

/** Interval at which the delay of timers is measured, in milliseconds. */
const RESOLUTION_MS = 20

/** Minimum time between resets of the delay histogram, in milliseconds. Every scrape in that time sees a peak. */
const WINDOW_MS = 10_000

const NS_PER_S = 1e9
const US_PER_S = 1e6
const MS_PER_S = 1e3

const QUANTILES = [0.5, 0.99, 1] as const

export interface ProcessMetrics {
  /** Updates gauges and counters. */
  collect(): void
  /** Stops measuring. */
  stop(): void
}

/** Starts measuring this process. */
export function measureProcess(instruments: Instruments): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let resetAt = performance.now()
  let cpuBefore = 0
  let busyBefore = 0
  return {
    collect() {
      const { memory, heap, external, cpu, started, loopLag, loopBusy } = instruments
      const used = process.memoryUsage()
      memory.set({}, used.rss)
      heap.set({}, used.heapUsed)
      external.set({}, used.external)
      const { user, system } = process.cpuUsage()
      const cpuSeconds = (user + system) / US_PER_S
      cpu.add({}, cpuSeconds - cpuBefore)
      cpuBefore = cpuSeconds
      const busySeconds = performance.eventLoopUtilization().active / MS_PER_S
      loopBusy.add({}, busySeconds - busyBefore)
      busyBefore = busySeconds
      started.set({}, performance.timeOrigin / MS_PER_S)
      for (const quantile of QUANTILES) {
        const lateNs = delay.count === 0 ? 0 : delay.percentile(quantile * 100)
        // The histogram holds the interval of the timer, so a punctual timer shows the resolution.
        const seconds = Math.max(0, lateNs / NS_PER_S - RESOLUTION_MS / MS_PER_S)
        loopLag.set({ quantile: String(quantile) }, seconds)
      }
      if (performance.now() - resetAt < WINDOW_MS) return
      resetAt = performance.now()
      delay.reset()
    },
    stop() {
      delay.disable()
    },
  }
}

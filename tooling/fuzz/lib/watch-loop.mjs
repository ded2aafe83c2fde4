/**
 * Preloaded into the server under test: reports every stall of its event loop to the parent process.
 *
 * A stall is a gap between two ticks of a timer in which the main thread itself computed. Time in which the machine
 * ran other processes does not count.
 */
const TICK_MS = 20

/** Minimum stall to report, in milliseconds of processor time of the main thread. */
const REPORTED_MS = 50

if (process.send !== undefined) {
  let before = process.threadCpuUsage()
  const timer = setInterval(() => {
    const usage = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const busyMs = (usage.user + usage.system) / 1_000
    const gapMs = performance.now() - lastAt
    lastAt = performance.now()
    const stalledMs = Math.min(busyMs, gapMs - TICK_MS)
    if (stalledMs >= REPORTED_MS) process.send({ stalledMs, at: Date.now() })
  }, TICK_MS)
  let lastAt = performance.now()
  timer.unref()
  process.channel?.unref()
}

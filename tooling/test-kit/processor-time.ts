/** Measures work in tests, independently of other processes. */

/** Starts to measure. Returns a function that returns the processor time of this process since then, in milliseconds. */
export function processorTimer(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}

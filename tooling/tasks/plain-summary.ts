/**
 * Ends a test run with its flaky tests and one machine-readable line: `N passed, N failed, N skipped`. Records the
 * durations of its files, by which the next run is ordered.
 */
import { recordDurations } from './test-durations.ts'

import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Prints the lines. */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1
        if (test.diagnostic()?.flaky === true) {
          console.log(`Flaky, passed when repeated: ${module.relativeModuleId} > ${test.fullName}`)
        }
      }
      counts.failed += module.errors().length
    }
    recordDurations(
      modules.map((module) => ({
        project: module.project.name,
        path: module.relativeModuleId,
        ms: module.diagnostic().duration,
      })),
    )
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  }
}

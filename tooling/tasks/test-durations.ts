/**
 * Durations of test files, by which the next run is ordered. A run records those of its files in the cache folder, which
 * CI restores. A clone without that folder starts with the durations in `test-durations.json`, a copy of it.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Project → path of the file → seconds. */
export type TestDurations = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A file that a run has executed. */
interface TimedFile {
  readonly project: string
  /** Path from the root of the repository. */
  readonly path: string
  readonly ms: number
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FIRST = fileURLToPath(new URL('test-durations.json', import.meta.url))
const RECORDED = join(ROOT, '.cache/test-durations.json')

/** Returns the recorded durations, or those of the repository if no run was recorded. */
export function readDurations(): TestDurations {
  // NOTE: only this module writes these files.
  return JSON.parse(readFileSync(existsSync(RECORDED) ? RECORDED : FIRST, 'utf8')) as TestDurations
}

/** Records the durations of the files of a run, in whole seconds; those of other files stay while the files exist. */
export function recordDurations(files: readonly TimedFile[]): void {
  mkdirSync(dirname(RECORDED), { recursive: true })
  const durations = addDurations(withoutDeleted(readDurations()), files)
  // Another run may read or write it.
  const draft = `${RECORDED}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(durations, null, 2)}\n`)
  renameSync(draft, RECORDED)
}

/** Returns the durations of the files that exist. */
function withoutDeleted(durations: TestDurations): TestDurations {
  return Object.fromEntries(
    Object.entries(durations).map(([project, seconds]) => [
      project,
      Object.fromEntries(Object.entries(seconds).filter(([path]) => existsSync(join(ROOT, path)))),
    ]),
  )
}

/** Returns `durations` with those of `files`, the longest first. Files of less than half a second are left out. */
export function addDurations(durations: TestDurations, files: readonly TimedFile[]): TestDurations {
  const all = new Map(
    Object.entries(durations).map(([project, seconds]) => [
      project,
      new Map(Object.entries(seconds)),
    ]),
  )
  for (const { project, path, ms } of files) {
    const seconds = all.get(project) ?? new Map<string, number>()
    all.set(project, seconds.set(path, Math.round(ms / 1_000)))
  }
  return Object.fromEntries(
    [...all].map(([project, seconds]) => [
      project,
      Object.fromEntries(
        [...seconds].filter(([, one]) => one > 0).toSorted(([, a], [, b]) => b - a),
      ),
    ]),
  )
}

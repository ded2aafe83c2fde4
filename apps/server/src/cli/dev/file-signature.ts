import { statSync } from 'node:fs'

/** What tells one state of a file from another; the same for every file that is not there. */
export function signatureOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? 'none' : `${stats.mtimeNs}:${stats.size}:${stats.ino}`
}

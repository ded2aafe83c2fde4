/** Pure: names and contents of exported files. */
import type { LoggedRunEvent } from '@tutti/protocol'

/** `<ensemble>-<runId>`, of characters that every file system takes. */
export function exportName(ensemble: string | undefined, runId: string): string {
  const safe = (ensemble ?? 'run').replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[.-]+/, '')
  return `${safe === '' ? 'run' : safe.slice(0, 80)}-${runId}`
}

/** One event a line. */
export function ndjsonOf(events: readonly LoggedRunEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}

/** Pure: the title of the page of a run, for who has many pages open. */
import { RUN_STATUS } from '../../api/words.ts'

import type { MarkKind } from '../../ui/show/mark.tsx'
import type { RunStatus } from '@tutti/protocol'

/** Signs that every font has, as a title has no marks. */
const SIGNS: Readonly<Record<MarkKind, string>> = {
  queued: '○',
  live: '●',
  stopping: '◐',
  held: '◆',
  done: '✓',
  failed: '✕',
  stopped: '■',
  skipped: '–',
}

/** `● Running — briefing`. */
export function runTitle(status: RunStatus, name: string): string {
  const { mark, word } = RUN_STATUS[status]
  return `${SIGNS[mark]} ${word} — ${name}`
}

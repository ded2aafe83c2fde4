/** Pure: what is said of the connection of a run's page. */
import { isTerminalRunStatus, type RunStatus } from '@tutti/protocol'

import type { RunFeedState } from '../../api/run-feed.ts'

const WORDS: Readonly<Record<RunFeedState['connection'], string>> = {
  connecting: 'Connecting…',
  open: '',
  reconnecting: 'Reconnecting…',
  closed: 'Not connected: load the page again to go on',
}

/** Nothing while it is open, and when there is nothing more to hear: the connection ends with the run. */
export function connectionWords(
  connection: RunFeedState['connection'],
  status: RunStatus,
  isReplay: boolean,
): string {
  if (isTerminalRunStatus(status)) return ''
  // In a replay the run may be over already.
  return isReplay && connection === 'closed' ? '' : WORDS[connection]
}

/** Pure: cursors of lists by change, which are the position of the last run of a page. */
import { Type } from '@tutti/core'
import { decode } from '@tutti/protocol'
import { MAX_TIME_MS } from '@tutti/protocol/internal'

import type { ChangedRun } from '@tutti/runs/adapter'

/** Returns the cursor of the page after a run. */
export function encodeChangeCursor({ changedAt, runId }: ChangedRun): string {
  return Buffer.from(JSON.stringify([changedAt, runId])).toString('base64url')
}

const CursorText = Type.Tuple([Type.Integer({ minimum: 0, maximum: MAX_TIME_MS }), Type.String()])

/** Returns the position that a cursor contains; undefined for a text that is not one. */
export function decodeChangeCursor(cursor: string): ChangedRun | undefined {
  const decoded = decode(CursorText, parseOrUndefined(Buffer.from(cursor, 'base64url').toString()))
  return decoded.ok ? { changedAt: decoded.value[0], runId: decoded.value[1] } : undefined
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The place of the row that the reader has chosen, from when it is there; a choice counts once. */
import { useState } from 'react'

import { rowKey, type TranscriptRow } from './transcript-rows.ts'

import type { Selection } from '../../api/selection.ts'

/** The key of the chosen row; undefined when a whole task is chosen. */
export function chosenKey(selection: Selection | undefined): string | undefined {
  if (selection?.iterationIndex === undefined) return undefined
  return rowKey(selection.iterationIndex, selection.toolCallId)
}

/** Index of the chosen row as it was when it was first there; undefined when there is none. */
export function useReveal(
  rows: readonly TranscriptRow[],
  key: string | undefined,
): number | undefined {
  const [found, setFound] = useState<{ readonly key: string; readonly index: number }>()
  const isNew = key !== undefined && found?.key !== key
  const index = isNew ? rows.findIndex((row) => row.key === key) : -1
  if (isNew && index >= 0) setFound({ key, index })
  return found?.key === key ? found?.index : undefined
}

/** Labels of manual tool calls. */
import { CALL_STATUS, type Shown } from '../../ui/labels.ts'

import type { BenchCall } from './tool-memory.ts'

/** Returns the label of a call. */
export function labelCall({ outcome }: BenchCall): Shown {
  if (outcome.kind === 'running') return CALL_STATUS.RUNNING
  if (outcome.kind === 'failed') return { mark: 'failed', word: 'No result' }
  return CALL_STATUS[outcome.answer.status === 'SUCCESS' ? 'SUCCEEDED' : 'FAILED']
}

const INPUT_SHOWN = 120

export function formatInputLine({ input }: BenchCall): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN)}…` : text
}

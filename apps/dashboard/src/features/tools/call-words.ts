/** How a call by hand is shown. */
import { CALL_STATUS, type Shown } from '../../ui/labels.ts'

import type { BenchCall } from './tool-memory.ts'

/** The mark and word of a call. */
export function callShown({ outcome }: BenchCall): Shown {
  if (outcome.kind === 'running') return CALL_STATUS.RUNNING
  if (outcome.kind === 'failed') return { mark: 'failed', word: 'Not called' }
  return CALL_STATUS[outcome.answer.status === 'SUCCESS' ? 'SUCCEEDED' : 'FAILED']
}

const INPUT_SHOWN = 120

export function inputLine({ input }: BenchCall): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN)}…` : text
}

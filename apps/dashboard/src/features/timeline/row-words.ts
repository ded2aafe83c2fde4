/** Pure: a row in one sentence, for who cannot see it. */
import { taskShown } from '../../api/words.ts'
import { formatDuration, plural } from '../../lib/format.ts'
import { offsetLabel } from './ruler-ticks.ts'

import type { Times } from './span-words.ts'
import type { TimelineRow } from './timeline-model.ts'

/** What happened in a task, and when. */
export function rowWords(row: TimelineRow, { startMs, nowMs }: Times): string {
  const { task, attempts, gates, lanes } = row
  const [models = [], ...others] = lanes
  const calls = others.flat()
  const agents = calls.filter(({ kind }) => kind === 'agent')
  const tools = agents.length === 0 ? calls : calls.filter(({ kind }) => kind === 'tool')
  const isHeld = gates.some(({ endMs }) => endMs === undefined)
  const heldMs = gates.reduce((sum, gate) => sum + (gate.endMs ?? nowMs) - gate.startMs, 0)
  const [first] = attempts
  const last = attempts.at(-1)
  const lastMs = last?.endMs ?? nowMs
  return [
    `${task.name}: ${taskShown(task, isHeld).word}`,
    first === undefined ? '' : `began ${offsetLabel(first.startMs - startMs)} into the run`,
    first === undefined ? '' : `${formatDuration(lastMs - first.startMs)} long`,
    attempts.length > 1 ? plural(attempts.length, 'attempt') : '',
    counted(models, 'model call'),
    counted(tools, 'tool call'),
    counted(agents, 'agent call'),
    gates.length === 0
      ? ''
      : `held for ${formatDuration(heldMs)} by ${plural(gates.length, 'review')}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function counted(spans: readonly { readonly status: string }[], name: string): string {
  if (spans.length === 0) return ''
  const failed = spans.filter(({ status }) => status === 'failed').length
  return `${plural(spans.length, name)}${failed === 0 ? '' : `, ${failed} of them failed`}`
}

/** The calls of a tool in this visit, to be looked at and made again. */
import { RotateCcw } from 'lucide-react'

import { formatDuration } from '../../lib/format.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { callShown, inputLine } from './call-words.ts'
import styles from './tools.module.css'

import type { ToolCall } from './tool-memory.ts'

/** The list, newest first. */
export function CallList({
  calls,
  chosen,
  isBusy,
  onChoose,
  onAgain,
}: {
  readonly calls: readonly ToolCall[]
  readonly chosen: number | undefined
  readonly isBusy: boolean
  /** Shows a call again, with its input in the form. */
  readonly onChoose: (call: ToolCall) => void
  readonly onAgain: (call: ToolCall) => void
}) {
  return (
    <ol className={styles['calls']} aria-label="Calls of this visit">
      {calls.map((call) => (
        <li key={call.id} className={styles['call']}>
          <button
            type="button"
            aria-current={call.id === chosen ? 'true' : undefined}
            onClick={() => onChoose(call)}
          >
            <Mark kind={callShown(call).mark} label={callShown(call).word} />
            <code>{inputLine(call)}</code>
            <span className={styles['figure']}>
              {call.outcome.kind === 'answered' && formatDuration(call.outcome.answer.durationMs)}
            </span>
            <span className={styles['soft']}>
              <Ago at={new Date(call.startedAt).toISOString()} />
            </span>
          </button>
          <IconButton
            label={`Call again with ${inputLine(call)}`}
            icon={<RotateCcw />}
            disabled={isBusy}
            onClick={() => onAgain(call)}
          />
        </li>
      ))}
    </ol>
  )
}

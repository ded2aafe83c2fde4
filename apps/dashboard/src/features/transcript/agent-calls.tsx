/** What a tool call has asked of another agent, try by try. */
import { AGENT_CALL_STATUS } from '../../api/words.ts'
import { formatMoney, plural } from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import styles from './agent-calls.module.css'

import type { AgentCallState } from '@tutti/protocol'

/** The tries of a call, in order. */
export function AgentCalls({ calls }: { readonly calls: readonly AgentCallState[] }) {
  return (
    <ul aria-label="Calls to another agent" className={styles['calls']}>
      {calls.map((call) => (
        <AgentCall key={call.retryIndex} call={call} />
      ))}
    </ul>
  )
}

function AgentCall({ call }: { readonly call: AgentCallState }) {
  const { mark, word } = AGENT_CALL_STATUS[call.status]
  const { status, startedAt, completedAt, mode, protocol, chunks, turns, costUsd, error } = call
  const brought = [
    ...(call.retryIndex > 0 ? [`try ${call.retryIndex + 1}`] : []),
    mode,
    protocol,
    ...(mode === 'streaming' || chunks > 0 ? [plural(chunks, 'chunk')] : []),
    ...(mode === 'conversational' ? [plural(turns, 'turn')] : []),
    ...(costUsd > 0 ? [formatMoney(costUsd)] : []),
  ]
  return (
    <li className={styles['call']}>
      <Mark kind={mark} />
      <span>{word}</span>
      <code className={styles['address']} title={call.agentUri}>
        {call.agentUri}
      </code>
      <span className={styles['facts']}>{brought.join(' · ')}</span>
      <span className={styles['span']}>
        <Elapsed
          since={startedAt}
          ms={status === 'RUNNING' ? null : spanOf(startedAt, completedAt)}
        />
      </span>
      {error !== undefined && <p className={styles['error']}>{error}</p>}
    </li>
  )
}

/** NaN is a span that is over and not known. */
function spanOf(startedAt: string | undefined, completedAt: string | undefined): number {
  return Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '')
}

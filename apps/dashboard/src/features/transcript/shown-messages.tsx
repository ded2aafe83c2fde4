/** What a model was shown: the last messages of the conversation. */
import { formatCount } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText } from '../../ui/show/json-view.tsx'
import { Text } from '../../ui/show/text.tsx'
import styles from './shown-messages.module.css'
import { oneLine } from './text-shape.ts'

import type { LlmMessage, TurnState } from '@tutti/protocol'

const ROLES: Readonly<Record<LlmMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Model',
  tool: 'Tool',
}

/** The messages, folded; a message is made when it is unfolded. */
export function ShownMessages({
  turn: { iterationIndex, messages, totalMessageCount },
}: {
  readonly turn: TurnState
}) {
  if (messages.length === 0) return null
  const first = totalMessageCount - messages.length
  const name = `messages-${iterationIndex}`
  const count =
    first > 0
      ? `the last ${messages.length} of ${formatCount(totalMessageCount)} messages`
      : `${messages.length} messages`
  return (
    <Fold
      name={name}
      className={styles['messages']}
      summary={<span className={styles['quiet']}>Was shown {count}</span>}
    >
      {() => (
        <ol start={first + 1} className={styles['list']}>
          {messages.map((message, at) => (
            <li key={first + at}>
              <Message name={`${name}-${at}`} message={message} />
            </li>
          ))}
        </ol>
      )}
    </Fold>
  )
}

function Message({ name, message }: { readonly name: string; readonly message: LlmMessage }) {
  const { role, content, toolCalls, toolName } = message
  const calls = toolCalls ?? []
  const gist = [content ?? '', ...calls.map((call) => `${call.name}(${call.arguments})`)]
  return (
    <Fold
      name={name}
      summary={
        <span className={styles['message']}>
          <span className={styles['role']}>{toolName ?? ROLES[role]}</span>
          <span className={styles['gist']}>{oneLine(gist.filter(Boolean).join(' '))}</span>
        </span>
      }
    >
      {() => (
        <div className={styles['whole']}>
          {content !== null && content !== '' && <Whole role={role} content={content} />}
          {calls.map((call, at) => (
            <div key={call.id ?? at}>
              <code>{call.name}</code>
              <JsonText text={call.arguments} label={`the arguments of ${call.name}`} />
            </div>
          ))}
        </div>
      )}
    </Fold>
  )
}

function Whole({ role, content }: { readonly role: LlmMessage['role']; readonly content: string }) {
  if (role === 'tool') return <JsonText text={content} label="the message" />
  return <Text>{content}</Text>
}

/** Shows the input of a task, folded. */
import { memo } from 'react'

import { Fold } from '../../ui/layout/fold.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import styles from './transcript.module.css'
import { toOneLine } from './text-blocks.ts'

import type { TaskState } from '@tutti/protocol/internal'

interface GivenRowProps {
  readonly task: TaskState
  readonly onOpen: (taskName: string) => void
}

/** The description and, unfolded, the other input; `onOpen` shows another task. */
export const GivenRow = memo(
  function GivenRow({ task, onOpen }: GivenRowProps) {
    return (
      <div className={styles['given']}>
        <Fold
          name="given"
          isOpenAtFirst={task.status === 'PENDING'}
          summary={
            <span className={styles['line']}>
              <span className={styles['strong']}>Input</span>
              <span className={styles['gist']}>{toOneLine(task.description)}</span>
            </span>
          }
        >
          {() => <Given task={task} onOpen={onOpen} />}
        </Fold>
      </div>
    )
  },
  (before, after) =>
    before.onOpen === after.onOpen &&
    GIVEN.every((field) => before.task[field] === after.task[field]),
)

/** Fields of a task that this row shows; streaming text changes none of them. */
const GIVEN = [
  'description',
  'expectedOutput',
  'agentRole',
  'input',
  'context',
  'status',
] as const satisfies readonly (keyof TaskState)[]

interface GivenProps {
  readonly task: TaskState
  readonly onOpen: (taskName: string) => void
}

function Given({ task: { description, expectedOutput, input, context }, onOpen }: GivenProps) {
  const parts: readonly (readonly [string, string | null | undefined])[] = [
    ['Description', description],
    ['Expected output', expectedOutput],
    ['Goal', input?.agentGoal],
    ['Background', input?.agentBackground],
    ['Tools', input?.toolNames.join(', ')],
    ['Context', input?.assembledContext],
  ]
  return (
    <dl className={styles['parts']}>
      {parts.map(([name, text]) =>
        text === undefined || text === null || text === '' ? null : (
          <Part key={name} name={name} text={text} />
        ),
      )}
      {context.length > 0 && (
        <div className={styles['part']}>
          <dt>Output of</dt>
          <dd className={styles['tasks']}>
            {context.map((name) => (
              <button
                key={name}
                type="button"
                className={styles['link']}
                onClick={() => onOpen(name)}
              >
                {name}
              </button>
            ))}
          </dd>
        </div>
      )}
    </dl>
  )
}

function Part({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div className={styles['part']}>
      <dt>{name}</dt>
      <dd>
        <Text>{text}</Text>
      </dd>
      <CopyButton text={text} label={`Copy ${name.toLowerCase()}`} />
    </div>
  )
}

/** Shows a task of two runs: status and usage of each, and the texts and tool calls that differ. */
import { linkToRun } from '../../api/links.ts'
import { cx } from '../../lib/cx.ts'
import { formatBytes, formatCount, formatDuration, formatMoney } from '../../lib/format.ts'
import { CALL_STATUS, describeEarlyEnd, labelTask } from '../../ui/labels.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { DiffColumns } from '../../ui/show/diff-view.tsx'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Mark, Marked } from '../../ui/show/mark.tsx'
import { Text } from '../../ui/show/text.tsx'
import hidden from '../../ui/show/visually-hidden.module.css'
import { describeTaskChange, isSameTask } from './compare-texts.ts'
import styles from './compare.module.css'

import type {
  ComparedCall,
  ComparedCallPair,
  ComparedTask,
  ComparedTaskSide,
  ComparedText,
} from '@tutti/protocol/internal'

interface ComparedTaskViewProps {
  readonly task: ComparedTask
  readonly a: string
  readonly b: string
}

/** The task; `a` and `b` are the ids of the runs. */
export function ComparedTaskView({ task, a, b }: ComparedTaskViewProps) {
  const { name, calls } = task
  return (
    <article aria-label={name} className={styles['comparedTask']}>
      <Fold
        name={name}
        isOpenAtFirst={!isSameTask(task)}
        summary={
          <span className={styles['title']}>
            <strong>{name}</strong>
            <span className={styles['soft']}>{describeTaskChange(task)}</span>
          </span>
        }
      >
        {() => (
          <div className={styles['body']}>
            <div className={styles['columns']}>
              <Side letter="A" side={task.a} href={linkToRun(a, { task: name })} />
              <Side letter="B" side={task.b} href={linkToRun(b, { task: name })} />
            </div>
            <Texts
              label="description"
              isSame={task.sameDescription}
              a={task.a?.description}
              b={task.b?.description}
            />
            <Texts label="output" isSame={task.sameOutput} a={task.a?.output} b={task.b?.output} />
            {calls.length > 0 && <Calls calls={calls} />}
          </div>
        )}
      </Fold>
    </article>
  )
}

interface SideProps {
  readonly letter: 'A' | 'B'
  readonly side: ComparedTaskSide | undefined
  readonly href: string
}

function Side({ letter, side, href }: SideProps) {
  if (side === undefined) {
    return <p className={cx(styles['side'], styles['soft'])}>{letter} does not have this task.</p>
  }
  const { mark, word } = labelTask({ status: side.status }, undefined)
  const ended = describeEarlyEnd(side.finishReason)
  return (
    <div role="group" aria-label={`${letter}: status and usage`} className={styles['side']}>
      <p className={styles['taskFacts']}>
        <span className={styles['letter']}>{letter}</span>
        <Marked kind={mark}>{word}</Marked>
        {side.reused === true && <span className={styles['badge']}>Reused</span>}
        {side.attempt > 1 && <span className={styles['soft']}>Attempt {side.attempt}</span>}
        <a href={href}>
          Transcript<span className={hidden['hidden']}>{` of ${letter}`}</span>
        </a>
      </p>
      {side.delegatedBy !== undefined && (
        <p className={styles['soft']}>Delegated by {side.delegatedBy}</p>
      )}
      {ended !== undefined && <p className={styles['soft']}>{ended}</p>}
      {side.error !== undefined && <p className={styles['error']}>{side.error}</p>}
      <Figures>
        <Figure name="Duration">{formatDuration(side.durationMs)}</Figure>
        <Figure name="Tokens">{formatCount(side.tokens)}</Figure>
        <Figure name="Cost">{formatMoney(side.costUsd)}</Figure>
        <Figure name="Model calls">{formatCount(side.modelCalls)}</Figure>
        <Figure name="Tool calls">{formatCount(side.toolCalls)}</Figure>
      </Figures>
    </div>
  )
}

interface TextsProps {
  readonly label: string
  /** Undefined if one of them does not exist. */
  readonly isSame: boolean | undefined
  readonly a: ComparedText | undefined
  readonly b: ComparedText | undefined
}

/** A text of both tasks: once if it is equal, otherwise as a diff. */
function Texts({ label, isSame, a, b }: TextsProps) {
  const text = a ?? b
  if (text === undefined) return null
  const title = label.charAt(0).toUpperCase() + label.slice(1)
  if (isSame === true) {
    return (
      <section aria-label={title} className={styles['part']}>
        <h3>
          {title} <span className={styles['soft']}>equal</span>
        </h3>
        <div className={styles['text']}>
          <Text>{text.text}</Text>
        </div>
        <CutNote texts={[text]} />
      </section>
    )
  }
  return (
    <section aria-label={title} className={styles['part']}>
      <h3>{title}</h3>
      <DiffColumns before={a?.text ?? ''} after={b?.text ?? ''} label={label} />
      <CutNote texts={[a, b]} />
    </section>
  )
}

/** Says that only the start of a text is shown. */
function CutNote({ texts }: { readonly texts: readonly (ComparedText | undefined)[] }) {
  const cut = texts.filter((text) => text?.cut === true)
  if (cut.length === 0) return null
  const sizes = [...new Set(cut.map((text) => formatBytes(text?.bytes ?? 0)))].join(' and ')
  return <p className={styles['soft']}>Only the start of {sizes} is compared.</p>
}

function Calls({ calls }: { readonly calls: readonly ComparedCallPair[] }) {
  return (
    <section aria-label="Tool calls" className={styles['part']}>
      <h3>Tool calls</h3>
      <ol className={styles['calls']}>
        {calls.map((pair, index) => (
          // Calls have no identity other than their index.
          <li key={`${index}`} className={styles['columns']}>
            <Call letter="A" call={pair.a} isChanged={pair.sameInput !== true} />
            <Call letter="B" call={pair.b} isChanged={pair.sameInput !== true} />
          </li>
        ))}
      </ol>
    </section>
  )
}

interface CallProps {
  readonly letter: 'A' | 'B'
  readonly call: ComparedCall | undefined
  readonly isChanged: boolean
}

function Call({ letter, call, isChanged }: CallProps) {
  if (call === undefined) {
    return <p className={cx(styles['call'], styles['none'])}>{letter} did not make this call.</p>
  }
  const { toolName, input, outcome, durationMs, reused } = call
  const { mark, word } = CALL_STATUS[outcome === 'SUCCESS' ? 'SUCCEEDED' : 'FAILED']
  return (
    <div className={cx(styles['call'], isChanged && styles[letter === 'A' ? 'removed' : 'added'])}>
      <p className={styles['taskFacts']}>
        <span className={hidden['hidden']}>{letter}: </span>
        <Mark kind={mark} label={word} />
        <code>{toolName}</code>
        {reused === true && <span className={styles['badge']}>Reused</span>}
        <span className={styles['time']}>{formatDuration(durationMs)}</span>
      </p>
      {input !== undefined && (
        <code className={styles['arguments']}>
          {input.text}
          {input.cut === true && '…'}
        </code>
      )}
    </div>
  )
}

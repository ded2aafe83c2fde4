/** A thread as a conversation: the messages of its runs, live, and a field for the next one. */
import { useThread, type ThreadView } from '@tutti/react'
import type { LiveThreadRun } from '@tutti/react/internal'
import { isTerminalRunStatus } from '@tutti/protocol'
import { ArrowLeft } from 'lucide-react'
import { useEffect, useRef } from 'react'

import { findFailureCode, readFailureText } from '../../api/failure.ts'
import { linkToRun, linkToThreads } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { formatShortId } from '../../lib/format.ts'
import { LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { RUN_STATUS } from '../../ui/labels.ts'
import { Marked } from '../../ui/show/mark.tsx'
import { Text } from '../../ui/show/text.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { MessageForm } from './message-form.tsx'
import styles from './threads.module.css'

export function Conversation({
  threadId,
  title = threadId,
}: {
  readonly threadId: string
  readonly title: string | undefined
}) {
  const thread = useThread(threadId)
  const missing = useMissingScope('runs:write')
  const { runs, isLoading, error } = thread
  if (runs.length === 0 && error !== undefined) return <Unavailable {...{ threadId, error }} />
  return (
    <section className={styles['conversation']} aria-label={title}>
      <header className={styles['top']}>
        <LinkButton
          kind="quiet"
          size="s"
          icon={<ArrowLeft />}
          href={linkToThreads()}
          className={styles['back']}
        >
          Threads
        </LinkButton>
        <h1>{title}</h1>
      </header>
      <Messages thread={thread} />
      {error !== undefined && (
        <Notice tone="failed" title="This thread may be out of date">
          <p>{readFailureText(error)}</p>
        </Notice>
      )}
      {missing === undefined && !isLoading && <MessageForm thread={thread} />}
    </section>
  )
}

function Unavailable({ threadId, error }: { readonly threadId: string; readonly error: Error }) {
  const isUnknown = findFailureCode(error) === 'THREAD_NOT_FOUND'
  return (
    <Empty
      isPage
      title={isUnknown ? `Thread "${threadId}" not found` : 'Failed to load the thread'}
      actions={<LinkButton href={linkToThreads()}>Go to threads</LinkButton>}
    >
      {isUnknown ? 'It may have been deleted.' : readFailureText(error)}
    </Empty>
  )
}

/** The messages, which stay scrolled to the end while the reader is at the end. */
function Messages({ thread: { runs, hasMore, isLoading } }: { readonly thread: ThreadView }) {
  const list = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = list.current
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [runs])
  return (
    <div
      ref={list}
      role="log"
      aria-label="Messages"
      // Scrollable regions need to be reachable by keyboard.
      tabIndex={0}
      className={styles['messages']}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END
      }}
    >
      {isLoading && <Loading label="Loading the thread" />}
      {hasMore && <p className={styles['soft']}>Older messages are not shown.</p>}
      {!isLoading && runs.length === 0 && (
        <Empty title="No messages yet">Submit a run with the id of this thread.</Empty>
      )}
      {runs.map((run) => (
        <RunMessagesView key={run.runId} run={run} />
      ))}
    </div>
  )
}

/** Distance to the end within which the messages follow the newest text, in pixels. */
const NEAR_END = 40

function RunMessagesView({ run }: { readonly run: LiveThreadRun }) {
  const { runId, status, ensemble, submittedAt, userMessage, assistantMessage, error } = run
  const { mark, word } = RUN_STATUS[status]
  const isOver = isTerminalRunStatus(status)
  return (
    <article className={styles['run']} aria-busy={!isOver}>
      <div className={styles['asked']}>{userMessage}</div>
      {assistantMessage !== undefined && (
        <div className={styles['answered']}>
          <Text kind={isOver ? 'markdown' : 'prose'}>{assistantMessage}</Text>
        </div>
      )}
      {error !== undefined && <p className={styles['error']}>{error}</p>}
      <p className={styles['soft']}>
        <Marked kind={mark}>{word}</Marked>
        {' · '}
        <a href={linkToRun(runId)}>
          {ensemble} <code title={runId}>{formatShortId(runId)}</code>
        </a>
        {' · '}
        <Ago at={submittedAt} />
      </p>
    </article>
  )
}

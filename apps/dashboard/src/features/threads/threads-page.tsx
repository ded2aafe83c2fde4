/** Threads page: the list, and the selected thread. */
import { useThreads } from '@tutti/react'
import { Plus } from 'lucide-react'

import { readFailureText } from '../../api/failure.ts'
import { linkToThreads } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { cx } from '../../lib/cx.ts'
import { formatPlural } from '../../lib/format.ts'
import { goTo } from '../../lib/router.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { RUN_STATUS } from '../../ui/labels.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { Conversation } from './conversation.tsx'
import styles from './threads.module.css'

import type { Thread } from '@tutti/protocol'

/** Maximum number of threads that are shown. */
const MAX_SHOWN = 500

/** The page; `threadId` is the chosen thread. */
export function ThreadsPage({ threadId }: { readonly threadId: string | undefined }) {
  const { data, error, refresh } = useThreads({ limit: MAX_SHOWN })
  return (
    <div className={cx(styles['page'], threadId !== undefined && styles['chosen'])}>
      <nav className={styles['side']} aria-label="Choose a thread">
        <div className={styles['head']}>
          {/* The chosen thread provides the heading of the page. */}
          {threadId === undefined ? <h1>Threads</h1> : <p className={styles['heading']}>Threads</p>}
          <NewThread onCreated={refresh} />
        </div>
        {error !== undefined && (
          <Notice tone="failed" title="Failed to load the threads">
            <p>{readFailureText(error)}</p>
          </Notice>
        )}
        {data === undefined && error === undefined && <Loading label="Loading threads" />}
        {data?.threads.length === 0 && (
          <Empty title="No threads yet">A thread is a conversation that consists of runs.</Empty>
        )}
        {data !== undefined && <ThreadLinks threads={data.threads} chosen={threadId} />}
      </nav>
      {threadId === undefined ? (
        <div className={styles['unchosen']}>
          <Empty title="Choose a thread">Its runs are shown as a conversation.</Empty>
        </div>
      ) : (
        <Conversation
          key={threadId}
          threadId={threadId}
          title={data?.threads.find((one) => one.threadId === threadId)?.title}
        />
      )}
    </div>
  )
}

/** The button that creates a thread, for keys that may do so. */
function NewThread({ onCreated }: { readonly onCreated: () => void }) {
  const { client } = useServer()
  const missing = useMissingScope('runs:write')
  if (missing !== undefined) return null
  const create = async (): Promise<void> => {
    try {
      const { threadId } = await client.threads.create()
      onCreated()
      goTo(linkToThreads(threadId))
    } catch (error) {
      toast(readFailureText(error), 'failed')
    }
  }
  return (
    <Button size="s" icon={<Plus />} onClick={() => void create()}>
      New thread
    </Button>
  )
}

function ThreadLinks({
  threads,
  chosen,
}: {
  readonly threads: readonly Thread[]
  readonly chosen: string | undefined
}) {
  return (
    <ul className={styles['list']} aria-label="Threads">
      {threads.map(({ threadId, title = threadId, updatedAt, runCount, newestRun }) => (
        <li key={threadId}>
          <a href={linkToThreads(threadId)} aria-current={threadId === chosen ? 'page' : undefined}>
            <span className={styles['title']}>
              {newestRun !== undefined && (
                <Mark
                  kind={RUN_STATUS[newestRun.status].mark}
                  label={RUN_STATUS[newestRun.status].word}
                />
              )}
              {title}
            </span>
            <span className={styles['soft']}>
              {formatPlural(runCount, 'run')} · <Ago at={updatedAt} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

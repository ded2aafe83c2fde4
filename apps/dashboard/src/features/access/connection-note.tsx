/** Whether the page hears from its server. */
import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { cx } from '../../lib/cx.ts'
import { useNow } from '../../lib/use-now.ts'
import { useStore } from '../../lib/store.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import unseen from '../../ui/show/unseen.module.css'
import styles from './connection-note.module.css'

import type { FeedConnection } from '../../api/server-feed.ts'

/** Nothing while all is well; a word when not. What is read out changes with the state alone. */
export function ConnectionNote() {
  const { feed } = useServer()
  const connection = useStore(feed.connection)
  const { status, losses } = connection
  return (
    <div className={cx(styles['note'], styles[status])}>
      {status !== 'open' && <Mark kind={status === 'closed' ? 'failed' : 'queued'} />}
      <span role="status" className={status === 'open' ? unseen['unseen'] : undefined}>
        {status === 'open' && losses > 0 && 'Connected again'}
        {status === 'connecting' && 'Connecting…'}
        {status === 'reconnecting' && 'Connection lost'}
        {status === 'closed' && 'Not connected'}
      </span>
      {status === 'reconnecting' && <NextTry {...connection} />}
      {status === 'closed' && (
        <>
          <span className={styles['why']}>{failureText(connection.error)}</span>
          <Button size="s" onClick={() => location.reload()}>
            Load again
          </Button>
        </>
      )}
    </div>
  )
}

/** Seconds that go by are not read out. */
function NextTry({ retryAt = 0 }: Pick<FeedConnection, 'retryAt'>) {
  const seconds = Math.ceil((retryAt - useNow()) / 1_000)
  return (
    <span aria-hidden className={styles['next']}>
      {seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting…'}
    </span>
  )
}

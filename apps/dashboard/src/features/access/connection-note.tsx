/** Shows the state of the connection to the server. */
import { useServerConnection } from '@tutti/react/internal'

import { readFailureText } from '../../api/failure.ts'
import { cx } from '../../lib/cx.ts'
import { useNow } from '../../lib/use-now.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import hidden from '../../ui/show/visually-hidden.module.css'
import styles from './connection-note.module.css'

import type { ServerConnection } from '@tutti/react/internal'

/** Hidden while connected. Only state changes are announced. */
export function ConnectionNote() {
  const connection = useServerConnection()
  const { status, losses } = connection
  return (
    <div className={cx(styles['note'], styles[status])}>
      {status !== 'open' && <Mark kind={status === 'closed' ? 'failed' : 'queued'} />}
      <span role="status" className={status === 'open' ? hidden['hidden'] : undefined}>
        {status === 'open' && losses > 0 && 'Reconnected'}
        {status === 'connecting' && 'Connecting…'}
        {status === 'reconnecting' && 'Connection lost'}
        {status === 'closed' && 'Disconnected'}
      </span>
      {status === 'reconnecting' && <NextTry {...connection} />}
      {status === 'closed' && (
        <>
          <span className={styles['why']}>{readFailureText(connection.error)}</span>
          <Button size="s" onClick={() => location.reload()}>
            Reload
          </Button>
        </>
      )}
    </div>
  )
}

/** Time until the next attempt. Hidden from screen readers, which would announce every second. */
function NextTry({ retryAt = 0 }: Pick<ServerConnection, 'retryAt'>) {
  const seconds = Math.ceil((retryAt - useNow()) / 1_000)
  return (
    <span aria-hidden className={styles['next']}>
      {seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting…'}
    </span>
  )
}

/** How many reviews wait. */
import { createPortal } from 'react-dom'

import { plural } from '../../lib/format.ts'
import unseen from '../../ui/show/unseen.module.css'
import { useKeptReviews, useOpenReviews } from './use-open-reviews.ts'
import styles from './review-count.module.css'

/** The number beside "Reviews"; nothing when there are none. It is told when it changes. */
export function ReviewCount() {
  useKeptReviews()
  const { data } = useOpenReviews()
  const count = data?.open.length ?? 0
  const words = count === 0 ? 'No review waits' : `${plural(count, 'review')} waiting`
  // What is read out when it changes is no part of the link that the number is in.
  const told = (
    <p role="status" className={unseen['unseen']}>
      {data === undefined ? '' : words}
    </p>
  )
  return (
    <>
      {createPortal(told, document.body)}
      {count > 0 && (
        <span className={styles['count']}>
          {count}
          <span className={unseen['unseen']}> waiting</span>
        </span>
      )}
    </>
  )
}

/** Tells who cannot see it how many runs a filter found; what changes later is not told. */
import { useState } from 'react'

import unseen from '../../ui/show/unseen.module.css'

import type { RunListState } from '../../api/run-list.ts'

/** The note; it is told when another filter is read. */
export function FoundNote({ list }: { readonly list: RunListState | undefined }) {
  const [told, setTold] = useState(list)
  if (list !== undefined && list.filter !== told?.filter) setTold(list)
  return (
    <p role="status" className={unseen['unseen']}>
      {told !== undefined && `${told.total} found`}
    </p>
  )
}

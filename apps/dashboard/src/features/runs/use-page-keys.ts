/** Keys of the page of runs, while nothing is written: `/` goes to the search, j and ↓ to the runs. */
import { useEffect, type RefObject } from 'react'

import { isTextEntry } from '../../lib/is-text-entry.ts'

import type { VirtualTableHandle } from '../../ui/layout/virtual-table.tsx'

/** Listens to the keys for as long as the page is there. */
export function usePageKeys(
  search: RefObject<HTMLInputElement | null>,
  table: RefObject<VirtualTableHandle | null>,
): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target, defaultPrevented } = event
      if (defaultPrevented || ctrlKey || metaKey || altKey || isTextEntry(target)) return
      if (key === '/') search.current?.focus()
      else if (isNowhere(target) && (key === 'j' || key === 'ArrowDown'))
        table.current?.focusFirst()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [search, table])
}

function isNowhere(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof Element && target.matches('main'))
}

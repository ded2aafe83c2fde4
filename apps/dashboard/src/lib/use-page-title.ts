/** The title of the page, for as long as something is shown that has one. */
import { useEffect } from 'react'

/** What the page is called otherwise. */
const TITLE = 'Tutti'

/** Sets the title of the page; undefined leaves it to another part of the page. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    if (title === undefined) return undefined
    document.title = title
    return () => {
      document.title = TITLE
    }
  }, [title])
}

/** The title of the page, for as long as something is shown that has one. */
import { useEffect } from 'react'

/** What the page is called otherwise. */
const TITLE = 'Tutti'

/** Sets the title of the page. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title
    return () => {
      document.title = TITLE
    }
  }, [title])
}

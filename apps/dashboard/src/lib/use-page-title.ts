/** The document title. */
import { useEffect } from 'react'

/** Title when no part of the page sets one. */
const TITLE = 'Tutti'

/** Sets the document title while the component is mounted; undefined leaves it unchanged. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    if (title === undefined) return undefined
    document.title = title
    return () => {
      document.title = TITLE
    }
  }, [title])
}

/** From the address to a page. Pages that are not where one begins are loaded when they are asked for. */
import { lazy, Suspense, type ReactNode } from 'react'

import { runsHref } from '../api/links.ts'
import { RunsPage } from '../features/runs/runs-page.tsx'
import { usePlace, type Place } from '../lib/router.ts'
import { LinkButton } from '../ui/controls/button.tsx'
import { Empty, Loading } from '../ui/feedback/notice.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { RunPage } from './run-page.tsx'

const ReviewsPage = lazy(() =>
  import('../features/reviews/reviews-page.tsx').then((page) => ({ default: page.ReviewsPage })),
)
const SubmitPage = lazy(() =>
  import('../features/submit/submit-page.tsx').then((page) => ({ default: page.SubmitPage })),
)
const ToolsPage = lazy(() =>
  import('../features/tools/tools-page.tsx').then((page) => ({ default: page.ToolsPage })),
)
const TracePage = lazy(() =>
  import('./trace-page.tsx').then((page) => ({ default: page.TracePage })),
)

/** The page that the address names. */
export function Pages() {
  const place = usePlace()
  return (
    <ErrorBoundary place={place.path.join('/')}>
      <Suspense fallback={<Loading label="Loading the page" />}>{pageOf(place)}</Suspense>
    </ErrorBoundary>
  )
}

function pageOf({ path: [first = 'runs', second], query }: Place): ReactNode {
  switch (first) {
    case 'runs':
      if (second === undefined) return <RunsPage query={query} />
      return <RunPage key={second} runId={second} query={query} />
    case 'reviews':
      return <ReviewsPage />
    case 'new':
      return <SubmitPage key={query['from'] ?? ''} from={query['from']} />
    case 'tools':
      return <ToolsPage name={second} />
    case 'traces':
      return <TracePage />
    default:
      return (
        <Empty
          isPage
          title="Page not found"
          actions={<LinkButton href={runsHref()}>To the runs</LinkButton>}
        />
      )
  }
}

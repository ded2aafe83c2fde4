/** The dashboard: the key screen, the frame, and the page of the current route. */
import { QueryClientProvider } from '@tanstack/react-query'
import { TuttiProvider } from '@tutti/react'
import { useEffect, useState, lazy, Suspense, type ReactNode, Component } from 'react'

import { access, refuseKey, setKey } from '../api/access.ts'
import { connectServer, ServerContext, type Server } from '../api/server.ts'
import { KeyScreen } from '../features/access/key-screen.tsx'
import { useStore } from '../lib/store.ts'
import { Toasts } from '../ui/feedback/toasts.tsx'
import { linkToRuns } from '../api/links.ts'
import { RunsScreen } from '../features/runs/runs-page.tsx'
import { useRoute, type PageRoute } from '../lib/router.ts'
import { LinkButton, Button } from '../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../ui/feedback/notice.tsx'
import { readFailureText } from '../api/failure.ts'
import { Shell } from './shell.tsx'
import { RunScreen } from './run-page.tsx'

export function App() {
  const { key, isRefused } = useStore(access)
  return (
    <ErrorBoundary>
      {isRefused ? (
        <KeyScreen wasRefused={key !== undefined} onKey={setKey} />
      ) : (
        // The key resets all state that belongs to another API key.
        <Connected key={key ?? ''} apiKey={key} />
      )}
      <Toasts />
    </ErrorBoundary>
  )
}

function Connected({ apiKey }: { readonly apiKey: string | undefined }) {
  const [server, setServer] = useState<Server>()
  useEffect(() => {
    const opened = connectServer(apiKey, refuseKey)
    setServer(opened)
    return () => opened.close()
  }, [apiKey])
  if (server === undefined) return null
  return (
    <ServerContext value={server}>
      <QueryClientProvider client={server.answers}>
        <TuttiProvider client={server.client}>
          <Shell>
            <Pages />
          </Shell>
        </TuttiProvider>
      </QueryClientProvider>
    </ServerContext>
  )
}

const ReviewsPage = lazy(() =>
  import('../features/reviews/reviews-page.tsx').then((page) => ({ default: page.ReviewsPage })),
)
const SubmitPage = lazy(() =>
  import('../features/submit/submit-page.tsx').then((page) => ({ default: page.SubmitPage })),
)
const ToolsPage = lazy(() =>
  import('../features/tools/tools-page.tsx').then((page) => ({ default: page.ToolsPage })),
)
const ThreadsPage = lazy(() =>
  import('../features/threads/threads-page.tsx').then((page) => ({ default: page.ThreadsPage })),
)
const SchedulesPage = lazy(() =>
  import('../features/schedules/schedules-page.tsx').then((page) => ({
    default: page.SchedulesPage,
  })),
)
const ComparePage = lazy(() =>
  import('../features/compare/compare-page.tsx').then((page) => ({ default: page.ComparePage })),
)
const TracePage = lazy(() =>
  import('./trace-page.tsx').then((page) => ({ default: page.TracePage })),
)

function Pages() {
  const route = useRoute()
  return (
    <ErrorBoundary route={route.path.join('/')}>
      <Suspense fallback={<Loading label="Loading the page" />}>{renderPage(route)}</Suspense>
    </ErrorBoundary>
  )
}

function renderPage({ path: [first = 'runs', second], query }: PageRoute): ReactNode {
  switch (first) {
    case 'runs':
      if (second === undefined) return <RunsScreen query={query} />
      return <RunScreen key={second} runId={second} query={query} />
    case 'compare':
      return <ComparePage a={query['a']} b={query['b']} />
    case 'reviews':
      return <ReviewsPage />
    case 'new':
      return <SubmitPage key={query['from'] ?? ''} from={query['from']} />
    case 'tools':
      return <ToolsPage name={second} />
    case 'threads':
      return <ThreadsPage threadId={second} />
    case 'schedules':
      return <SchedulesPage />
    case 'traces':
      return <TracePage />
    default:
      return (
        <Empty
          isPage
          title="Page not found"
          actions={<LinkButton href={linkToRuns()}>Go to runs</LinkButton>}
        />
      )
  }
}

interface State {
  readonly error?: unknown
}

/** Confines a rendering error to its part of the page; another `route` resets it. */
class ErrorBoundary extends Component<
  { readonly route?: string; readonly children: ReactNode },
  State
> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override componentDidUpdate({ route }: { readonly route?: string }): void {
    if (route !== this.props.route && this.state.error !== undefined) {
      this.setState({ error: undefined })
    }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Notice
        tone="failed"
        title="This part of the page failed to render"
        actions={<Button onClick={() => location.reload()}>Reload page</Button>}
      >
        <p>{readFailureText(error)}</p>
      </Notice>
    )
  }
}
